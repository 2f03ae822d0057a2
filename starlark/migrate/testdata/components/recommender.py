#!/usr/bin/env python3
# pyre-unsafe

import os
from typing import List, Optional

import torchx.specs as specs
from torchx.components.dist import ddp


def run_main(
    num_trainers: int = 8,
    dataset_path: str = "/mnt/data/",
    batch_size: int = 2048,
    learning_rate: float = 1.0,
    checkpoint_path: Optional[str] = None,
    *script_args: str,
) -> specs.AppDef:
    """
    Args:
        num_trainers: The number of trainers to use.
        script_args: A variable number of parameters to provide the script.

    Returns:
        specs.AppDef: the job

    Raises:
        ValueError: If num_trainers > 8 and not a multiple of 8.
    """
    entrypoint = os.path.join("golden", "train.py")
    user = os.environ.get("USER")
    image = f"/data/home/{user}"

    if num_trainers > 8 and num_trainers % 8 != 0:
        raise ValueError(
            f"Trainer jobs spanning multiple hosts must be in multiples of 8, got {num_trainers}. "
            "Each machine has 8 GPUs."
        )
    nproc_per_node = 8 if num_trainers >= 8 else num_trainers
    num_replicas = max(num_trainers // 8, 1)

    train_args: List[str] = [
        "--sizes=512,256,128",
        f"--batch_size={batch_size}",
        f"--learning_rate={learning_rate}",
        f"--dataset_path={dataset_path}",
    ]
    if checkpoint_path:
        train_args.append(f"--checkpoint_path={checkpoint_path}")
    train_args.extend(script_args)

    return ddp(
        *train_args,
        name="train_dlrm",
        image=image,
        cpu=96,
        gpu=8,
        memMB=1300000,  # ~1.3 TB
        script=entrypoint,
        j=f"{num_replicas}x{nproc_per_node}",
        env={"NCCL_ALGO": "Ring,Tree"},
    )


def preemptible(num_trainers: int = 8, checkpoint_interval: int = 1000) -> specs.AppDef:
    """On preemptible machines.

    Args:
        num_trainers: trainers
        checkpoint_interval: steps
    """
    return run_main(
        num_trainers,
        "/mnt/",
        2048,  # batch_size
        1.0,  # learning_rate
        "gs://bucket",
        f"--checkpoint_interval={checkpoint_interval}",
        "--enable_preemption_recovery",
    )
