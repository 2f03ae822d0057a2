#!/usr/bin/env python
# -*- coding: utf-8 -*-
from __future__ import annotations

import os
import typing
from dataclasses import dataclass, field
from enum import Enum
from pathlib import PurePosixPath as P

from torchx.specs import AppDef, Role, Resource, BindMount, VolumeMount, parse_mounts, get_named_resources, named_resources

if typing.TYPE_CHECKING:
    from collections.abc import Iterable


class Engine(str, Enum):
    VLLM = "vllm"
    TGI = "tgi"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, order=True)
class Model:
    repo: str
    gpus: int
    max_len: int | None = None
    flags: tuple[str, ...] = ()

    @property
    def slug(self) -> str:
        return self.repo.split("/")[-1].lower().replace(".", "-")


@dataclass
class Server:
    model: Model
    engine: str = "vllm"
    port: int = 8000
    env: dict[str, str] = field(default_factory=dict)

    def command(self) -> list[str]:
        cmd = {
            "vllm": ["vllm", "serve", self.model.repo, "--port", str(self.port)],
            "tgi": ["text-generation-launcher", "--model-id", self.model.repo, "-p", f"{self.port}"],
        }[self.engine]
        if self.model.max_len:
            cmd += ["--max-model-len", str(self.model.max_len)]
        if self.model.gpus > 1:
            cmd.extend(["--tensor-parallel-size" if self.engine == "vllm" else "--num-shard", str(self.model.gpus)])
        return cmd + list(self.model.flags)


MODELS = {
    m.slug: m
    for m in [
        Model("meta-llama/Llama-3.1-8B", 1),
        Model("mistralai/Mixtral-8x7B", 2, max_len=32768, flags=("--enforce-eager",)),
        Model(repo="big/Model-405B", gpus=8),
    ]
}


def serve(model: str = "mixtral-8x7b", engine: str = "vllm", port: int = 8000, cache: str = "/cache", mounts: list[str] | None = None, replicas: int = 1) -> AppDef:
    """Serves a model.

    Args:
        model: its name
        engine: vllm or tgi
        port: port
        cache: folder
        mounts: more mounts
        replicas: copies
    """
    m = MODELS.get(model)
    if m is None:
        known = ", ".join(sorted(MODELS))
        raise ValueError(f"unknown model {model!r}; known: {known}")
    server = Server(m, engine if engine in ("vllm", "tgi") else "tgi", port, env={"HF_HOME": str(P(cache) / "hf")})
    program, *args = server.command()
    res = get_named_resources("gpu.medium") if m.gpus <= 2 else Resource(cpu=12 * m.gpus, gpu=m.gpus, memMB=120_000 * m.gpus)
    return AppDef(
        name=f"serve-{m.slug}",
        roles=[
            Role(
                name="server",
                image=f"{server.engine}:latest",
                entrypoint=program,
                args=args,
                env=server.env | {"PORT": str(server.port)},
                num_replicas=replicas,
                port_map={"http": server.port},
                resource=res,
                mounts=[BindMount(cache, cache), *(parse_mounts(mounts) if mounts else [])],
            )
        ],
    )
