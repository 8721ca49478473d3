"""There and back: a network as a model file, and a model file as a network."""

from __future__ import annotations

import copy
import json
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import nn

from .. import _core
from .._base import labelled, trained_like
from .._domains import Targets
from .._options import Whitening
from .._preconditioning import options_of, preconditioning
from .._trials import Preparation, Trials, told
from .._validation import check_trials
from .._whitening import DomainWhitening

if TYPE_CHECKING:
    from ._networks import DaspNet, SPDNet

#: What is given for ``whitening`` where nothing is.
_MISSING: Any = object()


class FileNetwork(nn.Module):
    """A network that a model file can hold."""

    #: Of a network from a file: names of the classes, the domains and the channels, and how trials
    #: become what the network takes.
    classes: list[str] | None = None
    domains: list[str] | None = None
    channels: list[str] | None = None
    whitening: DomainWhitening | None = None
    preparation: Preparation | None = None

    def to_stiefel(
        self,
        path: str | PathLike[str],
        X: ArrayLike | Trials,
        y: ArrayLike | None = None,
        domains: ArrayLike | None = None,
        *,
        whitening: Whitening | None = _MISSING,
        classes: list[str] | None = None,
        domain_names: list[str] | None = None,
        channels: list[str] | None = None,
        preparation: Preparation | None = None,
        overwrite: bool = False,
    ) -> None:
        """Write the model file that the program ``stiefel``, the Rust library and
        :func:`stiefel.load` read.

        The file holds the network and everything before it. Whitening is fitted here, on the trials
        that the network was trained with.

        Parameters
        ----------
        path : path-like
            Where to write.
        X : ndarray, shape (N, n, n) | Trials
            The covariances the network was trained with, **before** whitening. ``Trials`` bring
            classes, domains, channels and how they were made.
        y : None | ndarray, shape (N,), default=None
            Their classes: numbers from 0, as in the loss, or names from ``classes``.
        domains : None | ndarray, shape (N,), default=None
            Whose they are: numbers from 0, as the network was told, or names from ``domain_names``.
        whitening : Whitening | None
            How the trials were whitened before the network saw them: the options that
            :class:`stiefel.DomainWhitening` was made with. None means that the network saw them as
            they are. There is no default: a file that whitens in another way would decide in
            another way.
        classes : None | list of str, default=None
            Names of the classes in the order of the network's scores; needed if ``y`` are names.
        domain_names : None | list of str, default=None
            Names of the domains in the order of their numbers; needed if ``domains`` are names.
        channels : None | list of str, default=None
            Names of the rows of the covariances.
        preparation : None | Preparation, default=None
            How the covariances were made, as in ``Trials``. A model that knows this refuses trials
            that were made in another way.
        overwrite : bool, default=False
            Whether an existing file is replaced.
        """
        if whitening is _MISSING:
            raise TypeError(
                "say how the trials were whitened before training: "
                "whitening=stiefel.Whitening(...), or whitening=None for not at all."
            )
        if np.ndim(X) == 4:
            raise ValueError(
                "trials of several views: a model file takes one covariance per trial today."
            )
        own = told(X)
        x = trained_like(check_trials(X, None, "X"), own, self.channels)
        if own.channels is not None and self.channels is not None:
            own = own._replace(channels=self.channels)
        sizes = self._sizes()  # type: ignore[operator]
        labels, names = _numbered(
            own.y if y is None else y, classes, sizes["classes"], len(x), ("y", "classes")
        )
        whose, called = _numbered(
            own.domains if domains is None else domains,
            domain_names,
            sizes["domains"],
            len(x),
            ("domains", "domain_names"),
        )
        made = own.preparation if preparation is None else preparation.text
        trials = labelled(
            x,
            labels,
            names,
            whose,
            called,
            channels=own.channels if channels is None else channels,
            preparation=made,
        )
        model = _core.torch_assemble(
            trials, json.dumps(self._config(whitening)), self._columns(), self._learnt(sizes)
        )
        model.save(Path(path), overwrite)

    def _config(self, whitening: Whitening | None) -> dict[str, Any]:
        encoder: Any = self.encoder
        return {
            "preconditioning": preconditioning(whitening),
            "encoder": None
            if encoder is None
            else {"rank": encoder.projection.shape[1], "fill": encoder.fill},
            "architecture": self.architecture(),  # type: ignore[operator]
            "training": {
                "adam": {"learning_rate": 0.01, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8},
                "batch": 32,
                "epochs": 1,
                "patience": 1,
                "seed": self.options["seed"],  # type: ignore[index]
            },
        }

    def _columns(self) -> tuple[NDArray[np.float64], int] | None:
        encoder: Any = self.encoder
        if encoder is None:
            return None
        if int(encoder.between) < 0:
            raise RuntimeError("the encoder is not fitted: call fit_encoder(X, domain) first.")
        return encoder.projection.detach().double().cpu().numpy()[np.newaxis], int(encoder.between)

    def _learnt(self, sizes: dict[str, int]) -> list[tuple[str, NDArray[Any]]]:
        """Every parameter under its name, in the shape that the core has it in."""
        from ._layers import initial

        learnt = []
        for name, (first, _) in initial(self.architecture(), sizes, 0).items():  # type: ignore[operator]
            value = _at(self, name).detach().cpu()
            value = value if value.dtype in (torch.float32, torch.float64) else value.float()
            learnt.append((name, value.reshape(first.shape).contiguous().numpy()))
        return learnt

    @torch.no_grad()
    def predict_proba(
        self, X: ArrayLike | Trials, domains: ArrayLike | None = None
    ) -> NDArray[np.float64]:
        """Probabilities of the classes. The covariances are given as they come; a network from a
        file whitens them first.

        Parameters
        ----------
        X : ndarray, shape (N, n, n) | Trials
            Covariances.
        domains : None | ndarray, shape (N,), default=None
            Whose they are: names or numbers of training domains. None takes those of ``Trials``;
            without ``Trials``, they belong to somebody new.

        Returns
        -------
        p : ndarray, shape (N, C)
            Probabilities, computed in evaluation mode. On the CPU they are computed in double
            precision, whatever the precision of the parameters is: so they are as near to those of
            the program as its own rounding allows.
        """
        own = told(X)
        made = None if self.preparation is None else self.preparation.text
        x = trained_like(check_trials(X, None, "X"), own, self.channels, made)
        whose = own.domains if domains is None else domains
        count = self._sizes()["domains"]  # type: ignore[operator]
        numbers = (
            None
            if whose is None
            else _numbered(whose, self.domains, count, len(x), ("domains", "domains of the file"))[
                0
            ]
        )
        if self.whitening is not None:
            names = (
                None
                if numbers is None or self.domains is None
                else [self.domains[d] for d in numbers]
            )
            x = self.whitening.transform(x, subjects=names)
        place = next(self.parameters()).device
        net = copy.deepcopy(self)
        net = (net.double() if place.type == "cpu" else net).eval()
        rows = torch.from_numpy(np.ascontiguousarray(x)).to(place)
        logits = net(rows, None if numbers is None else torch.tensor(numbers, device=place))
        return logits.double().softmax(1).cpu().numpy()


def _numbered(values, names, count, trials, called):
    """Numbers from 0 and their names: of numbers, or of names in the order that is given."""
    what, order = called
    if values is None:
        raise ValueError(
            f"{what} must be given: a number or a name for each of the {trials} trials."
        )
    values = np.asarray(values)
    if values.shape != (trials,):
        raise ValueError(f"{what} must be {trials} values, one per trial, found {values.shape}.")
    if names is not None and (len(names) != count or len(set(names)) != count):
        raise ValueError(
            f"{order} must be {count} different names, as many as the network has, got "
            f"{list(names)}."
        )
    if values.dtype.kind in "iu":
        wrong = values[(values < 0) | (values >= count)]
        if len(wrong):
            raise ValueError(f"{what} must be numbers from 0 to {count - 1}, found {wrong[0]}.")
        return values.tolist(), [str(i) for i in range(count)] if names is None else [
            str(name) for name in names
        ]
    if names is None:
        raise ValueError(
            f"{what} are names: say in which order the network numbers them, with {order}."
        )
    at = {str(name): i for i, name in enumerate(names)}
    unknown = [str(value) for value in values.tolist() if str(value) not in at]
    if unknown:
        raise ValueError(f"{what} has {unknown[0]!r}, which is not among {', '.join(at)}.")
    return [at[str(value)] for value in values.tolist()], list(at)


def _at(module, name):
    """A parameter or a buffer by its name."""
    *path, last = name.split(".")
    return getattr(module.get_submodule(".".join(path)), last)


#: Options of the networks of a file that the modules here have, or that matter in training alone.
_KNOWN = {
    "dasp": {
        "network",
        "filters",
        "experts",
        "embedding",
        "anchor",
        "retraction",
        "domain_embedding",
        "decoupled_keys",
        "losses",
        "epsilon",
        "orthogonality",
        "routing",
        "experts_kind",
        "csp",
        "head",
        "initial_anchor",
        "initial_experts",
        "batch_norm",
    },
    "spdnet": {"network", "filters", "epsilon", "orthogonality", "initial_anchor", "batch_norm"},
    "sizes": {"channels", "classes", "domains", "encoded"},
}


def _check_known(architecture, sizes, path):
    """An error where the network of a file has something that the modules here would leave out."""
    kind = architecture["network"]
    if kind not in _KNOWN:
        raise ValueError(
            f"{path} holds a network {kind!r}, which this version of stiefel.torch does not know."
        )
    views = sizes.get("views", 1)
    if views != 1:
        raise ValueError(
            f"{path} holds a network of {views} views per trial; stiefel.torch.load opens networks "
            "of one."
        )
    unknown = (set(architecture) - _KNOWN[kind]) | (set(sizes) - _KNOWN["sizes"] - {"views"})
    if unknown:
        raise ValueError(
            f"{path} holds a network with {', '.join(sorted(unknown))}, which this version of "
            "stiefel.torch does not know."
        )


def _options(config, sizes, encoder):
    """Arguments of a network of PyTorch for the architecture of a file."""
    c = dict(config)
    norm = c.pop("batch_norm", None)
    options = {
        "in_features": sizes["channels"],
        "out_features": c["filters"],
        "n_domains": sizes["domains"],
        "n_classes": sizes["classes"],
        "threshold": c["epsilon"],
        "batch_norm": None if norm is None else norm["position"],
        "norm": None
        if norm is None
        else {"momentum": norm["momentum"], "eps": norm["epsilon"], "bias": norm["bias"]},
    }
    if c["network"] == "spdnet":
        return options
    kind, routing, head, losses = c["experts_kind"], c["routing"], c["head"], c["losses"]
    free = isinstance(kind, dict)
    options.update(
        n_experts=c["experts"],
        embedding=c["embedding"],
        anchor=c["anchor"],
        retraction=c["retraction"],
        domain_embedding=c["domain_embedding"],
        decoupled_keys=c["decoupled_keys"],
        dsp_rank=None if encoder is None else encoder[0].shape[2],
        kind="barrier" if free else kind,
        top_p=None if routing == "soft" else routing["top-p"]["p"],
        head=head["kind"],
        align=losses["alignment"],
        balance=losses["balance"],
        entropy=losses["entropy"],
        shrink=losses["shrink"],
    )
    if free:
        options.update(barrier=kind["barrier"]["kind"], barrier_weight=losses["barrier"])
    if head["kind"] == "routed":
        options["head_ridge"] = head["ridge"]
    return options


def load(path: str | PathLike[str], dtype: torch.dtype | None = None) -> DaspNet | SPDNet:
    """The network of any model file that holds one, as a module.

    Parameters
    ----------
    path : path-like
        A file that holds a network; CHOIR is not a network.
    dtype : None | torch.dtype, default=None
        Precision of the parameters; None takes that of the file.

    Returns
    -------
    module : DaspNet | SPDNet
        The network. It has the names of ``classes``, ``domains`` and ``channels``, the
        ``whitening`` that its trials need, and their ``preparation``. The whitening is a fitted
        :class:`stiefel.DomainWhitening`, or None if trials are taken as they are. Points in
        Cayley's coordinates become the points themselves.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> import stiefel, stiefel.torch
    >>> data = stiefel.load_synthetic("BNCI2015001", subjects=2, trials_per_class=10)
    >>> file = Path(tempfile.mkdtemp(), "model.stiefel")
    >>> clf = stiefel.DaspClassifier(n_experts=2, epochs=2, random_state=0).fit(data)
    >>> clf.save(file)
    >>> net = stiefel.torch.load(file)
    >>> bool(np.abs(net.predict_proba(data) - clf.predict_proba(data)).max() < 1e-6)
    True
    """
    from ._networks import DaspNet, SPDNet

    model = _core.load(Path(path))
    sizes, domains, parameters, encoder = _core.torch_network(model)
    config = json.loads(model.spec)["settings"]
    architecture = config["architecture"]
    _check_known(architecture, json.loads(sizes), path)
    kind = DaspNet if architecture["network"] == "dasp" else SPDNet
    found = torch.float32 if config["precision"] == "f32" else torch.float64
    net: Any = kind(
        **_options(architecture, json.loads(sizes), encoder),
        dtype=found if dtype is None else dtype,
    )
    with torch.no_grad():
        for name, value, _ in parameters:
            own = _at(net, name)
            own.copy_(torch.from_numpy(value).reshape(own.shape))
        if encoder is not None:
            net.encoder.projection = torch.from_numpy(encoder[0][0])
            net.encoder.between.fill_(encoder[1])
            net.encoder.fill = config["encoder"]["fill"]
    net.classes, net.domains, net.channels = model.classes, domains, model.channels
    net.preparation = Preparation(*model.preparation)
    net.whitening = _whitening(model, domains, options_of(config))
    opened: DaspNet | SPDNet = net.eval()
    return opened


def _whitening(model, domains, options):
    """A fitted transformer that whitens as the model does."""
    if options == {"precondition": False}:
        return None
    whitening = DomainWhitening(
        **(options["whitening"] or Whitening()).get_params(), handle_unknown="new"
    )
    whitening._whitener = _core.whitener_of(model)
    whitening._targets, whitening._labelled, whitening._warned = Targets(), False, False
    whitening.domains_, whitening.channels_ = np.array(domains), None
    whitening._preparation = None
    whitening.n_features_in_ = whitening._channels = model.n_channels
    return whitening
