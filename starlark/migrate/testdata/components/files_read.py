import json
import os
from pathlib import Path

import torchx.specs as specs


def _read(path: str) -> str:
    with open(path) as f:
        return f.read()


def plain(config: str = "config.json") -> specs.AppDef:
    """Passes the file on."""
    if not config.endswith(".json"):
        config = str(Path(config).with_suffix(".json"))
    return specs.AppDef(name=Path(config).stem, roles=[specs.Role(name="r", image="", entrypoint="cat", args=[config], env={"DIR": str(Path(config).parent), "PARTS": "/".join(Path(config).parts)})])
