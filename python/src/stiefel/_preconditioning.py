"""The options of whitening, as the core reads them."""

import json

from ._validation import one_of

REFERENCES = ("euclidean", "riemannian", "log-euclidean")
WHITENINGS = ("symmetric", "pca")
SCALINGS = ("per-trial", "per-domain", "none")
UNSEEN = ("pooled", "own-mean", "causal")


#: Trials as they are.
NONE = {"tikhonov": "none", "reference": "euclidean", "whitening": "none", "scaling": "none", "unseen": {"policy": "pooled"}}


def preconditioning(options):
    """The core's configuration of an estimator's whitening options."""
    if not is_on(options):
        return NONE
    if options.tikhonov is None:
        tikhonov = "none"
    else:
        tikhonov = {"relative": float(options.tikhonov)}
    return {
        "tikhonov": tikhonov,
        "reference": one_of("reference", options.reference, REFERENCES),
        "whitening": one_of("whitening", options.whitening, WHITENINGS),
        "scaling": one_of("scaling", options.scaling, SCALINGS),
        "unseen": json.loads(unseen_whitening(options)),
    }


def is_on(options):
    """Whether an estimator whitens; a transformer that does nothing else has no choice."""
    on = getattr(options, "precondition", True)
    if on not in (True, False):
        raise ValueError(f"precondition must be True or False, got {on!r}.")
    return bool(on)


def is_causal(options):
    """Whether a new domain is whitened by the trials up to each one."""
    return is_on(options) and options.unseen_whitening == "causal"


def unseen_whitening(options):
    """The policy for a domain without training trials, as JSON."""
    if not is_on(options):
        return json.dumps(NONE["unseen"])
    name = one_of("unseen_whitening", options.unseen_whitening, UNSEEN)
    return json.dumps({"policy": name} if name == "pooled" else {"policy": name, "kappa": float(options.kappa)})


def seen(options, given, x):
    """The trials of the new domain of ``x`` that are known before the first is whitened: those given at fit; else all of them, but a causal mean
    has not seen those it whitens."""
    if given is not None:
        return given
    return x[:0] if is_causal(options) else x
