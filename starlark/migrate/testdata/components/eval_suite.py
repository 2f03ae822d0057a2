from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Dict, Iterable, List, Optional, Sequence, Set, Tuple, Union
import json
import os
import shlex

import torchx
import torchx.specs as specs
from torchx.components import dist

StrPath = Union[str, Path]


@dataclass
class Suite:
    name: str
    tasks: Sequence[str]
    fewshot: int = 0
    limit: Optional[int] = None

    def __iter__(self):
        return iter(self.tasks)

    def __len__(self) -> int:
        return len(self.tasks)

    def args(self) -> List[str]:
        out = ["--tasks", ",".join(self.tasks), "--num_fewshot", str(self.fewshot)]
        return out if self.limit is None else out + ["--limit", str(self.limit)]


SUITES: Tuple[Suite, ...] = (
    Suite("quick", ["arc_easy"], limit=100),
    Suite("full", ["arc_easy", "hellaswag", "mmlu"], 5),
)


def _ckpt(root: StrPath, step: int) -> Path:
    return Path(root) / "checkpoints" / f"step_{step:06d}"


def evaluate(root: str = "/runs/exp", steps: str = "1000,2000", suite: str = "quick", wandb: Optional[str] = None) -> specs.AppDef:
    """Evaluates checkpoints.

    Args:
        root: folder of the run
        steps: list
        suite: quick or full
        wandb: project
    """
    chosen = [s for s in SUITES if s.name == suite] or list(SUITES)
    roles: List[specs.Role] = []
    for step in sorted({int(s) for s in steps.split(",") if s.strip().isdigit()}):
        for s in chosen:
            ckpt = _ckpt(root, step)
            cmd: List[Any] = ["lm_eval", "--model_args", f"pretrained={ckpt},dtype=bfloat16", *s.args()]
            if wandb: cmd += ["--wandb_args", f"project={wandb},name={s.name}-{step}"]
            cmd += ["--output_path", ckpt.parent / "eval" / f"{ckpt.name}.json"]
            roles.append(specs.Role(name=f"{s.name}-{step}", image=torchx.IMAGE, entrypoint="bash", args=["-c", " ".join(shlex.quote(str(c)) for c in cmd)], env={"N": str(len(s.tasks)), "LAST": max(s.tasks)}))
    if not roles:
        roles = [specs.Role("none", "", entrypoint="true")]
    return specs.AppDef(name=f"eval-{Path(root).name}", roles=roles)
