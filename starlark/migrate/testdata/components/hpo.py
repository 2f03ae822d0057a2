"""Hyper-parameter search."""
import itertools
import json
import math
import os
from datetime import timedelta
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Tuple

from torchx import specs

SPACE: Dict[str, List[Any]] = {
    "lr": [1e-3, 3e-4],
    "layers": [2, 4],
    "dropout": [0.0, 0.1],
}
TIMEOUT = timedelta(hours=2)


class Trial:
    counter = 0

    def __init__(self, index: int, params: Mapping[str, Any], base_dir: str = "/runs") -> None:
        self.index = index
        self.params = dict(params)
        self.base_dir = base_dir
        self.dir = os.path.join(base_dir, self.name())

    def name(self) -> str:
        return f"trial-{self.index:03d}"

    def flags(self) -> List[str]:
        return [x for k, v in self.params.items() for x in (f"--{k}", str(v))]

    def __str__(self) -> str:
        return f"{self.name()}({', '.join(f'{k}={v}' for k, v in sorted(self.params.items()))})"


def _grid(space: Mapping[str, List[Any]]) -> Iterator[Dict[str, Any]]:
    keys = list(space)
    for values in itertools.product(*[space[k] for k in keys]):
        yield dict(zip(keys, values))


def _schedule(n: int, parallel: int) -> List[Tuple[int, int]]:
    rounds = math.ceil(n / parallel)
    return [(r, min(parallel, n - r * parallel)) for r in range(rounds)]


def search(image: str = "hpo", parallel: int = 3, limit: int = 8, names: str = "lr,dropout") -> specs.AppDef:
    """Runs all trials.

    Args:
        image: image
        parallel: at a time
        limit: most trials
        names: of parameters
    """
    chosen = {k: SPACE[k] for k in names.split(",") if k in SPACE} or {"layers": SPACE["layers"]}
    trials = [Trial(i, p) for i, p in enumerate(_grid(chosen)) if i < limit]
    roles = []
    for t in trials:
        roles.append(
            specs.Role(
                name=t.name(),
                image=image,
                entrypoint="python",
                args=["trial.py", *t.flags(), "--dir", t.dir],
                env={"DESCRIPTION": str(t), "PARAMS": json.dumps(t.params)},
            )
        )
    summary = " -> ".join(f"{r}:{n}" for r, n in _schedule(len(trials), parallel))
    return specs.AppDef(name="search", roles=roles, metadata={"summary": summary, "trials": str(len(trials))})
