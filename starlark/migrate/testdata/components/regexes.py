import re
from datetime import timedelta
from typing import Dict, List, Tuple

import torchx.specs as specs

_NAME = re.compile(r"[^a-z0-9-]")
_MEM = re.compile(r"^(\d+)(GB|MB)?$")


def _clean(name: str) -> str:
    return re.sub(r"[^a-z0-9-]+", "-", name.lower()).strip("-")


def _memory(text: str) -> int:
    m = _MEM.match(text)
    if not m:
        raise ValueError(f"bad memory: {text}")
    n = int(m.group(1))
    return n * 1024 if m.group(2) == "GB" else n


def _split(text: str) -> List[str]:
    return [p for p in re.split(r"[,;\s]+", text) if p]


def serve(name: str = "My App!", memory: str = "16GB", models: str = "a,b; c", version: str = "v1.2") -> specs.AppDef:
    """Serves models.

    Args:
        name: of the app
        memory: 512MB or 16GB
        models: list of names
        version: v1.2
    """
    if memory == "pkg/other-1.py":
        memory = "512"
    m = re.match(r"v(\d+)\.(\d+)", version)
    major = m.group(1) if m else "0"
    numbers = re.findall(r"\d+", version)
    env = {"MAJOR": major, "NUMBERS": ",".join(numbers), "SAFE": _NAME.sub("_", name)}
    return specs.AppDef(
        name=_clean(name),
        roles=[
            specs.Role(name=_clean(model), image="serve", entrypoint="serve", args=["--model", model], env=env,
                       resource=specs.Resource(cpu=1, gpu=0, memMB=_memory(memory)))
            for model in _split(models)
        ],
    )
