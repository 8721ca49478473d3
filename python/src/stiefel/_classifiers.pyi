from typing import Any, Literal

import numpy as np

from ._network import NetworkClassifier

def tail(options: NetworkClassifier) -> dict[str, Any]: ...

class DaspClassifier(NetworkClassifier):
    n_filters: int | Literal["auto"]
    n_experts: int | Literal["auto"]
    embedding_dim: int | Literal["auto"]
    dsp_rank: int | None | Literal["auto"]
    lambda_align: float | Literal["auto"]
    decouple_keys: bool | Literal["auto"]
    lambda_balance: float
    lambda_entropy: float
    anchor: Literal["dedicated", "first", "barycenter", "routed-barycenter"]
    retraction: Literal["qr", "polar"]
    top_p: int | None
    expert_kind: Literal["stiefel", "polar", "barrier"]
    barrier: Literal["bounded", "paper"]
    lambda_barrier: float
    lambda_csp: float
    csp_filters: int
    lambda_shrink: float
    head: Literal["shared", "routed"]
    head_ridge: float
    initial_anchor: Literal["random", "discriminative"]
    expert_noise: float | None
    batch_norm: Literal["after", "before"] | None
    orthogonality: Literal["riemannian", "cayley"]
    preset: str | None
    unseen: Literal["zero", "input-only", "nearest", "riemannian-nearest", "transductive"]
    precondition: bool
    unseen_whitening: Literal["pooled", "own-mean", "causal"]
    kappa: float
    handle_unknown: Literal["error", "new"]
    label_format: Literal['class', 'domain/class']
    tikhonov: float | None
    reference: Literal["euclidean", "riemannian", "log-euclidean"]
    whitening: Literal["symmetric", "pca"]
    scaling: Literal["per-trial", "per-domain", "none"]
    covariance: Literal["scm", "lwf", "oas", "sch"] | None
    validation_fraction: float
    learning_rate: float
    batch_size: int
    max_epochs: int
    patience: int
    warm_start: bool
    class_weight: dict[Any, float] | Literal["balanced"] | None
    precision: Literal["f32", "f64"]
    random_state: int | np.random.RandomState | None
    n_jobs: int | None
    verbose: int
    def __init__(
        self,
        n_filters: int | Literal["auto"] = 'auto',
        n_experts: int | Literal["auto"] = 'auto',
        embedding_dim: int | Literal["auto"] = 'auto',
        dsp_rank: int | None | Literal["auto"] = 'auto',
        lambda_align: float | Literal["auto"] = 'auto',
        decouple_keys: bool | Literal["auto"] = 'auto',
        lambda_balance: float = 0.0,
        lambda_entropy: float = 0.0,
        anchor: Literal["dedicated", "first", "barycenter", "routed-barycenter"] = 'dedicated',
        retraction: Literal["qr", "polar"] = 'qr',
        top_p: int | None = None,
        expert_kind: Literal["stiefel", "polar", "barrier"] = 'stiefel',
        barrier: Literal["bounded", "paper"] = 'bounded',
        lambda_barrier: float = 1e-3,
        lambda_csp: float = 0.0,
        csp_filters: int = 4,
        lambda_shrink: float = 0.0,
        head: Literal["shared", "routed"] = 'shared',
        head_ridge: float = 1e-3,
        initial_anchor: Literal["random", "discriminative"] = 'random',
        expert_noise: float | None = None,
        batch_norm: Literal["after", "before"] | None = None,
        orthogonality: Literal["riemannian", "cayley"] = 'riemannian',
        preset: str | None = None,
        unseen: Literal["zero", "input-only", "nearest", "riemannian-nearest", "transductive"] = 'zero',
        precondition: bool = True,
        unseen_whitening: Literal["pooled", "own-mean", "causal"] = 'pooled',
        kappa: float = 10.0,
        handle_unknown: Literal['error', 'new'] = 'error',
        label_format: Literal['class', 'domain/class'] = 'class',
        tikhonov: float | None = 1e-08,
        reference: Literal["euclidean", "riemannian", "log-euclidean"] = 'euclidean',
        whitening: Literal["symmetric", "pca"] = 'symmetric',
        scaling: Literal["per-trial", "per-domain", "none"] = 'per-trial',
        covariance: Literal["scm", "lwf", "oas", "sch"] | None = None,
        validation_fraction: float = 0.15,
        learning_rate: float = 0.01,
        batch_size: int = 32,
        max_epochs: int = 40,
        patience: int = 10,
        warm_start: bool = False,
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        precision: Literal["f32", "f64"] = 'f32',
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None: ...

class SPDNetClassifier(NetworkClassifier):
    unseen: str
    n_filters: int | Literal["auto"]
    initial_anchor: Literal["random", "discriminative"]
    batch_norm: Literal["after", "before"] | None
    orthogonality: Literal["riemannian", "cayley"]
    precondition: bool
    unseen_whitening: Literal["pooled", "own-mean", "causal"]
    kappa: float
    handle_unknown: Literal["error", "new"]
    label_format: Literal['class', 'domain/class']
    tikhonov: float | None
    reference: Literal["euclidean", "riemannian", "log-euclidean"]
    whitening: Literal["symmetric", "pca"]
    scaling: Literal["per-trial", "per-domain", "none"]
    covariance: Literal["scm", "lwf", "oas", "sch"] | None
    validation_fraction: float
    learning_rate: float
    batch_size: int
    max_epochs: int
    patience: int
    warm_start: bool
    class_weight: dict[Any, float] | Literal["balanced"] | None
    precision: Literal["f32", "f64"]
    random_state: int | np.random.RandomState | None
    n_jobs: int | None
    verbose: int
    def __init__(
        self,
        n_filters: int | Literal["auto"] = 'auto',
        initial_anchor: Literal["random", "discriminative"] = 'random',
        batch_norm: Literal["after", "before"] | None = None,
        orthogonality: Literal["riemannian", "cayley"] = 'riemannian',
        precondition: bool = True,
        unseen_whitening: Literal["pooled", "own-mean", "causal"] = 'pooled',
        kappa: float = 10.0,
        handle_unknown: Literal['error', 'new'] = 'error',
        label_format: Literal['class', 'domain/class'] = 'class',
        tikhonov: float | None = 1e-08,
        reference: Literal["euclidean", "riemannian", "log-euclidean"] = 'euclidean',
        whitening: Literal["symmetric", "pca"] = 'symmetric',
        scaling: Literal["per-trial", "per-domain", "none"] = 'per-trial',
        covariance: Literal["scm", "lwf", "oas", "sch"] | None = None,
        validation_fraction: float = 0.15,
        learning_rate: float = 0.01,
        batch_size: int = 32,
        max_epochs: int = 40,
        patience: int = 10,
        warm_start: bool = False,
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        precision: Literal["f32", "f64"] = 'f32',
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None: ...
