from __future__ import annotations

import dataclasses
import os
import typing as t
from dataclasses import dataclass

import torchx.specs as s


@dataclass
class Job:
    name: str
    command: t.Sequence[str]
    nodes: int = 1
    env: t.Dict[str, str] = dataclasses.field(default_factory=lambda: {"LANG": "C"})
    image: t.Optional[str] = None

    def __post_init__(self) -> None:
        if self.nodes < 1:
            raise ValueError("nodes must be positive")

    def role(self, index: int = 0) -> s.Role:
        program, *rest = self.command
        return s.Role(
            name=f"{self.name}{index or ''}",
            image=self.image or os.environ.get("JOB_IMAGE", "default"),
            entrypoint=program,
            args=[*rest, *(["--distributed"] if self.nodes > 1 else [])],
            env=dict(self.env, NODES=str(self.nodes)),
            num_replicas=self.nodes,
            max_retries=self.retries,
        )

    @property
    def retries(self) -> int:
        return 3 if self.is_large() else 0

    def is_large(self) -> bool:
        return self.nodes >= 4

    def with_(self, **kw: t.Any) -> Job:
        return dataclasses.replace(self, **kw)


DEFAULT = Job("job", ["python", "main.py"])
JOBS = [DEFAULT, Job(name="eval", command=("python", "eval.py"), nodes=2)]


def all_jobs(nodes: int = 1, image: str = "", only: t.Optional[str] = None) -> s.AppDef:
    """Starts all jobs.

    Args:
        nodes: of each
        image: image
        only: one job
    """
    jobs = [j for j in JOBS if only is None or j.name == only] or [DEFAULT]
    jobs.append(Job(name="big", command=["sh", "-c", "true"], nodes=nodes * 4, image=image or None))
    return s.AppDef("jobs", [job.role(i) for i, job in enumerate(jobs)])
