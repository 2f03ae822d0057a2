import json
from typing import Any, Dict, List, Optional

import torchx.specs as specs


class RoleBuilder:
    """Builds a role step by step."""

    DEFAULT_CPU = 4

    def __init__(self, name: str, image: str, cpu: Optional[int] = None) -> None:
        self.name = name
        self.image = image
        self.cpu = cpu or RoleBuilder.DEFAULT_CPU
        self.args: List[str] = []
        self.env: Dict[str, str] = {"BUILDER": "1"}
        if cpu:
            self.args.append(f"--cpu={cpu}")

    def arg(self, key: str, value: Any) -> "RoleBuilder":
        self.args.append(f"--{key}={json.dumps(value)}")
        return self

    def with_env(self, **env: str) -> "RoleBuilder":
        for k, v in env.items():
            self.env[k] = v
        return self

    def build(self) -> specs.Role:
        return specs.Role(
            name=self.name,
            image=self.image,
            entrypoint="python",
            args=list(self.args),
            env=self.env,
            resource=specs.Resource(cpu=self.cpu, gpu=0, memMB=1024 * self.cpu),
        )


def built(lr: float = 0.1, tags: Optional[List[str]] = None, cpu: int = 0) -> specs.AppDef:
    """Builds an app.

    Args:
        lr (float): learning rate
        tags (List[str]): tags
        cpu (int): CPUs
    """
    builder = RoleBuilder("worker", "img:1", cpu=cpu)
    builder.arg("lr", lr).arg("tags", tags or []).with_env(MODE="fast", LR=f"{lr:.3f}")
    return specs.AppDef(name="built", roles=[builder.build()])
