"""
A study and its report
======================

Methods on the same folds, tests paired by person, and the meaning in words: this is the table of
``stiefel study main``, as a data frame with MOABB's columns.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt

import stiefel

# %%
# Six simulated people. Every finished unit of work is kept in the folder: the same call goes on
# after an interruption and ends in the same table.
folder = tempfile.mkdtemp()
results = stiefel.study(
    "main",
    "synthetic:bnci2015001,subjects=6,sessions=1,trials=25",
    methods=["choir", "ts+lr", "mdm"],
    folder=folder,
    progress=False,
)
print(results.attrs["table"])

# %%
# One row per method, fold, seed and person. Methods are compared person by person. Simulated people
# have one view of each trial and are no evidence about real
# ones. Here the plain tangent space is ahead; on real EEG with several views it is not.
scores = results.groupby(["subject", "pipeline"])["score"].mean().unstack()
print(scores.round(3))

figure, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
difference = (scores["choir"] - scores["ts+lr"]).sort_values()
ax.barh(
    difference.index.astype(str),
    difference,
    color=["tab:blue" if d > 0 else "tab:orange" for d in difference],
)
ax.axvline(0, color="k", linewidth=0.8)
ax.set(xlabel="balanced accuracy, choir − ts+lr", ylabel="person")
plt.show()

# %%
# The report is one file that any browser opens, with the same table, tests, pictures and all
# settings.
print(sorted(file.name for file in Path(folder).iterdir() if file.is_file()))
