from __future__ import annotations

from collections import defaultdict, OrderedDict, namedtuple
from functools import partial, reduce
from itertools import chain, product, islice
import operator
import textwrap
from typing import Callable, NamedTuple, TypedDict

from torchx import specs
from torchx.specs import Role, AppDef, Resource, macros

GB = 1024
Shape = namedtuple("Shape", ["nodes", "gpus"])


class Node(NamedTuple):
    name: str
    cpu: int = 4
    mem: int = 8 * GB


class Opts(TypedDict, total=False):
    lr: float
    name: str


NODES = [Node("head", cpu=8), Node("worker"), Node("store", mem=64 * GB)]
SHAPES = {"small": Shape(1, 1), "big": Shape(nodes=4, gpus=8)}
make_role = partial(Role, image="cluster:1", entrypoint="bash")

SCRIPT = textwrap.dedent("""\
    set -ex
    echo start
    exec ray start
""")


def _script(extra: str) -> str:
    return f"""
set -e
export ID={macros.app_id}
{extra}
""".strip()


def cluster(shape: str = "big", workers: int = 2, grid: str = "a,b:1,2") -> AppDef:
    """Starts a cluster.

    Args:
        shape: small or big
        workers: number of workers
        grid: two lists
    """
    s = SHAPES.get(shape, SHAPES["small"])
    env: dict[str, str] = {}
    counts = defaultdict(int)
    for node in NODES:
        counts[node.name[0]] += 1
        env[f"{node.name.upper()}_CPU"] = str(node.cpu)
    left, _, right = grid.partition(":")
    pairs = ["%s=%s" % (x, y) for x, y in product(left.split(","), right.split(","))]
    env["PAIRS"] = ";".join(pairs)
    env["COUNTS"] = ",".join(f"{k}{v}" for k, v in counts.items())
    total = sum(n.cpu * (workers if n.name == "worker" else 1) for n in NODES)
    roles = [
        make_role(
            name=node.name,
            args=["-c", _script(SCRIPT if node.name == "head" else "echo worker")],
            env={**env, "TOTAL": str(total)},
            num_replicas=workers if node.name == "worker" else 1,
            resource=Resource(cpu=node.cpu, gpu=s.gpus, memMB=node.mem),
            port_map={"gcs": 6379, **({"dash": 8265} if node.name == "head" else {})},
        )
        for node in NODES
    ]
    flat = list(chain(*[r.args for r in roles]))
    return AppDef("cluster", roles, metadata={"args": str(len(flat)), "nodes": str(s.nodes)})
