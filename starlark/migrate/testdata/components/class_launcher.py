import os
from abc import ABC, abstractmethod
from typing import ClassVar, Dict, List, Optional

import torchx.specs as specs


class Launcher(ABC):
    kind: ClassVar[str] = "base"

    def __init__(self, name: str, gpus: int = 1, env: Optional[Dict[str, str]] = None):
        self.name = name
        self.gpus = gpus
        self.env = env if env is not None else {}

    @abstractmethod
    def command(self) -> List[str]:
        ...

    def role(self) -> specs.Role:
        return specs.Role(
            name=self.name,
            image=self.image(),
            entrypoint=self.command()[0],
            args=self.command()[1:],
            env=self.env,
            resource=specs.Resource(cpu=self.gpus * 4 or 1, gpu=self.gpus, memMB=1024),
        )

    def image(self) -> str:
        return f"{self.kind}:latest"


class Torchrun(Launcher):
    kind = "torchrun"

    def __init__(self, name: str, script: str, gpus: int = 8):
        super().__init__(name, gpus, env={"OMP_NUM_THREADS": "1"})
        self.script = script

    def command(self) -> List[str]:
        return ["torchrun", f"--nproc-per-node={self.gpus}", self.script]


class Plain(Launcher):
    def command(self) -> List[str]:
        return ["python", "-c", f"print({self.name!r})"]

    def image(self) -> str:
        return "python:3.11"


def run(script: str, gpus: int = 2, check: bool = True) -> specs.AppDef:
    """Runs a script after a check.

    Args:
        script: what to run
        gpus: how many
        check: run a check
    """
    launchers = [Torchrun("train", script, gpus=gpus)]
    roles = [launcher.role() for launcher in launchers]
    if check:
        roles.insert(0, Plain("check", gpus=0).role())
    return specs.AppDef(name="run", roles=roles)
