import math
import os
import torchx.specs as specs
from typing import *

PARTITIONS = {
    "a100": (8, 96, 1_000_000),
    "v100": (4, 48, 384_000),
    "cpu": (0, 32, 128_000),
}
SITE = os.getenv("SITE", "lab").lower()
CONDA = f"/opt/conda/{SITE}/bin"


def _time(hours: float) -> str:
    h = int(hours)
    m = int(round((hours - h) * 60))
    return f"{h:02d}:{m:02d}:00"


def run(cmd: str, partition: str = "a100", total_gpus: int = 16, hours: float = 1.5, modules: List[str] = [], dry: bool = False) -> specs.AppDef:
    """Runs on Slurm.

    Args:
        cmd: command line
        partition: a100, v100 or cpu
        total_gpus: of all nodes
        hours: of time
        modules: to load
    """
    if partition not in PARTITIONS:
        partition = "cpu"
    gpus, cpus, mem = PARTITIONS[partition]
    nodes = max(1, math.ceil(total_gpus / gpus)) if gpus else 1
    lines = ["#!/bin/bash", *(f"module load {m}" for m in modules)]
    lines.append('export PATH=%s:$PATH' % CONDA)
    lines.append("srun " + cmd)
    script = "\n".join(lines)
    if dry: print(script)
    quiet, verbose = (True, False) if not dry else (False, True)
    return specs.AppDef(name=f"slurm_{partition}", roles=[specs.Role(
        name="main", image=os.environ.get("IMAGE", ""), entrypoint="bash", args=["-c", script],
        num_replicas=nodes, resource=specs.Resource(cpu=cpus, gpu=gpus, memMB=mem, tags={"time": _time(hours)}),
        env={k: str(v) for k, v in zip(["NODES", "GPUS", "QUIET"], [nodes, nodes * gpus, quiet])},
    )])
