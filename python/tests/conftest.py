"""Data for the tests: small synthetic studies, made once."""

import numpy as np
import pytest

import stiefel


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
