"""Preprocessing, training and serving as one app each."""
import os.path
from enum import Enum, auto, unique
from typing import Dict, List, NamedTuple, Optional, Union

import torchx
from torchx import specs
from torchx.components import utils
from torchx.components.dist import ddp as _ddp

_DEFAULT_RESOURCES = specs.Resource(cpu=4, gpu=0, memMB=8 * 1024)


@unique
class Stage(Enum):
    PREP = auto()
    TRAIN = auto()


class Dataset(NamedTuple):
    name: str
    path: str
    shards: int = 4

    @property
    def url(self) -> str:
        return f"s3://{self.path}/{self.name}"


DATASETS = {d.name: d for d in (Dataset("c4", "bucket/c4", 1024), Dataset("wiki", "bucket/wiki"))}


def prep(dataset: str = "wiki", out: str = "/data") -> specs.AppDef:
    """Preprocesses.

    Args:
        dataset: c4 or wiki
        out: folder
    """
    d = DATASETS.get(dataset)
    if d is None:
        d = DATASETS["wiki"]
    out = os.path.join(out, d.name) if not out.endswith(d.name) else out
    return specs.AppDef(
        name=f"prep-{d.name}",
        roles=[
            specs.Role(
                name=f"shard",
                image=torchx.IMAGE,
                entrypoint="python3",
                args=["prep.py", "--url", d.url, "--shard", specs.macros.replica_id, "--of", str(d.shards), "--out", out],
                num_replicas=d.shards,
                resource=_DEFAULT_RESOURCES,
                min_replicas=max(1, d.shards // 2),
            )
        ],
    )


def train(*script_args: str, dataset: str = "c4", script: str = "train.py", env: Optional[Dict[str, str]] = None, nodes: int = 1) -> specs.AppDef:
    """Trains.

    Args:
        dataset: c4 or wiki
        script: script
        env: variables
        nodes: nodes
    """
    d = DATASETS[dataset if dataset in DATASETS else "c4"]
    app = _ddp(*["--data", d.url, *script_args], script=script, j="%dx8" % nodes, env={**(env or {}), "STAGE": Stage.TRAIN.name}, name=f"{d.name}/")
    for role in app.roles:
        role.resource = specs.Resource(cpu=role.resource.cpu * 8, gpu=8, memMB=-1)
        if role.num_replicas > 1:
            role.env["MULTI"] = "1"
    return app


def clean(path: str) -> specs.AppDef:
    """Removes a folder.

    Args:
        path: folder
    """
    app = utils.sh("rm", "-rf", path)
    app.roles[0].resource = _DEFAULT_RESOURCES
    return app
