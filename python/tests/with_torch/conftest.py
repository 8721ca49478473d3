"""What the tests of stiefel.torch share; without PyTorch there is nothing to test."""

import importlib.util

import numpy as np
import pytest

if importlib.util.find_spec("torch") is None:
    collect_ignore_glob = ["*"]
else:
    import torch

    @pytest.fixture(autouse=True)
    def same_draws():
        torch.manual_seed(0)
        before = torch.get_num_threads()
        torch.set_num_threads(1)
        yield
        torch.set_num_threads(before)

    @pytest.fixture
    def spd():
        """SPD matrices ``(count, n, n)``."""

        def make(count, n, seed=0, dtype=torch.float64):
            a = torch.randn(
                count, n, 2 * n, dtype=torch.float64, generator=torch.Generator().manual_seed(seed)
            )
            x = a @ a.mT / (2 * n) + 0.1 * torch.eye(n, dtype=torch.float64)
            return ((x + x.mT) / 2).to(dtype)

        return make

    @pytest.fixture(scope="session")
    def trials():
        """Three people, six channels, two classes: covariances, classes and domains as arrays."""
        rng = np.random.default_rng(3)
        n, count = 6, 60
        y, domains = np.arange(count) % 2, np.arange(count) % 3
        a = rng.standard_normal((count, n, 40))
        a[:, 0] *= 1 + y[:, None]
        a[:, 1:3] *= 1 + 0.7 * domains[:, None, None]
        return a @ a.transpose(0, 2, 1) / 40, y, domains
