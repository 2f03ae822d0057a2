"""Compares two commits."""
import copy
import os
import re
from collections import defaultdict
from typing import Dict, List

from torchx import specs
from torchx.components import utils
from torchx.components.dist import ddp

_SHA = re.compile(r"^[0-9a-f]{7,40}$")
METRICS = {"loss", "accuracy"}


def _image(sha: str, registry: str) -> str:
    if not _SHA.fullmatch(sha):
        sha = re.sub(r"\W", "_", sha)
    return f"{registry}:{sha[:7]}"


def compare(base: str = "abcdef0", head: str = "1234567", script: str = "bench.py", rounds: int = 2, registry: str = "reg.io/bench") -> specs.AppDef:
    """Runs both commits.

    Args:
        base: commit
        head: commit
        script: what to run
        rounds: how often
        registry: of images
    """
    template = ddp(script=script, image="", j="1x2", name="bench/run").roles[0]
    by_kind = defaultdict(list)
    for kind, sha in (("base", base), ("head", head)):
        for i in range(rounds):
            role = copy.deepcopy(template)
            role.name = f"{kind}_{i}"
            role.image = _image(sha, registry)
            role.env["ROUND"] = str(i)
            role.env.update({f"METRIC_{m.upper()}": "1" for m in sorted(METRICS)})
            by_kind[kind].append(role)
    roles = []
    for pair in zip(by_kind["base"], by_kind["head"]):
        roles.extend(pair)
    report = utils.echo(msg=f"{len(roles)} roles", image="busybox").roles[0]
    report.name = "report"
    report.entrypoint = "sh"
    report.args = ["-c", " ".join(["echo"] + [r.name for r in roles])]
    return specs.AppDef(name="compare", roles=roles + [report], metadata={k: ",".join(r.name for r in v) for k, v in by_kind.items()})
