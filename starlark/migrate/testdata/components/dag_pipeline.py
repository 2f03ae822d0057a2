import os.path
from dataclasses import dataclass, field
from typing import Dict, Iterator, List, Optional, Set

import torchx.specs as specs


@dataclass
class Step:
    name: str
    cmd: List[str]
    needs: List[str] = field(default_factory=list)
    cpu: int = 1
    outputs: Dict[str, str] = field(default_factory=dict)

    def output(self, key: str) -> str:
        return os.path.join("/work", self.name, self.outputs.get(key, key))


STEPS = [
    Step("download", ["wget", "URL"], outputs={"raw": "raw.tar"}),
    Step("extract", ["tar", "xf", "@download.raw"], needs=["download"]),
    Step("train", ["python", "train.py", "@extract.data"], needs=["extract"], cpu=8),
    Step("report", ["python", "report.py"], needs=["train", "extract"]),
]
BY_NAME = {s.name: s for s in STEPS}


def _order(steps: List[Step]) -> List[Step]:
    done: Set[str] = set()
    out: List[Step] = []
    remaining = list(steps)
    while remaining:
        ready = [s for s in remaining if all(n in done for n in s.needs)]
        if not ready:
            raise RuntimeError("cycle")
        for s in ready:
            out.append(s)
            done.add(s.name)
        remaining = [s for s in remaining if s.name not in done]
    return out


def _resolve(arg: str, url: str) -> str:
    if arg == "URL":
        return url
    if arg.startswith("@"):
        step, _, key = arg[1:].partition(".")
        return BY_NAME[step].output(key)
    return arg


def pipeline(url: str = "http://x/y.tar", only: Optional[str] = None, image: str = "pipe:1") -> specs.AppDef:
    """Runs the steps.

    Args:
        url: data
        only: a step
        image: image
    """
    steps = [s for s in _order(STEPS) if only in (None, s.name)] or STEPS[:1]
    roles = []
    for i, step in enumerate(steps):
        program, args = step.cmd[0], [_resolve(a, url) for a in step.cmd[1:]]
        role = specs.Role(name=step.name, image=image, entrypoint=program, args=args, resource=specs.Resource(cpu=step.cpu, gpu=0, memMB=1024 * step.cpu))
        if step.needs:
            role.env["NEEDS"] = ",".join(step.needs)
            role.metadata["torchx"] = {"depends_on": {n: "succeeded" for n in step.needs if n in [s.name for s in steps]}}
        role.env["STEP"] = f"{i + 1}/{len(steps)}"
        roles.append(role)
    return specs.AppDef(name="pipeline", roles=roles)
