import os
import torchx.specs as specs
from typing import Any, Callable, Dict

IMAGES: Dict[str, str] = {}
IMAGES["train"] = "train:1"
IMAGES["eval"] = "eval:1"
REGISTRY = os.environ.get("REGISTRY", "docker.io/team")
for _name in list(IMAGES):
    IMAGES[_name] = REGISTRY + "/" + IMAGES[_name]
VERSION = "1"
VERSION += ".2"
DEBUG = False
if os.environ.get("TORCHX_SET"):
    DEBUG = True
if os.environ.get("NOT_SET_AT_ALL"):
    MODE = "a"
elif DEBUG:
    MODE = "b"
else:
    MODE = "c"
TIMEOUTS = [10, 20]
if DEBUG:
    TIMEOUTS.append(30)


def job(kind: str = "train", timeout: int = 0) -> specs.AppDef:
    """A job.

    Args:
        kind: train or eval
        timeout: seconds
    """
    image = IMAGES.get(kind, IMAGES["train"])
    return specs.AppDef(name=kind.split("/")[0], roles=[specs.Role(name="r", image=image, entrypoint="run", args=[VERSION, MODE, str(TIMEOUTS), str(timeout or max(TIMEOUTS))], env={"DEBUG": str(int(DEBUG))})])
