"""The options of whitening, as the core reads them."""

import json

from ._options import Whitening

#: Trials as they are.
NONE = {
    "tikhonov": "none",
    "reference": "euclidean",
    "whitening": "none",
    "scaling": "none",
    "unseen": {"policy": "pooled"},
}


def whitening_of(estimator):
    """The options of a classifier's whitening, or None where it takes trials as they are.

    Raises
    ------
    ValueError
        Where there are options for whitening that is switched off.
    """
    if estimator.precondition:
        return estimator._group("whitening")
    if estimator.whitening is not None:
        raise ValueError(
            "whitening was given with precondition=False, which takes trials as they are: leave "
            "one of them out."
        )
    return None


def preconditioning(options):
    """The core's configuration of options of whitening, or of none."""
    if options is None:
        return NONE
    return {
        "tikhonov": "none" if options.tikhonov is None else {"relative": float(options.tikhonov)},
        "reference": options.reference,
        "whitening": options.method,
        "scaling": options.scaling,
        "unseen": json.loads(unseen_whitening(options)),
    }


def options_of(settings):
    """Parameters of an estimator by the settings of a network: how it whitens."""
    said = settings["preconditioning"]
    if said["whitening"] == "none":
        return {"precondition": False}
    tikhonov, unseen = said["tikhonov"], said["unseen"] or NONE["unseen"]
    whitening = Whitening(
        adapt=unseen["policy"],
        kappa=unseen.get("kappa", Whitening().kappa),
        tikhonov=tikhonov.get("relative", Whitening().tikhonov)
        if isinstance(tikhonov, dict)
        else None,
        reference=said["reference"],
        method=said["whitening"],
        scaling=said["scaling"],
    )
    return {"whitening": None if whitening == Whitening() else whitening}


def is_causal(options):
    """Whether a new domain is whitened by the trials up to each one."""
    return options is not None and options.adapt == "causal"


def unseen_whitening(options):
    """The policy for a domain without training trials, as JSON."""
    if options is None or options.adapt == "pooled":
        return json.dumps(NONE["unseen"])
    return json.dumps({"policy": options.adapt, "kappa": float(options.kappa)})


def seen(options, given, x):
    """The trials of the new domain of ``x`` that are known before the first is whitened: those
    given at fit; else all of them, but a causal mean has not seen those it whitens."""
    if given is not None:
        return given
    return x[:0] if is_causal(options) else x
