from typing import Any, Literal

import numpy as np

from ._base import NetworkClassifier

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
    preset: str | None
    unseen: Literal["zero", "input-only", "nearest", "riemannian-nearest", "transductive"]
    precondition: bool
    unseen_whitening: Literal["pooled", "own-mean", "causal"]
    kappa: float
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
        preset: str | None = None,
        unseen: Literal["zero", "input-only", "nearest", "riemannian-nearest", "transductive"] = 'zero',
        precondition: bool = True,
        unseen_whitening: Literal["pooled", "own-mean", "causal"] = 'pooled',
        kappa: float = 10.0,
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
    precondition: bool
    unseen_whitening: Literal["pooled", "own-mean", "causal"]
    kappa: float
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
        precondition: bool = True,
        unseen_whitening: Literal["pooled", "own-mean", "causal"] = 'pooled',
        kappa: float = 10.0,
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
