"""What all components share."""
import os
import subprocess
from typing import Dict, List, Optional

import torchx.specs as specs
from defaults import REGION, images

GB = 1024
_ENV = {"NCCL_DEBUG": "INFO", "REGION": REGION}


def make_env(extra: Optional[Dict[str, str]] = None, **more: str) -> Dict[str, str]:
    env = dict(_ENV)
    env.update(extra or {})
    env.update(more)
    return env


def resource_for(gpus: int) -> specs.Resource:
    return specs.Resource(cpu=gpus * 8 or 2, gpu=gpus, memMB=max(gpus, 1) * 64 * GB)


def image_of(kind: str) -> str:
    return images.get(kind, images["cpu"])


def git_sha() -> str:
    return subprocess.check_output(["git", "rev-parse", "HEAD"]).decode().strip()


class Flags:
    def __init__(self, pairs: Dict[str, object]) -> None:
        self.pairs = pairs

    def render(self) -> List[str]:
        return [f"--{k}={v}" for k, v in self.pairs.items()]
