"""What `DaspClassifier.fit` adds to the time of the Rust core.

    python benchmarks/fit.py [--repeats 5]

The core times its own training; everything else (checks, copies, splitting, the way there and back)
is overhead. Ends with an error where its median is more than 5 %.
"""

import argparse
import statistics
import time

import stiefel

ALLOWED = 0.05


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    data = stiefel.load_synthetic("BNCI2014001", subjects=9, trials_per_class=24, random_state=0)
    print(f"{len(data)} trials of {data.X.shape[1]} channels, {len(set(data.domains))} domains")
    stiefel.DaspClassifier(epochs=1, random_state=0).fit(data)  # imports, first pages
    overheads = []
    for _ in range(options.repeats):
        clf = stiefel.DaspClassifier(epochs=10, random_state=0)
        start = time.perf_counter()
        clf.fit(data)
        whole = time.perf_counter() - start
        core = clf._model.seconds
        print(f"fit {whole:.3f} s, core {core:.3f} s, overhead {100 * (whole / core - 1):.2f} %")
        overheads.append(whole / core - 1)
    middle = statistics.median(overheads)
    if middle > ALLOWED:
        raise SystemExit(f"overhead {100 * middle:.1f} % is more than {100 * ALLOWED:.0f} %")


if __name__ == "__main__":
    main()
