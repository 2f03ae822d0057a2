import os

import torchx.specs as specs
from torchx.components.dist import ddp


def train_ranker(num_trainers: int = 8, *script_args: str) -> specs.AppDef:
    """
    Args:
        num_trainers: how many processes train
        script_args: arguments of main.py
    """
    here = os.getcwd()
    script = os.path.join(here, "main.py")
    user = os.environ.get("USER")
    image = f"/data/home/{user}"

    if num_trainers > 8 and num_trainers % 8 != 0:
        raise ValueError("num_trainers must be a multiple of 8 on several hosts")
    per_node = 8 if num_trainers >= 8 else num_trainers
    nodes = max(num_trainers // 8, 1)
    return ddp(*script_args, name="rank/train", image=image, cpu=96, gpu=8, memMB=-1, script=script, j=f"{nodes}x{per_node}")
