from __future__ import annotations
import os
import typing as tp
from typing_extensions import Annotated, TypeAlias
from collections.abc import Mapping, Sequence
from typing import Final, Literal, Optional, Protocol, Union, overload

from torchx import specs

Env: TypeAlias = "dict[str, str]"
Size = Literal["xs", "s", "m"]
MB: Final = 1
GB: Final[int] = 1024 * MB
_SIZES: Final[Mapping[Size, tuple[int, int]]] = {"xs": (1, GB), "s": (2, 4 * GB), "m": (8, 32 * GB)}


class HasRole(Protocol):
    def role(self) -> specs.Role: ...


@overload
def _flag(name: str, value: bool) -> list[str]: ...
@overload
def _flag(name: str, value: str) -> list[str]: ...
def _flag(name, value):
    if isinstance(value, bool):
        return [f"--{name}"] if value else [f"--no-{name}"]
    if isinstance(value, (int, float)):
        return [f"--{name}", format(value, ".3g")]
    return [f"--{name}", value]


def _resource(size: Size) -> specs.Resource:
    cpu, mem = _SIZES[size]
    return specs.Resource(cpu=cpu, gpu=0, memMB=mem)


def run(
    cmd: Annotated[str, "-c"] = "main",
    size: Size = "s",
    ratio: float = 0.12345,
    cache: bool = True,
    env: Optional[Env] = None,
    labels: tp.Optional[tp.Dict[str, str]] = None,
    inputs: Optional[tp.List[str]] = None,
) -> specs.AppDef:
    """Runs a command.

    Args:
        cmd: command
        size: xs, s or m
        ratio: a number
        cache: keep
        env: variables
        labels: labels
        inputs: files
    """
    flags: list[str] = sum([_flag("ratio", ratio), _flag("cache", cache), _flag("cmd", cmd)], [])
    files: Sequence[str] = tuple(inputs or ())
    first: str | None = files[0] if files else None
    joined = tp.cast(str, ",".join(files))
    full_env: Env = {**(env or {}), "FIRST": first or "", "N": str(len(files))}
    return specs.AppDef(
        name="run",
        roles=[specs.Role(name=size, image="", entrypoint="run", args=[*flags, joined], env=full_env, resource=_resource(size))],
        metadata=labels or {},
    )
