"""Domain-specific batch normalisation of SPD matrices."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from . import functional
from ._inputs import exact


class SPDBatchNorm(nn.Module):
    r"""Batch normalisation of SPD matrices with separate statistics for each domain (Brooks et al.
    2019; Kobler et al. 2022).

    For matrices ``X_i`` of domain d, whose running Fréchet mean is ``R_d`` and running dispersion
    ``v_d``::

        training    M_d = R_d^{1/2} exp(γ mean_i log(R_d^{-1/2} X_i R_d^{-1/2})) R_d^{1/2}
                    V_i = log(M_d^{-1/2} X_i M_d^{-1/2}),  u_d = (1 − γ) v_d + γ mean_i ‖V_i‖²,
                    then R_d ← M_d, v_d ← u_d
        evaluation  M_d = R_d, u_d = v_d
        both        Y_i = B^{1/2} exp(s V_i/√(u_d + ε)) B^{1/2}

    The scale s and the SPD bias B are learnt, and shared by all domains. Gradients flow through the
    step of the mean.

    Parameters
    ----------
    num_features : int
        Rows of a matrix.
    n_domains : int, default=1
        Domains.
    momentum : float, default=0.1
        γ: how far a batch moves the statistics.
    eps : float, default=1e-5
        ε, added to the dispersion.
    bias : bool, default=True
        Whether an SPD bias is learnt.
    device, dtype : object
        Device and precision of the parameters.

    Attributes
    ----------
    mean : Tensor, shape (n_domains, n, n)
        Running means.
    dispersion : Tensor, shape (n_domains,)
        Running dispersions.

    Examples
    --------
    >>> import torch
    >>> from stiefel.torch import SPDBatchNorm
    >>> norm = SPDBatchNorm(3, n_domains=2)
    >>> norm(torch.eye(3).expand(4, 3, 3), torch.tensor([0, 0, 1, 1])).shape
    torch.Size([4, 3, 3])
    """

    mean: Tensor
    dispersion: Tensor

    def __init__(
        self,
        num_features: int,
        n_domains: int = 1,
        momentum: float = 0.1,
        eps: float = 1e-5,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if not 0 < momentum <= 1:
            raise ValueError(f"momentum must be above 0 and at most 1, got {momentum!r}.")
        if not eps > 0:
            raise ValueError(f"eps must be above 0, got {eps!r}.")
        if n_domains < 1 or num_features < 1:
            raise ValueError(
                f"at least one domain and one row are needed, got {n_domains} and {num_features}."
            )
        self.num_features, self.n_domains, self.momentum, self.eps = (
            num_features,
            n_domains,
            momentum,
            eps,
        )
        identity = torch.eye(num_features, device=device, dtype=dtype)
        self.register_buffer("mean", identity.repeat(n_domains, 1, 1))
        self.register_buffer("dispersion", torch.ones(n_domains, device=device, dtype=dtype))
        self.scale = nn.Parameter(torch.zeros((), device=device, dtype=dtype))
        length = num_features * (num_features + 1) // 2
        self.bias = nn.Parameter(torch.zeros(length, device=device, dtype=dtype)) if bias else None

    def forward(self, X: Tensor, domain: Tensor | None = None) -> Tensor:
        """Normalised matrices ``(B, n, n)``.

        Parameters
        ----------
        X : Tensor, shape (B, n, n)
            SPD matrices.
        domain : None | Tensor, shape (B,), default=None
            Whose matrices they are. In evaluation, None or a negative number means somebody new,
            whose matrices are normalised by what the domains have in
            common. With one domain, None means that domain.

        Returns
        -------
        Y : Tensor, shape (B, n, n)
            SPD matrices.
        """
        with exact(X):
            x = X.to(self.mean.dtype)
            if domain is None and self.n_domains == 1:
                domain = torch.zeros(x.shape[0], dtype=torch.long, device=x.device)
            if self.training:
                v, dispersion = self._train(x, domain)
            else:
                v, dispersion = self._evaluate(x, domain)
            power = self.scale.exp() / (dispersion + self.eps).sqrt()
            y = functional.expm(v * power[:, None, None])
            if self.bias is None:
                return y
            return functional.bimap(y, functional.expm(functional.from_upper(self.bias) / 2))

    def _train(self, x, domain):
        if domain is None:
            raise ValueError(
                "in training, batch normalisation of several domains must be told whose matrices these are: norm(X, domain)."
            )
        check_domain(domain, x.shape[0], self.n_domains)
        one_hot = (domain[None, :] == torch.arange(self.n_domains, device=x.device)[:, None]).to(
            x.dtype
        )
        count = one_hot.sum(1, keepdim=True)
        average = one_hot / count.clamp(min=1)
        old, gamma = self.mean, self.momentum
        seen = functional.bimap(x, functional.invsqrtm(old).index_select(0, domain))
        step = gamma * (average @ functional.logm(seen).flatten(1)).unflatten(1, old.shape[1:])
        mean = functional.bimap(functional.expm(step), functional.sqrtm(old))
        v = functional.logm(functional.bimap(x, functional.invsqrtm(mean).index_select(0, domain)))
        dispersion = (1 - gamma) * self.dispersion + gamma * (average @ v.square().sum((1, 2)))
        with torch.no_grad():
            present = count[:, 0] > 0
            self.mean.copy_(torch.where(present[:, None, None], mean.detach(), old))
            self.dispersion.copy_(torch.where(present, dispersion.detach(), self.dispersion))
        return v, dispersion.index_select(0, domain)

    def _evaluate(self, x, domain):
        means, dispersions = self.mean, self.dispersion
        if torch.compiler.is_compiling():
            if domain is None:
                raise ValueError(
                    "under torch.compile, batch normalisation of several domains must be told whose matrices these are: norm(X, domain)."
                )
            at = (
                domain  # somebody new has no place here: a negative number is an error of PyTorch's
            )
        else:
            at = (
                torch.full((x.shape[0],), -1, dtype=torch.long, device=x.device)
                if domain is None
                else domain
            )
            if not check_domain(at, x.shape[0], self.n_domains, new=True):
                mean, dispersion = self.pooled()
                means, dispersions = (
                    torch.cat([means, mean[None]]),
                    torch.cat([dispersions, dispersion[None]]),
                )
                at = torch.where(at < 0, self.n_domains, at)
        v = functional.logm(functional.bimap(x, functional.invsqrtm(means).index_select(0, at)))
        return v, dispersions.index_select(0, at)

    @torch.no_grad()
    def pooled(self) -> tuple[Tensor, Tensor]:
        """What stands in for somebody new: the Fréchet mean of the domains' means, and the mean of
        their dispersions."""
        return functional.mean(self.mean.double()).to(self.mean.dtype), self.dispersion.mean()

    @torch.no_grad()
    def fit_statistics(self, X: Tensor, domain: Tensor | None = None) -> SPDBatchNorm:
        """Set the statistics of each domain to the exact mean and dispersion of its matrices.
        Domains without matrices get what the others have in common.

        Training in the core starts here, and a trained network is adapted to a new session in this
        way. It needs no labels.

        Parameters
        ----------
        X : Tensor, shape (N, n, n)
            Matrices as they enter the layer.
        domain : None | Tensor, shape (N,), default=None
            Whose matrices they are; None if there is one domain.

        Returns
        -------
        self : SPDBatchNorm
            The layer.
        """
        if domain is None:
            if self.n_domains != 1:
                raise ValueError("say whose matrices these are: fit_statistics(X, domain).")
            domain = torch.zeros(X.shape[0], dtype=torch.long, device=X.device)
        check_domain(domain, X.shape[0], self.n_domains)
        x, found = X.detach().double(), {}
        for d in domain.unique().tolist():
            own = x[domain == d]
            mean = functional.mean(own)
            found[d] = (mean, functional.distance(mean, own, squared=True).mean())
        others = functional.mean(torch.stack([mean for mean, _ in found.values()]))
        spread = torch.stack([dispersion for _, dispersion in found.values()]).mean()
        for d in range(self.n_domains):
            mean, dispersion = found.get(d, (others, spread))
            self.mean[d], self.dispersion[d] = mean.to(self.mean), dispersion.to(self.dispersion)
        return self

    def extra_repr(self) -> str:
        """What its text says."""
        return f"{self.num_features}, n_domains={self.n_domains}, momentum={self.momentum}, eps={self.eps}, bias={self.bias is not None}"


def check_domain(domain: Tensor, count: int, domains: int, new: bool = False) -> bool:
    """Whether all are known; an error unless there is the number of a domain for every matrix,
    where ``new`` says so also a negative one."""
    if torch.compiler.is_compiling():
        return False
    if domain.shape != (count,) or domain.dtype.is_floating_point or domain.dtype.is_complex:
        raise ValueError(
            f"domain must be {count} whole numbers, one per matrix, found {tuple(domain.shape)} of {domain.dtype}."
        )
    if not count:
        return True
    low, high = (int(end) for end in domain.aminmax())
    if high >= domains or (low < 0 and not new):
        raise ValueError(f"domain must be numbers from 0 to {domains - 1}, found {low} to {high}.")
    return low >= 0
