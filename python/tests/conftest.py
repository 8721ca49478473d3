"""Data for the tests: small synthetic studies, made once. A limit of time for each test."""

import signal

import numpy as np
import pytest

import stiefel

#: Seconds a test may take; pyproject.toml has a longer limit for what does not listen to a signal.
LIMIT = 300


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Fails a test that takes too long, where there are timers, and goes on with the next."""
    if not hasattr(signal, "setitimer"):
        return (yield)

    def late(*_):
        raise TimeoutError(f"{item.name} took more than {LIMIT} seconds")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, LIMIT)
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture
def interrupts():
    """Ctrl-C raises KeyboardInterrupt, also where SIGINT is ignored: as in a background job of a
    shell."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def policy():
    """The parameter of an estimator that says how a domain without training trials is recentred."""

    def of(estimator, unseen):
        if isinstance(estimator, stiefel.ChoirClassifier):
            return {"adapt": unseen}
        whitening = isinstance(estimator, stiefel.DomainWhitening)
        return {"adapt" if whitening else "whitening__adapt": unseen}

    return of


@pytest.fixture(scope="session")
def study():
    """Three people, 13 channels, two classes, 12 trials of each."""
    return stiefel.load_synthetic("BNCI2015001", subjects=3, trials_per_class=12, random_state=1)


@pytest.fixture(scope="session")
def small():
    """Two domains of six channels: quick to train on."""
    rng = np.random.default_rng(0)
    n, count = 6, 48
    y = np.arange(count) % 2
    domains = np.arange(count) // 24
    a = rng.standard_normal((count, n, 60))
    a[:, 0] *= 1 + 1.5 * y[:, None]
    a[:, 1] *= 1 + 0.5 * domains[:, None]
    x = a @ np.swapaxes(a, 1, 2) / 60
    return x, y, domains


@pytest.fixture
def elsewhere():
    """Trials of somebody else: covariances under other gains of the channels."""

    def changed(x):
        gains = np.linspace(1, 2, x.shape[-1])
        return x * np.outer(gains, gains)

    return changed
