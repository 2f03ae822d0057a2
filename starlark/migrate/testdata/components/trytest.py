import os
import sys
import json
import torchx.specs as specs

try:
    from torchx.components.dist import ddp
except ImportError:
    from torchx.components.dist import spmd as ddp

try:
    import yaml
except ImportError:
    yaml = None


def _int(text: str, default: int) -> int:
    try:
        return int(text)
    except ValueError:
        return default


def _env_int(name: str, default: int = 1) -> int:
    try:
        return int(os.environ[name])
    except (KeyError, ValueError):
        return default


def launch(script: str, nodes: str = "2", gpus: str = "many", config: str = '{"a": 1}') -> specs.AppDef:
    """Launches a script.

    Args:
        script: what to run
        nodes: a number
        gpus: a number
        config: JSON
    """
    n, g = _int(nodes, 1), _int(gpus, 4)
    try:
        rank = os.environ["RANK_OF_LAUNCHER"]
    except KeyError:
        rank = "0"
    port = _env_int("LAUNCH_PORT", 29500)
    return ddp(script=script, j=f"{n}x{g}", env={"RANK": rank}, rdzv_port=port, name="launch/x")
