"""
DeepSpeed and Accelerate components.
"""
import json
import os
import shlex
from typing import Dict, List, Optional, Tuple

import torchx.specs as specs
from torchx.specs import macros

ZERO = {
    1: {"stage": 1},
    2: {"stage": 2, "overlap_comm": True},
    3: {"stage": 3, "stage3_max_live_parameters": 1e9},
}


class Command:
    def __init__(self, *parts: str):
        self._parts = [str(p) for p in parts]

    def add(self, *parts, when: bool = True):
        if when:
            self._parts.extend(str(p) for p in parts)
        return self

    def __str__(self):
        return " ".join(shlex.quote(p) if "$" not in p else p for p in self._parts)


def ds_config(stage: int, batch: int, bf16: bool) -> str:
    config = {
        "train_batch_size": batch,
        "zero_optimization": ZERO[stage],
        "bf16": {"enabled": bf16},
        "gradient_clipping": 1.0,
    }
    if stage == 3:
        config["zero_optimization"] = dict(config["zero_optimization"], offload="cpu")
    return json.dumps(config)


def deepspeed(script: str, nodes: int = 2, gpus: int = 8, stage: int = 2, batch: int = 64, bf16: bool = True, hostfile: Optional[str] = None) -> specs.AppDef:
    """Runs DeepSpeed.

    Args:
        script: script
        nodes: nodes
        gpus: of a node
        stage: of ZeRO
        batch: size
        bf16: precision
        hostfile: a file
    """
    cmd = Command("deepspeed", "--num_gpus", gpus)
    cmd.add("--num_nodes", nodes, when=nodes > 1).add("--hostfile", hostfile or "", when=hostfile is not None)
    cmd.add("--master_addr", f"$${{{macros.rank0_env}:=localhost}}", script)
    cmd.add("--deepspeed_config", ds_config(stage, batch, bf16))
    return specs.AppDef(
        name="deepspeed",
        roles=[specs.Role(name="ds", image="deepspeed", entrypoint="bash", args=["-c", str(cmd)], num_replicas=nodes,
                          resource=specs.Resource(cpu=gpus * 8, gpu=gpus, memMB=gpus * 64 * 1024))],
    )


def accelerate(script: str, config: str = "default.yaml", nodes: int = 1, mixed: Optional[str] = None, *args: str) -> specs.AppDef:
    """Runs accelerate.

    Args:
        script: script
        config: a file
        nodes: nodes
        mixed: precision
        args: of the script
    """
    parts = f"accelerate launch --config_file {config} --num_machines {nodes} --machine_rank {macros.replica_id}".split()
    parts += [f"--mixed_precision={mixed}"] * bool(mixed)
    parts.append(script)
    parts.extend(args)
    return specs.AppDef("accelerate", [specs.Role("acc", "accelerate:1", entrypoint=parts[0], args=parts[1:], num_replicas=nodes)])
