import os
from typing import Dict

import torchx.specs as specs

USE_GPU = os.environ.get("USE_GPU", "1") == "1"
if USE_GPU:
    DEFAULT_IMAGE = "train:gpu"
    RESOURCE = specs.Resource(cpu=8, gpu=1, memMB=32 * 1024)
else:
    DEFAULT_IMAGE = "train:cpu"
    RESOURCE = specs.Resource(cpu=4, gpu=0, memMB=16 * 1024)

ENV: Dict[str, str] = {"A": "1"}
if "EXTRA" in os.environ:
    ENV["EXTRA"] = os.environ["EXTRA"]
for key in ("TORCHX_SET", "NOT_THERE"):
    if key in os.environ:
        ENV[key] = os.environ[key]
ENV.update({"LAST": "z"})

try:
    import wandb

    HAS_WANDB = True
except ImportError:
    HAS_WANDB = False


def fit(epochs: int = 3, lr: float = 1e-3, image: str = DEFAULT_IMAGE) -> specs.AppDef:
    env = dict(ENV, EPOCHS=str(epochs))
    if HAS_WANDB:
        env["WANDB_MODE"] = "online"
    return specs.AppDef(
        name="fit",
        roles=[specs.Role(name="fit", image=image, entrypoint="python", args=["fit.py", "--lr", str(lr)], env=env, resource=RESOURCE)],
    )
