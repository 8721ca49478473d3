# Made by `cargo xtask generate` from the settings of the core; changes belong there.
from collections.abc import Sequence
from typing import Any, Literal, TypedDict, overload

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Unpack

from ._calibration import CalibratedClassifier
from ._parameters import ClassWeight, Covariance, HandleUnknown, LabelFormat, Seed

_Embedding = Literal[
    "zero", "initial", "input-only", "nearest", "riemannian-nearest", "transductive"
]
SIZES: tuple[int, int]
COMMON: dict[str, tuple[Any, Any, str, str]]

class ModelClassifier(CalibratedClassifier):
    _name: str
    _settings: dict[str, str]
    _takes_views: bool
    adapt: Any
    kappa: Any
    embedding: Any
    covariance: Any
    random_state: Any
    n_jobs: Any
    verbose: Any
    @property
    def filters_(self) -> NDArray[np.float64] | None: ...
    def __repr__(self, N_CHAR_MAX: int = 700) -> str: ...
    def set_params(self, **params: Any) -> ModelClassifier: ...
    # Made by scikit-learn from the arguments of each method.
    set_decision_function_request: Any
    set_fit_request: Any
    set_partial_fit_request: Any
    set_predict_proba_request: Any
    set_predict_request: Any
    set_score_request: Any

class _Common(TypedDict, total=False):
    adapt: Literal["own-mean", "causal", "pooled"]
    kappa: float | None
    embedding: _Embedding
    handle_unknown: HandleUnknown
    label_format: LabelFormat
    covariance: Covariance | None
    validation_fraction: float
    class_weight: ClassWeight
    random_state: Seed
    n_jobs: int | None
    verbose: bool | int

class _ChoirSettings(_Common, total=False):
    filters: int | None
    """Directions kept of the first view, `k_0`; all of them where there are fewer channels. Default: 16."""
    further_filters: int | None
    """Directions kept of every further view. Default: 12."""
    own: float | None
    """Prior variance `v_δ` of a person's own weights; 0 gives everybody the same. Default: 2.0."""
    refit: bool | None
    """Whether everything is fitted again on training and validation trials together, once the latter have given their score: nothing is chosen on them. Default: true."""
    shared: float | None
    """Prior variance `v_0` of the shared weights. Default: 0.1."""
    shrinkage: float | None
    """Share `s` of every covariance that is replaced by its mean variance times the identity. Default: 0.01."""
    view_weights: Sequence[Any] | None
    """Weights `ω_v` of the views, in order; views beyond the list count as much as its last one. Default: [1.0]."""

class _DaspSettings(_Common, total=False):
    adam: dict[str, Any] | bool | None
    """The optimiser."""
    adam__epsilon: float | None
    """ε, added to the root of the second moment. Default: 1e-8."""
    alignment: float | None
    """Winner's key towards the query. Default: 0.0."""
    anchor: Literal["dedicated", "first", "barycenter", "routed-barycenter"] | None
    """Where the experts are mixed. Default: dedicated."""
    architecture: dict[str, Any] | bool | None
    """The network."""
    architecture__embedding: int | None
    """Width of queries, keys and embeddings, `m`. Default: 20."""
    balance: float | None
    """Switch-Transformer load balance. Default: 0.0."""
    barrier: float | None
    """The barrier of experts of the kind `barrier`: small beside the cross-entropy at orthonormal columns, and growing without bound as a column is lost. Default: 0.001."""
    batch: int | None
    """Samples per step. Default: 32."""
    batch_norm: dict[str, Any] | bool | None
    """Batch normalisation inside the network. Default: none."""
    beta1: float | None
    """β₁, the share that is kept of the first moment. Default: 0.9."""
    beta2: float | None
    """β₂, the share that is kept of the second moment. Default: 0.999."""
    csp: dict[str, Any] | bool | None
    """The targets of the CSP loss, where `losses.csp` is not zero."""
    csp__filters: int | None
    """Leading filters per domain, `s`, at most the directions a filter keeps. Default: 4."""
    decoupled_keys: bool | None
    """Whether keys learn from the alignment loss alone. Default: false."""
    domain_embedding: bool | None
    """Whether the query sees the domain. Default: true."""
    encoder: dict[str, Any] | bool | None
    """The encoder in front of the query; none gives the query the whole tangent vector. Default: none."""
    entropy: float | None
    """Routing entropy. Default: 0.0."""
    epochs: int | None
    """Epochs at most. Default: 40."""
    epsilon: float | None
    """ReEig threshold: eigenvalues are clamped from below to it. Default: 0.0001."""
    experts: int | None
    """Experts, `K`. Default: 8."""
    experts_kind: Literal["stiefel", "polar"] | dict[str, Any] | bool | None
    """What the experts are. Default: stiefel."""
    filters: int | None
    """Directions a filter keeps, `k`. Default: 20."""
    frechet_means: bool | None
    """Whether the Fréchet means of the training domains are kept, which `riemannian-nearest` needs. Default: false."""
    head: dict[str, Any] | bool | None
    """The classifier. Default: {"kind":"shared"}."""
    initial_anchor: Literal["random", "discriminative"] | None
    """Where the anchor starts. Default: random."""
    initial_experts: dict[str, Any] | bool | None
    """Where the experts start. Default: {"kind":"random"}."""
    learning_rate: float | None
    """Step size η. Default: 0.01."""
    losses: dict[str, Any] | bool | None
    """Losses beside the cross-entropy."""
    losses__csp: float | None
    """Filters towards the CSP subspace of their domain. Default: 0.0."""
    momentum: float | None
    """Share of a batch in the running class means, `μ`. Default: 0.1."""
    orthogonality: Literal["riemannian", "cayley"] | None
    """How filters stay orthonormal. Default: riemannian."""
    patience: int | None
    """Epochs without a better validation score before stopping. Default: 10."""
    precision: Literal["f32", "f64"] | None
    """Its number type. Default: f32."""
    preconditioning: dict[str, Any] | bool | None
    """How covariances are whitened and scaled."""
    preconditioning__unseen: dict[str, Any] | bool | None
    """What to do with domains without training trials; none by default, so that it is a decision. Default: none."""
    reference: Literal["euclidean", "riemannian", "log-euclidean"] | None
    """The mean that whitens. Default: euclidean."""
    relative: float | None
    """The share of the mean variance that is added. Default: 1e-8."""
    retraction: Literal["qr", "polar"] | None
    """How the mixture becomes a filter. Default: qr."""
    routing: Literal["soft"] | dict[str, Any] | bool | None
    """Which experts a sample is filtered with. Default: soft."""
    scaling: Literal["per-trial", "per-domain", "none"] | None
    """The scale of whitened matrices. Default: per-trial."""
    shrink: float | None
    """Experts towards the anchor: `mean_j ‖Δ_j‖_F²`. Default: 0.0."""
    sizes: Literal["auto", "weibo2014", "bnci2014001", "bnci2015001"] | None
    """Where its sizes come from. Default: auto."""
    tikhonov: Literal["none"] | dict[str, Any] | bool | None
    """Diagonal loading. Default: {"relative":1e-8}."""
    training: dict[str, Any] | bool | None
    """The protocol of training."""
    view_routing: Literal["trial", "view"] | None
    """Which views share the weights of their experts. Default: trial."""
    whitening: Literal["symmetric", "pca", "none"] | None
    """The square root that whitens. Default: symmetric."""

class _SpdnetSettings(_Common, total=False):
    adam: dict[str, Any] | bool | None
    """The optimiser."""
    adam__epsilon: float | None
    """ε, added to the root of the second moment. Default: 1e-8."""
    architecture: dict[str, Any] | bool | None
    """The network."""
    batch: int | None
    """Samples per step. Default: 32."""
    batch_norm: dict[str, Any] | bool | None
    """Batch normalisation inside the network; with it the baseline is called `spdnet+bn`. Default: none."""
    beta1: float | None
    """β₁, the share that is kept of the first moment. Default: 0.9."""
    beta2: float | None
    """β₂, the share that is kept of the second moment. Default: 0.999."""
    encoder: dict[str, Any] | bool | None
    """The encoder in front of the query; none gives the query the whole tangent vector. Default: none."""
    epochs: int | None
    """Epochs at most. Default: 40."""
    epsilon: float | None
    """ReEig threshold: eigenvalues are clamped from below to it. Default: 0.0001."""
    filters: int | None
    """Directions the filter keeps, `k`. Default: 20."""
    frechet_means: bool | None
    """Whether the Fréchet means of the training domains are kept, which `riemannian-nearest` needs. Default: false."""
    initial_anchor: Literal["random", "discriminative"] | None
    """Where the filter starts. Default: random."""
    learning_rate: float | None
    """Step size η. Default: 0.01."""
    orthogonality: Literal["riemannian", "cayley"] | None
    """How the filter stays orthonormal. Default: riemannian."""
    patience: int | None
    """Epochs without a better validation score before stopping. Default: 10."""
    precision: Literal["f32", "f64"] | None
    """Its number type. Default: f32."""
    preconditioning: dict[str, Any] | bool | None
    """How covariances are whitened and scaled."""
    preconditioning__unseen: dict[str, Any] | bool | None
    """What to do with domains without training trials; none by default, so that it is a decision. Default: none."""
    reference: Literal["euclidean", "riemannian", "log-euclidean"] | None
    """The mean that whitens. Default: euclidean."""
    relative: float | None
    """The share of the mean variance that is added. Default: 1e-8."""
    scaling: Literal["per-trial", "per-domain", "none"] | None
    """The scale of whitened matrices. Default: per-trial."""
    sizes: Literal["auto", "weibo2014", "bnci2014001", "bnci2015001"] | None
    """Where its sizes come from. Default: auto."""
    tikhonov: Literal["none"] | dict[str, Any] | bool | None
    """Diagonal loading. Default: {"relative":1e-8}."""
    training: dict[str, Any] | bool | None
    """The protocol of training."""
    whitening: Literal["symmetric", "pca", "none"] | None
    """The square root that whitens. Default: symmetric."""

class _TsLrSettings(_Common, total=False):
    preconditioning: dict[str, Any] | bool | None
    """How covariances are whitened and scaled; what recentres takes the loading alone from it."""
    preconditioning__unseen: dict[str, Any] | bool | None
    """What to do with domains without training trials; none by default, so that it is a decision. Default: none."""
    reference: Literal["euclidean", "riemannian", "log-euclidean"] | None
    """The mean that whitens. Default: euclidean."""
    relative: float | None
    """The share of the mean variance that is added. Default: 1e-8."""
    scaling: Literal["per-trial", "per-domain", "none"] | None
    """The scale of whitened matrices. Default: per-trial."""
    tikhonov: Literal["none"] | dict[str, Any] | bool | None
    """Diagonal loading. Default: {"relative":1e-8}."""
    whitening: Literal["symmetric", "pca", "none"] | None
    """The square root that whitens. Default: symmetric."""

class _BarrierSettings(_Common, total=False):
    adam: dict[str, Any] | bool | None
    """The optimiser."""
    adam__epsilon: float | None
    """ε, added to the root of the second moment. Default: 1e-8."""
    alignment: float | None
    """Winner's key towards the query. Default: 0.0."""
    anchor: Literal["dedicated", "first", "barycenter", "routed-barycenter"] | None
    """Where the experts are mixed. Default: dedicated."""
    architecture: dict[str, Any] | bool | None
    """The network."""
    architecture__embedding: int | None
    """Width of queries, keys and embeddings, `m`. Default: 20."""
    balance: float | None
    """Switch-Transformer load balance. Default: 0.0."""
    batch: int | None
    """Samples per step. Default: 32."""
    batch_norm: dict[str, Any] | bool | None
    """Batch normalisation inside the network. Default: none."""
    beta1: float | None
    """β₁, the share that is kept of the first moment. Default: 0.9."""
    beta2: float | None
    """β₂, the share that is kept of the second moment. Default: 0.999."""
    csp: dict[str, Any] | bool | None
    """The targets of the CSP loss, where `losses.csp` is not zero."""
    csp__filters: int | None
    """Leading filters per domain, `s`, at most the directions a filter keeps. Default: 4."""
    decoupled_keys: bool | None
    """Whether keys learn from the alignment loss alone. Default: false."""
    domain_embedding: bool | None
    """Whether the query sees the domain. Default: true."""
    encoder: dict[str, Any] | bool | None
    """The encoder in front of the query; none gives the query the whole tangent vector. Default: none."""
    entropy: float | None
    """Routing entropy. Default: 0.0."""
    epochs: int | None
    """Epochs at most. Default: 40."""
    epsilon: float | None
    """ReEig threshold: eigenvalues are clamped from below to it. Default: 0.0001."""
    experts: int | None
    """Experts, `K`. Default: 8."""
    experts_kind: Literal["stiefel", "polar"] | dict[str, Any] | bool | None
    """What the experts are. Default: {"barrier":{"kind":"bounded"}}."""
    experts_kind__barrier: dict[str, Any] | bool | None
    """Any `n × k` matrix, mixed as it is; a barrier in the loss keeps the rank full. Anchor, retraction and the way filters stay orthonormal do not matter then."""
    filters: int | None
    """Directions a filter keeps, `k`. Default: 20."""
    frechet_means: bool | None
    """Whether the Fréchet means of the training domains are kept, which `riemannian-nearest` needs. Default: false."""
    head: dict[str, Any] | bool | None
    """The classifier. Default: {"kind":"shared"}."""
    initial_anchor: Literal["random", "discriminative"] | None
    """Where the anchor starts. Default: random."""
    initial_experts: dict[str, Any] | bool | None
    """Where the experts start. Default: {"kind":"random"}."""
    kind: Literal["paper", "bounded"] | None
    """Which barrier. Default: bounded."""
    learning_rate: float | None
    """Step size η. Default: 0.01."""
    losses: dict[str, Any] | bool | None
    """Losses beside the cross-entropy."""
    losses__barrier: float | None
    """The barrier of experts of the kind `barrier`: small beside the cross-entropy at orthonormal columns, and growing without bound as a column is lost. Default: 0.001."""
    losses__csp: float | None
    """Filters towards the CSP subspace of their domain. Default: 0.0."""
    momentum: float | None
    """Share of a batch in the running class means, `μ`. Default: 0.1."""
    orthogonality: Literal["riemannian", "cayley"] | None
    """How filters stay orthonormal. Default: riemannian."""
    patience: int | None
    """Epochs without a better validation score before stopping. Default: 10."""
    precision: Literal["f32", "f64"] | None
    """Its number type. Default: f32."""
    preconditioning: dict[str, Any] | bool | None
    """How covariances are whitened and scaled."""
    preconditioning__unseen: dict[str, Any] | bool | None
    """What to do with domains without training trials; none by default, so that it is a decision. Default: none."""
    reference: Literal["euclidean", "riemannian", "log-euclidean"] | None
    """The mean that whitens. Default: euclidean."""
    relative: float | None
    """The share of the mean variance that is added. Default: 1e-8."""
    retraction: Literal["qr", "polar"] | None
    """How the mixture becomes a filter. Default: qr."""
    routing: Literal["soft"] | dict[str, Any] | bool | None
    """Which experts a sample is filtered with. Default: soft."""
    scaling: Literal["per-trial", "per-domain", "none"] | None
    """The scale of whitened matrices. Default: per-trial."""
    shrink: float | None
    """Experts towards the anchor: `mean_j ‖Δ_j‖_F²`. Default: 0.0."""
    sizes: Literal["auto", "weibo2014", "bnci2014001", "bnci2015001"] | None
    """Where its sizes come from. Default: auto."""
    tikhonov: Literal["none"] | dict[str, Any] | bool | None
    """Diagonal loading. Default: {"relative":1e-8}."""
    training: dict[str, Any] | bool | None
    """The protocol of training."""
    view_routing: Literal["trial", "view"] | None
    """Which views share the weights of their experts. Default: trial."""
    whitening: Literal["symmetric", "pca", "none"] | None
    """The square root that whitens. Default: symmetric."""

class _Top2Settings(_Common, total=False):
    adam: dict[str, Any] | bool | None
    """The optimiser."""
    adam__epsilon: float | None
    """ε, added to the root of the second moment. Default: 1e-8."""
    alignment: float | None
    """Winner's key towards the query. Default: 0.0."""
    anchor: Literal["dedicated", "first", "barycenter", "routed-barycenter"] | None
    """Where the experts are mixed. Default: dedicated."""
    architecture: dict[str, Any] | bool | None
    """The network."""
    architecture__embedding: int | None
    """Width of queries, keys and embeddings, `m`. Default: 20."""
    balance: float | None
    """Switch-Transformer load balance. Default: 0.0."""
    barrier: float | None
    """The barrier of experts of the kind `barrier`: small beside the cross-entropy at orthonormal columns, and growing without bound as a column is lost. Default: 0.001."""
    batch: int | None
    """Samples per step. Default: 32."""
    batch_norm: dict[str, Any] | bool | None
    """Batch normalisation inside the network. Default: none."""
    beta1: float | None
    """β₁, the share that is kept of the first moment. Default: 0.9."""
    beta2: float | None
    """β₂, the share that is kept of the second moment. Default: 0.999."""
    csp: dict[str, Any] | bool | None
    """The targets of the CSP loss, where `losses.csp` is not zero."""
    csp__filters: int | None
    """Leading filters per domain, `s`, at most the directions a filter keeps. Default: 4."""
    decoupled_keys: bool | None
    """Whether keys learn from the alignment loss alone. Default: false."""
    domain_embedding: bool | None
    """Whether the query sees the domain. Default: true."""
    encoder: dict[str, Any] | bool | None
    """The encoder in front of the query; none gives the query the whole tangent vector. Default: none."""
    entropy: float | None
    """Routing entropy. Default: 0.0."""
    epochs: int | None
    """Epochs at most. Default: 40."""
    epsilon: float | None
    """ReEig threshold: eigenvalues are clamped from below to it. Default: 0.0001."""
    experts: int | None
    """Experts, `K`. Default: 8."""
    experts_kind: Literal["stiefel", "polar"] | dict[str, Any] | bool | None
    """What the experts are. Default: stiefel."""
    filters: int | None
    """Directions a filter keeps, `k`. Default: 20."""
    frechet_means: bool | None
    """Whether the Fréchet means of the training domains are kept, which `riemannian-nearest` needs. Default: false."""
    head: dict[str, Any] | bool | None
    """The classifier. Default: {"kind":"shared"}."""
    initial_anchor: Literal["random", "discriminative"] | None
    """Where the anchor starts. Default: random."""
    initial_experts: dict[str, Any] | bool | None
    """Where the experts start. Default: {"kind":"random"}."""
    learning_rate: float | None
    """Step size η. Default: 0.01."""
    losses: dict[str, Any] | bool | None
    """Losses beside the cross-entropy."""
    losses__csp: float | None
    """Filters towards the CSP subspace of their domain. Default: 0.0."""
    momentum: float | None
    """Share of a batch in the running class means, `μ`. Default: 0.1."""
    orthogonality: Literal["riemannian", "cayley"] | None
    """How filters stay orthonormal. Default: riemannian."""
    p: int | None
    """How many experts are kept, from 1 to `K`. Default: 2."""
    patience: int | None
    """Epochs without a better validation score before stopping. Default: 10."""
    precision: Literal["f32", "f64"] | None
    """Its number type. Default: f32."""
    preconditioning: dict[str, Any] | bool | None
    """How covariances are whitened and scaled."""
    preconditioning__unseen: dict[str, Any] | bool | None
    """What to do with domains without training trials; none by default, so that it is a decision. Default: none."""
    reference: Literal["euclidean", "riemannian", "log-euclidean"] | None
    """The mean that whitens. Default: euclidean."""
    relative: float | None
    """The share of the mean variance that is added. Default: 1e-8."""
    retraction: Literal["qr", "polar"] | None
    """How the mixture becomes a filter. Default: qr."""
    routing: Literal["soft"] | dict[str, Any] | bool | None
    """Which experts a sample is filtered with. Default: {"top-p":{"p":2}}."""
    scaling: Literal["per-trial", "per-domain", "none"] | None
    """The scale of whitened matrices. Default: per-trial."""
    shrink: float | None
    """Experts towards the anchor: `mean_j ‖Δ_j‖_F²`. Default: 0.0."""
    sizes: Literal["auto", "weibo2014", "bnci2014001", "bnci2015001"] | None
    """Where its sizes come from. Default: auto."""
    tikhonov: Literal["none"] | dict[str, Any] | bool | None
    """Diagonal loading. Default: {"relative":1e-8}."""
    top_p: dict[str, Any] | bool | None
    """The `p` with the largest scores, weighted by the softmax over these alone; learnt straight through. `p = K` equals soft routing to the bit, `p = 1` costs one expert's work per decision."""
    training: dict[str, Any] | bool | None
    """The protocol of training."""
    view_routing: Literal["trial", "view"] | None
    """Which views share the weights of their experts. Default: trial."""
    whitening: Literal["symmetric", "pca", "none"] | None
    """The square root that whitens. Default: symmetric."""

class _RoutedHeadSettings(_Common, total=False):
    adam: dict[str, Any] | bool | None
    """The optimiser."""
    adam__epsilon: float | None
    """ε, added to the root of the second moment. Default: 1e-8."""
    alignment: float | None
    """Winner's key towards the query. Default: 0.0."""
    anchor: Literal["dedicated", "first", "barycenter", "routed-barycenter"] | None
    """Where the experts are mixed. Default: dedicated."""
    architecture: dict[str, Any] | bool | None
    """The network."""
    architecture__embedding: int | None
    """Width of queries, keys and embeddings, `m`. Default: 20."""
    balance: float | None
    """Switch-Transformer load balance. Default: 0.0."""
    barrier: float | None
    """The barrier of experts of the kind `barrier`: small beside the cross-entropy at orthonormal columns, and growing without bound as a column is lost. Default: 0.001."""
    batch: int | None
    """Samples per step. Default: 32."""
    batch_norm: dict[str, Any] | bool | None
    """Batch normalisation inside the network. Default: none."""
    beta1: float | None
    """β₁, the share that is kept of the first moment. Default: 0.9."""
    beta2: float | None
    """β₂, the share that is kept of the second moment. Default: 0.999."""
    csp: dict[str, Any] | bool | None
    """The targets of the CSP loss, where `losses.csp` is not zero."""
    csp__filters: int | None
    """Leading filters per domain, `s`, at most the directions a filter keeps. Default: 4."""
    decoupled_keys: bool | None
    """Whether keys learn from the alignment loss alone. Default: false."""
    domain_embedding: bool | None
    """Whether the query sees the domain. Default: true."""
    encoder: dict[str, Any] | bool | None
    """The encoder in front of the query; none gives the query the whole tangent vector. Default: none."""
    entropy: float | None
    """Routing entropy. Default: 0.0."""
    epochs: int | None
    """Epochs at most. Default: 40."""
    epsilon: float | None
    """ReEig threshold: eigenvalues are clamped from below to it. Default: 0.0001."""
    experts: int | None
    """Experts, `K`. Default: 8."""
    experts_kind: Literal["stiefel", "polar"] | dict[str, Any] | bool | None
    """What the experts are. Default: stiefel."""
    filters: int | None
    """Directions a filter keeps, `k`. Default: 20."""
    frechet_means: bool | None
    """Whether the Fréchet means of the training domains are kept, which `riemannian-nearest` needs. Default: false."""
    head: dict[str, Any] | bool | None
    """The classifier. Default: {"kind":"routed","ridge":0.001}."""
    initial_anchor: Literal["random", "discriminative"] | None
    """Where the anchor starts. Default: random."""
    initial_experts: dict[str, Any] | bool | None
    """Where the experts start. Default: {"kind":"random"}."""
    learning_rate: float | None
    """Step size η. Default: 0.01."""
    losses: dict[str, Any] | bool | None
    """Losses beside the cross-entropy."""
    losses__csp: float | None
    """Filters towards the CSP subspace of their domain. Default: 0.0."""
    momentum: float | None
    """Share of a batch in the running class means, `μ`. Default: 0.1."""
    orthogonality: Literal["riemannian", "cayley"] | None
    """How filters stay orthonormal. Default: riemannian."""
    patience: int | None
    """Epochs without a better validation score before stopping. Default: 10."""
    precision: Literal["f32", "f64"] | None
    """Its number type. Default: f32."""
    preconditioning: dict[str, Any] | bool | None
    """How covariances are whitened and scaled."""
    preconditioning__unseen: dict[str, Any] | bool | None
    """What to do with domains without training trials; none by default, so that it is a decision. Default: none."""
    reference: Literal["euclidean", "riemannian", "log-euclidean"] | None
    """The mean that whitens. Default: euclidean."""
    relative: float | None
    """The share of the mean variance that is added. Default: 1e-8."""
    retraction: Literal["qr", "polar"] | None
    """How the mixture becomes a filter. Default: qr."""
    ridge: float | None
    """The weight of `Σ_j ‖δ_j‖²` in the loss; with `N` training trials, `1/(2Nτ²)` is a prior variance of τ². Default: 0.001."""
    routing: Literal["soft"] | dict[str, Any] | bool | None
    """Which experts a sample is filtered with. Default: soft."""
    scaling: Literal["per-trial", "per-domain", "none"] | None
    """The scale of whitened matrices. Default: per-trial."""
    shrink: float | None
    """Experts towards the anchor: `mean_j ‖Δ_j‖_F²`. Default: 0.0."""
    sizes: Literal["auto", "weibo2014", "bnci2014001", "bnci2015001"] | None
    """Where its sizes come from. Default: auto."""
    tikhonov: Literal["none"] | dict[str, Any] | bool | None
    """Diagonal loading. Default: {"relative":1e-8}."""
    training: dict[str, Any] | bool | None
    """The protocol of training."""
    view_routing: Literal["trial", "view"] | None
    """Which views share the weights of their experts. Default: trial."""
    whitening: Literal["symmetric", "pca", "none"] | None
    """The square root that whitens. Default: symmetric."""

class _NearAnchorSettings(_Common, total=False):
    adam: dict[str, Any] | bool | None
    """The optimiser."""
    adam__epsilon: float | None
    """ε, added to the root of the second moment. Default: 1e-8."""
    alignment: float | None
    """Winner's key towards the query. Default: 0.0."""
    anchor: Literal["dedicated", "first", "barycenter", "routed-barycenter"] | None
    """Where the experts are mixed. Default: dedicated."""
    architecture: dict[str, Any] | bool | None
    """The network."""
    architecture__embedding: int | None
    """Width of queries, keys and embeddings, `m`. Default: 20."""
    balance: float | None
    """Switch-Transformer load balance. Default: 0.0."""
    barrier: float | None
    """The barrier of experts of the kind `barrier`: small beside the cross-entropy at orthonormal columns, and growing without bound as a column is lost. Default: 0.001."""
    batch: int | None
    """Samples per step. Default: 32."""
    batch_norm: dict[str, Any] | bool | None
    """Batch normalisation inside the network. Default: none."""
    beta1: float | None
    """β₁, the share that is kept of the first moment. Default: 0.9."""
    beta2: float | None
    """β₂, the share that is kept of the second moment. Default: 0.999."""
    csp: dict[str, Any] | bool | None
    """The targets of the CSP loss, where `losses.csp` is not zero."""
    csp__filters: int | None
    """Leading filters per domain, `s`, at most the directions a filter keeps. Default: 4."""
    decoupled_keys: bool | None
    """Whether keys learn from the alignment loss alone. Default: false."""
    domain_embedding: bool | None
    """Whether the query sees the domain. Default: true."""
    encoder: dict[str, Any] | bool | None
    """The encoder in front of the query; none gives the query the whole tangent vector. Default: none."""
    entropy: float | None
    """Routing entropy. Default: 0.0."""
    epochs: int | None
    """Epochs at most. Default: 40."""
    epsilon: float | None
    """ReEig threshold: eigenvalues are clamped from below to it. Default: 0.0001."""
    experts: int | None
    """Experts, `K`. Default: 8."""
    experts_kind: Literal["stiefel", "polar"] | dict[str, Any] | bool | None
    """What the experts are. Default: stiefel."""
    filters: int | None
    """Directions a filter keeps, `k`. Default: 20."""
    frechet_means: bool | None
    """Whether the Fréchet means of the training domains are kept, which `riemannian-nearest` needs. Default: false."""
    head: dict[str, Any] | bool | None
    """The classifier. Default: {"kind":"shared"}."""
    initial_anchor: Literal["random", "discriminative"] | None
    """Where the anchor starts. Default: discriminative."""
    initial_experts: dict[str, Any] | bool | None
    """Where the experts start. Default: {"kind":"near-anchor","noise":0.05}."""
    learning_rate: float | None
    """Step size η. Default: 0.01."""
    losses: dict[str, Any] | bool | None
    """Losses beside the cross-entropy."""
    losses__csp: float | None
    """Filters towards the CSP subspace of their domain. Default: 0.0."""
    momentum: float | None
    """Share of a batch in the running class means, `μ`. Default: 0.1."""
    noise: float | None
    """The root mean square of the tangent vector's columns. Default: 0.05."""
    orthogonality: Literal["riemannian", "cayley"] | None
    """How filters stay orthonormal. Default: riemannian."""
    patience: int | None
    """Epochs without a better validation score before stopping. Default: 10."""
    precision: Literal["f32", "f64"] | None
    """Its number type. Default: f32."""
    preconditioning: dict[str, Any] | bool | None
    """How covariances are whitened and scaled."""
    preconditioning__unseen: dict[str, Any] | bool | None
    """What to do with domains without training trials; none by default, so that it is a decision. Default: none."""
    reference: Literal["euclidean", "riemannian", "log-euclidean"] | None
    """The mean that whitens. Default: euclidean."""
    relative: float | None
    """The share of the mean variance that is added. Default: 1e-8."""
    retraction: Literal["qr", "polar"] | None
    """How the mixture becomes a filter. Default: qr."""
    routing: Literal["soft"] | dict[str, Any] | bool | None
    """Which experts a sample is filtered with. Default: soft."""
    scaling: Literal["per-trial", "per-domain", "none"] | None
    """The scale of whitened matrices. Default: per-trial."""
    shrink: float | None
    """Experts towards the anchor: `mean_j ‖Δ_j‖_F²`. Default: 0.01."""
    sizes: Literal["auto", "weibo2014", "bnci2014001", "bnci2015001"] | None
    """Where its sizes come from. Default: auto."""
    tikhonov: Literal["none"] | dict[str, Any] | bool | None
    """Diagonal loading. Default: {"relative":1e-8}."""
    training: dict[str, Any] | bool | None
    """The protocol of training."""
    view_routing: Literal["trial", "view"] | None
    """Which views share the weights of their experts. Default: trial."""
    whitening: Literal["symmetric", "pca", "none"] | None
    """The square root that whitens. Default: symmetric."""

class _NearAnchorHeadSettings(_Common, total=False):
    adam: dict[str, Any] | bool | None
    """The optimiser."""
    adam__epsilon: float | None
    """ε, added to the root of the second moment. Default: 1e-8."""
    alignment: float | None
    """Winner's key towards the query. Default: 0.0."""
    anchor: Literal["dedicated", "first", "barycenter", "routed-barycenter"] | None
    """Where the experts are mixed. Default: dedicated."""
    architecture: dict[str, Any] | bool | None
    """The network."""
    architecture__embedding: int | None
    """Width of queries, keys and embeddings, `m`. Default: 20."""
    balance: float | None
    """Switch-Transformer load balance. Default: 0.0."""
    barrier: float | None
    """The barrier of experts of the kind `barrier`: small beside the cross-entropy at orthonormal columns, and growing without bound as a column is lost. Default: 0.001."""
    batch: int | None
    """Samples per step. Default: 32."""
    batch_norm: dict[str, Any] | bool | None
    """Batch normalisation inside the network. Default: none."""
    beta1: float | None
    """β₁, the share that is kept of the first moment. Default: 0.9."""
    beta2: float | None
    """β₂, the share that is kept of the second moment. Default: 0.999."""
    csp: dict[str, Any] | bool | None
    """The targets of the CSP loss, where `losses.csp` is not zero."""
    csp__filters: int | None
    """Leading filters per domain, `s`, at most the directions a filter keeps. Default: 4."""
    decoupled_keys: bool | None
    """Whether keys learn from the alignment loss alone. Default: false."""
    domain_embedding: bool | None
    """Whether the query sees the domain. Default: true."""
    encoder: dict[str, Any] | bool | None
    """The encoder in front of the query; none gives the query the whole tangent vector. Default: none."""
    entropy: float | None
    """Routing entropy. Default: 0.0."""
    epochs: int | None
    """Epochs at most. Default: 40."""
    epsilon: float | None
    """ReEig threshold: eigenvalues are clamped from below to it. Default: 0.0001."""
    experts: int | None
    """Experts, `K`. Default: 8."""
    experts_kind: Literal["stiefel", "polar"] | dict[str, Any] | bool | None
    """What the experts are. Default: stiefel."""
    filters: int | None
    """Directions a filter keeps, `k`. Default: 20."""
    frechet_means: bool | None
    """Whether the Fréchet means of the training domains are kept, which `riemannian-nearest` needs. Default: false."""
    head: dict[str, Any] | bool | None
    """The classifier. Default: {"kind":"routed","ridge":0.001}."""
    initial_anchor: Literal["random", "discriminative"] | None
    """Where the anchor starts. Default: discriminative."""
    initial_experts: dict[str, Any] | bool | None
    """Where the experts start. Default: {"kind":"near-anchor","noise":0.05}."""
    learning_rate: float | None
    """Step size η. Default: 0.01."""
    losses: dict[str, Any] | bool | None
    """Losses beside the cross-entropy."""
    losses__csp: float | None
    """Filters towards the CSP subspace of their domain. Default: 0.0."""
    momentum: float | None
    """Share of a batch in the running class means, `μ`. Default: 0.1."""
    noise: float | None
    """The root mean square of the tangent vector's columns. Default: 0.05."""
    orthogonality: Literal["riemannian", "cayley"] | None
    """How filters stay orthonormal. Default: riemannian."""
    patience: int | None
    """Epochs without a better validation score before stopping. Default: 10."""
    precision: Literal["f32", "f64"] | None
    """Its number type. Default: f32."""
    preconditioning: dict[str, Any] | bool | None
    """How covariances are whitened and scaled."""
    preconditioning__unseen: dict[str, Any] | bool | None
    """What to do with domains without training trials; none by default, so that it is a decision. Default: none."""
    reference: Literal["euclidean", "riemannian", "log-euclidean"] | None
    """The mean that whitens. Default: euclidean."""
    relative: float | None
    """The share of the mean variance that is added. Default: 1e-8."""
    retraction: Literal["qr", "polar"] | None
    """How the mixture becomes a filter. Default: qr."""
    ridge: float | None
    """The weight of `Σ_j ‖δ_j‖²` in the loss; with `N` training trials, `1/(2Nτ²)` is a prior variance of τ². Default: 0.001."""
    routing: Literal["soft"] | dict[str, Any] | bool | None
    """Which experts a sample is filtered with. Default: soft."""
    scaling: Literal["per-trial", "per-domain", "none"] | None
    """The scale of whitened matrices. Default: per-trial."""
    shrink: float | None
    """Experts towards the anchor: `mean_j ‖Δ_j‖_F²`. Default: 0.01."""
    sizes: Literal["auto", "weibo2014", "bnci2014001", "bnci2015001"] | None
    """Where its sizes come from. Default: auto."""
    tikhonov: Literal["none"] | dict[str, Any] | bool | None
    """Diagonal loading. Default: {"relative":1e-8}."""
    training: dict[str, Any] | bool | None
    """The protocol of training."""
    view_routing: Literal["trial", "view"] | None
    """Which views share the weights of their experts. Default: trial."""
    whitening: Literal["symmetric", "pca", "none"] | None
    """The square root that whitens. Default: symmetric."""

class _DaspBnSettings(_Common, total=False):
    adam: dict[str, Any] | bool | None
    """The optimiser."""
    adam__epsilon: float | None
    """ε, added to the root of the second moment. Default: 1e-8."""
    alignment: float | None
    """Winner's key towards the query. Default: 0.0."""
    anchor: Literal["dedicated", "first", "barycenter", "routed-barycenter"] | None
    """Where the experts are mixed. Default: dedicated."""
    architecture: dict[str, Any] | bool | None
    """The network."""
    architecture__embedding: int | None
    """Width of queries, keys and embeddings, `m`. Default: 20."""
    balance: float | None
    """Switch-Transformer load balance. Default: 0.0."""
    barrier: float | None
    """The barrier of experts of the kind `barrier`: small beside the cross-entropy at orthonormal columns, and growing without bound as a column is lost. Default: 0.001."""
    batch: int | None
    """Samples per step. Default: 32."""
    batch_norm: dict[str, Any] | bool | None
    """Batch normalisation inside the network. Default: {"bias":true,"epsilon":0.00001,"momentum":0.1,"position":"after"}."""
    batch_norm__epsilon: float | None
    """ε, added to the dispersion. Default: 0.00001."""
    batch_norm__momentum: float | None
    """γ: how far a batch moves the running statistics. Default: 0.1."""
    beta1: float | None
    """β₁, the share that is kept of the first moment. Default: 0.9."""
    beta2: float | None
    """β₂, the share that is kept of the second moment. Default: 0.999."""
    bias: bool | None
    """Whether an SPD bias is learnt. Default: true."""
    csp: dict[str, Any] | bool | None
    """The targets of the CSP loss, where `losses.csp` is not zero."""
    csp__filters: int | None
    """Leading filters per domain, `s`, at most the directions a filter keeps. Default: 4."""
    csp__momentum: float | None
    """Share of a batch in the running class means, `μ`. Default: 0.1."""
    decoupled_keys: bool | None
    """Whether keys learn from the alignment loss alone. Default: false."""
    domain_embedding: bool | None
    """Whether the query sees the domain. Default: true."""
    encoder: dict[str, Any] | bool | None
    """The encoder in front of the query; none gives the query the whole tangent vector. Default: none."""
    entropy: float | None
    """Routing entropy. Default: 0.0."""
    epochs: int | None
    """Epochs at most. Default: 40."""
    epsilon: float | None
    """ReEig threshold: eigenvalues are clamped from below to it. Default: 0.0001."""
    experts: int | None
    """Experts, `K`. Default: 8."""
    experts_kind: Literal["stiefel", "polar"] | dict[str, Any] | bool | None
    """What the experts are. Default: stiefel."""
    filters: int | None
    """Directions a filter keeps, `k`. Default: 20."""
    frechet_means: bool | None
    """Whether the Fréchet means of the training domains are kept, which `riemannian-nearest` needs. Default: false."""
    head: dict[str, Any] | bool | None
    """The classifier. Default: {"kind":"shared"}."""
    initial_anchor: Literal["random", "discriminative"] | None
    """Where the anchor starts. Default: random."""
    initial_experts: dict[str, Any] | bool | None
    """Where the experts start. Default: {"kind":"random"}."""
    learning_rate: float | None
    """Step size η. Default: 0.01."""
    losses: dict[str, Any] | bool | None
    """Losses beside the cross-entropy."""
    losses__csp: float | None
    """Filters towards the CSP subspace of their domain. Default: 0.0."""
    orthogonality: Literal["riemannian", "cayley"] | None
    """How filters stay orthonormal. Default: riemannian."""
    patience: int | None
    """Epochs without a better validation score before stopping. Default: 10."""
    position: Literal["before", "after"] | None
    """Where the layer stands. Default: after."""
    precision: Literal["f32", "f64"] | None
    """Its number type. Default: f32."""
    preconditioning: dict[str, Any] | bool | None
    """How covariances are whitened and scaled."""
    preconditioning__unseen: dict[str, Any] | bool | None
    """What to do with domains without training trials; none by default, so that it is a decision. Default: none."""
    reference: Literal["euclidean", "riemannian", "log-euclidean"] | None
    """The mean that whitens. Default: euclidean."""
    relative: float | None
    """The share of the mean variance that is added. Default: 1e-8."""
    retraction: Literal["qr", "polar"] | None
    """How the mixture becomes a filter. Default: qr."""
    routing: Literal["soft"] | dict[str, Any] | bool | None
    """Which experts a sample is filtered with. Default: soft."""
    scaling: Literal["per-trial", "per-domain", "none"] | None
    """The scale of whitened matrices. Default: per-trial."""
    shrink: float | None
    """Experts towards the anchor: `mean_j ‖Δ_j‖_F²`. Default: 0.0."""
    sizes: Literal["auto", "weibo2014", "bnci2014001", "bnci2015001"] | None
    """Where its sizes come from. Default: auto."""
    tikhonov: Literal["none"] | dict[str, Any] | bool | None
    """Diagonal loading. Default: {"relative":1e-8}."""
    training: dict[str, Any] | bool | None
    """The protocol of training."""
    view_routing: Literal["trial", "view"] | None
    """Which views share the weights of their experts. Default: trial."""
    whitening: Literal["symmetric", "pca", "none"] | None
    """The square root that whitens. Default: symmetric."""

class _SpdnetBnSettings(_Common, total=False):
    adam: dict[str, Any] | bool | None
    """The optimiser."""
    adam__epsilon: float | None
    """ε, added to the root of the second moment. Default: 1e-8."""
    architecture: dict[str, Any] | bool | None
    """The network."""
    batch: int | None
    """Samples per step. Default: 32."""
    batch_norm: dict[str, Any] | bool | None
    """Batch normalisation inside the network; with it the baseline is called `spdnet+bn`. Default: {"bias":true,"epsilon":0.00001,"momentum":0.1,"position":"after"}."""
    batch_norm__epsilon: float | None
    """ε, added to the dispersion. Default: 0.00001."""
    beta1: float | None
    """β₁, the share that is kept of the first moment. Default: 0.9."""
    beta2: float | None
    """β₂, the share that is kept of the second moment. Default: 0.999."""
    bias: bool | None
    """Whether an SPD bias is learnt. Default: true."""
    encoder: dict[str, Any] | bool | None
    """The encoder in front of the query; none gives the query the whole tangent vector. Default: none."""
    epochs: int | None
    """Epochs at most. Default: 40."""
    epsilon: float | None
    """ReEig threshold: eigenvalues are clamped from below to it. Default: 0.0001."""
    filters: int | None
    """Directions the filter keeps, `k`. Default: 20."""
    frechet_means: bool | None
    """Whether the Fréchet means of the training domains are kept, which `riemannian-nearest` needs. Default: false."""
    initial_anchor: Literal["random", "discriminative"] | None
    """Where the filter starts. Default: random."""
    learning_rate: float | None
    """Step size η. Default: 0.01."""
    momentum: float | None
    """γ: how far a batch moves the running statistics. Default: 0.1."""
    orthogonality: Literal["riemannian", "cayley"] | None
    """How the filter stays orthonormal. Default: riemannian."""
    patience: int | None
    """Epochs without a better validation score before stopping. Default: 10."""
    position: Literal["before", "after"] | None
    """Where the layer stands. Default: after."""
    precision: Literal["f32", "f64"] | None
    """Its number type. Default: f32."""
    preconditioning: dict[str, Any] | bool | None
    """How covariances are whitened and scaled."""
    preconditioning__unseen: dict[str, Any] | bool | None
    """What to do with domains without training trials; none by default, so that it is a decision. Default: none."""
    reference: Literal["euclidean", "riemannian", "log-euclidean"] | None
    """The mean that whitens. Default: euclidean."""
    relative: float | None
    """The share of the mean variance that is added. Default: 1e-8."""
    scaling: Literal["per-trial", "per-domain", "none"] | None
    """The scale of whitened matrices. Default: per-trial."""
    sizes: Literal["auto", "weibo2014", "bnci2014001", "bnci2015001"] | None
    """Where its sizes come from. Default: auto."""
    tikhonov: Literal["none"] | dict[str, Any] | bool | None
    """Diagonal loading. Default: {"relative":1e-8}."""
    training: dict[str, Any] | bool | None
    """The protocol of training."""
    whitening: Literal["symmetric", "pca", "none"] | None
    """The square root that whitens. Default: symmetric."""

def defaults_of(name: str) -> dict[str, Any]: ...
def class_of(name: str) -> type[ModelClassifier]: ...

@overload
def model(
    name: Literal["choir"],
    **settings: Unpack[_ChoirSettings],
) -> ModelClassifier: ...
@overload
def model(
    name: Literal["dasp", "naive", "dasp-views", "dasp-per-view", "polar", "csp"],
    **settings: Unpack[_DaspSettings],
) -> ModelClassifier: ...
@overload
def model(
    name: Literal["spdnet", "baseline", "spdnet-views"],
    **settings: Unpack[_SpdnetSettings],
) -> ModelClassifier: ...
@overload
def model(
    name: Literal["ts+lr", "ts+lr-per-domain", "mdm", "recentred-ts+lr", "recentred-mdm", "fb-ts+lr", "fb-ts+lr-per-domain", "fb-recentred-ts+lr"],
    **settings: Unpack[_TsLrSettings],
) -> ModelClassifier: ...
@overload
def model(
    name: Literal["barrier"],
    **settings: Unpack[_BarrierSettings],
) -> ModelClassifier: ...
@overload
def model(
    name: Literal["top-2"],
    **settings: Unpack[_Top2Settings],
) -> ModelClassifier: ...
@overload
def model(
    name: Literal["routed-head"],
    **settings: Unpack[_RoutedHeadSettings],
) -> ModelClassifier: ...
@overload
def model(
    name: Literal["near-anchor"],
    **settings: Unpack[_NearAnchorSettings],
) -> ModelClassifier: ...
@overload
def model(
    name: Literal["near-anchor+head"],
    **settings: Unpack[_NearAnchorHeadSettings],
) -> ModelClassifier: ...
@overload
def model(
    name: Literal["dasp+bn"],
    **settings: Unpack[_DaspBnSettings],
) -> ModelClassifier: ...
@overload
def model(
    name: Literal["spdnet+bn"],
    **settings: Unpack[_SpdnetBnSettings],
) -> ModelClassifier: ...
@overload
def model(name: str, **settings: Any) -> ModelClassifier: ...
