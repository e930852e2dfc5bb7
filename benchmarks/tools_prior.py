"""Print the weights of `vademecum.tools.features`, fitted on the training tasks of a trace set.

    python benchmarks/tools_prior.py --data BENCH/tools/ultratool

`prior` says which weights are set by hand, as the tasks say nothing of them.
"""

from __future__ import annotations

# ruff: noqa: SLF001 - the fit reads what the capability reads
import argparse
import tempfile
from pathlib import Path

from tools_data import capability, read_set, traces_of
from vademecum.tools import fit as fitting
from vademecum.tools.features import HEADS, RANKING, STOPPING
from vademecum.tools.weights import prior


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--traces", type=int, default=1500, help="how many are asked about")
    args = parser.parse_args()
    one = read_set(args.data)
    train, _ = next(iter(one.folds()))
    fitting.MOST_TRACES = args.traces
    with tempfile.TemporaryDirectory() as home:
        known = capability(one.tools, traces_of(train), Path(home))._now()
        model = fitting.fitted(known.view, known.pairs, prior())
    print(
        "head",
        *(f"{name}: ({a:.2g}, {b:.2g})" for name, a, b in zip(HEADS, model.next.mean(0), model.search, strict=True)),
        sep="\n",
    )
    print("stop", *(f"{name}: {value:.2g}" for name, value in zip(STOPPING, model.stop, strict=True)), sep="\n")
    print("chains", *(f"{name}: {value:.2g}" for name, value in zip(RANKING, model.chains, strict=True)), sep="\n")
    print("certain", model.certain.round(2).tolist())


if __name__ == "__main__":
    main()
