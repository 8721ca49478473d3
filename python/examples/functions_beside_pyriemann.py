"""
Functions beside pyRiemann
==========================

``stiefel.spd`` has pyRiemann's names and shapes, and the same results. Two means of six matrices
show why geometry matters.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from pyriemann.geometry.distance import distance_riemann
from pyriemann.geometry.mean import mean_riemann

from stiefel import spd

# %%
# Ellipses are matrices of two channels. All six have the same determinant: the same area. The
# Euclidean mean is larger than each of them, the Riemannian mean is not.
angles = np.linspace(0, np.pi, 6, endpoint=False)
turn = np.stack([[np.cos(angles), -np.sin(angles)], [np.sin(angles), np.cos(angles)]]).transpose(
    2, 0, 1
)
matrices = turn @ np.diag([4.0, 0.25]) @ turn.transpose(0, 2, 1)
circle = np.stack([np.cos(t := np.linspace(0, 2 * np.pi, 200)), np.sin(t)])

figure, ax = plt.subplots(figsize=(4.5, 4.5), layout="constrained")
for matrix in matrices:
    ax.plot(*(spd.sqrtm(matrix) @ circle), color="0.7")
ax.plot(*(spd.sqrtm(spd.gmean(matrices, metric="riemann")) @ circle), label="Riemannian mean")
ax.plot(*(spd.sqrtm(spd.gmean(matrices, metric="euclid")) @ circle), label="Euclidean mean")
ax.set_aspect("equal")
ax.legend(loc="upper right", fontsize="small")
plt.show()

# %%
# The same numbers as pyRiemann, in less time.
factors = np.random.default_rng(0).standard_normal((1000, 22, 60))
stack = factors @ factors.transpose(0, 2, 1)


def milliseconds(function, *arguments):
    times = []
    for _ in range(5):
        begin = time.perf_counter()
        function(*arguments)
        times.append(time.perf_counter() - begin)
    return 1e3 * min(times)


for name, ours, theirs, arguments in (
    ("mean_riemann", spd.mean_riemann, mean_riemann, (stack,)),
    ("distance_riemann", spd.distance_riemann, distance_riemann, (stack, stack[::-1].copy())),
):
    largest = np.abs(ours(*arguments) - theirs(*arguments)).max() / np.abs(theirs(*arguments)).max()
    print(
        f"{name}: stiefel {milliseconds(ours, *arguments):.1f} ms, pyRiemann {milliseconds(theirs, *arguments):.1f} ms, difference {largest:.0e}"
    )
