import os
import sys
import warnings
from pathlib import Path
from typing import List, Optional

import torchx.specs as specs
from torchx.specs.named_resources_aws import aws_p4d_24xlarge
import torchx.specs.named_resources_aws as aws

TASKS = ["mmlu", "gsm8k"]


def _chunks(items: List[str], size: int):
    for i in range(0, len(items), size):
        yield items[i : i + size]


def _flags(task: str, shots: int):
    yield "--task"
    yield task
    if shots:
        yield from ["--shots", str(shots)]


def evaluate(checkpoint: str, tasks: List[str] = TASKS, shots: int = 5, per_role: int = 1, data_dir: Optional[str] = None) -> specs.AppDef:
    """Evaluates a checkpoint.

    Args:
        checkpoint: folder
        tasks: names
        shots: examples
        per_role: tasks of a role
        data_dir: a folder
    """
    if not checkpoint:
        raise SystemExit("no checkpoint")
    if per_role < 1:
        sys.exit(f"per_role is {per_role}")
    if data_dir is not None and data_dir.startswith("s3://"):
        warnings.warn("slow", RuntimeWarning)
    args: List[str] = []
    roles = []
    for n, chunk in enumerate(_chunks(tasks, per_role)):
        flat = [f for t in chunk for f in _flags(t, shots)]
        args = ["--checkpoint", checkpoint] + flat
        if data_dir:
            args[2:2] = ["--data", data_dir]
        roles.append(specs.Role(name="eval%d" % n, image="eval", entrypoint="eval", args=args, resource=specs.resource(cpu=2 ** n, memMB=round(1.5 * 1024))))
    if len(roles) > 64:
        roles[0].resource = aws_p4d_24xlarge()
        roles[1].resource = aws.aws_p3_2xlarge()
    return specs.AppDef(name="eval", roles=roles)
