from typing import Any, Dict, List, Optional

from torchx import specs
from torchx.components import dist

COMMON: Dict[str, Any] = dict(image="repo/train:1", max_retries=2)


def _role(name: str, **kwargs: Any) -> specs.Role:
    defaults = {"entrypoint": "python", "num_replicas": 1}
    defaults.update(kwargs)
    return specs.Role(name=name, **defaults)


def _resource(size: str = "small", **overrides) -> specs.Resource:
    sizes = {
        "small": dict(cpu=2, gpu=0, memMB=4096),
        "large": dict(cpu=16, gpu=4, memMB=65536),
    }
    return specs.Resource(**{**sizes[size], **overrides})


def pipeline(workers: int = 2, size: str = "large", tag: Optional[str] = None) -> specs.AppDef:
    """Preprocesses and trains.

    Args:
        workers: number of workers
        size: small or large
        tag: of the image
    """
    common = COMMON if tag is None else {**COMMON, "image": f"repo/train:{tag}"}
    if size not in ("small", "large"):
        size = "small"
    prep = _role("prep", args=["-m", "prep"], **common)
    train = _role("train", args=["-m", "train", f"--workers={workers}"], num_replicas=workers, resource=_resource(size, memMB=8192), **common)
    return specs.AppDef("pipeline", roles=[prep, train])


def ddp_default(*script_args: str, script: str = "main.py", nodes: int = 1, gpus: int = 2) -> specs.AppDef:
    """dist.ddp with our defaults."""
    options: dict = {"cpu": 4, "gpu": gpus, "memMB": 1024 * 8}
    if nodes > 1:
        options["rdzv_backend"] = "static"
        options["max_retries"] = 3
    return dist.ddp(*script_args, script=script, j=f"{nodes}x{gpus}", **options)
