import math
import os
from functools import lru_cache, partial
from typing import Callable, Literal, NamedTuple, TypeVar, Generic

import torchx.specs as specs

T = TypeVar("T")
GiB = 2 ** 10
Kind = Literal["dense", "moe"]


class Plan(NamedTuple):
    dp: int
    tp: int
    pp: int

    def world(self) -> int:
        return self.dp * self.tp * self.pp

    def flags(self) -> "list[str]":
        return [f"--{name}={getattr(self, name)}" for name in self._fields]


class Box(Generic[T]):
    def __init__(self, value: T):
        self.value = value

    def get(self) -> T:
        return self.value


@lru_cache
def _plan(params_b: float, gpus: int) -> Plan:
    tp = min(8, 2 ** math.ceil(math.log2(max(1.0, params_b / 8))))
    pp = 1 if params_b < 70 else 4
    return Plan(dp=max(1, gpus // (tp * pp)), tp=tp, pp=pp)


log_dir: Callable[[str], str] = lambda name: os.path.join("/logs", name)
role_of = partial(specs.Role, image="moe:1", entrypoint="torchrun", max_retries=1)


def pretrain(params_b: float = 7.0, gpus: int = 16, kind: Kind = "dense", experts: int = 0, seed: int = 1) -> specs.AppDef:
    """Pretrains.

    Args:
        params_b: billions of parameters
        gpus: all
        kind: dense or moe
        experts: experts
        seed: seed
    """
    plan = _plan(params_b, gpus)
    nodes = -(-gpus // 8)
    args = ["--nnodes", str(nodes), "pretrain.py", *plan.flags(), "--seed=%02d" % seed]
    args += ["--experts", str(experts)] if kind == "moe" else []
    name = f"{kind}-{params_b:g}b"
    return specs.AppDef(name=name, roles=[role_of(name="trainer", args=args, num_replicas=nodes, env={"LOGS": log_dir(name), "WORLD": f"{plan.world()}"},
                                                  resource=specs.Resource(cpu=96, gpu=8, memMB=1000 * GiB))])
