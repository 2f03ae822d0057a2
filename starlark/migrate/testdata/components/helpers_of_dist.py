from typing import List, Optional, Tuple

import torchx.specs as specs
from torchx.components.dist import _args_join, _noquote, parse_nnodes
from torchx.util.types import none_throws


def _shape(j: str) -> Tuple[int, int]:
    low, high, procs, text = parse_nnodes(j)
    assert text, "no nodes"
    return high, procs


def elastic(script: str = "x.py", j: str = "1:2x4", m: Optional[str] = None) -> specs.AppDef:
    """Elastic job

    Arguments:
        script: the script
        j: shape
        m: module
    """
    min_nnodes, max_nnodes, nproc_per_node, nnodes_rep = parse_nnodes(j)
    nodes, procs = _shape(j)
    cmd: List[str] = ["run", _noquote("$HOST:1"), "two words", str(nodes * procs), none_throws(script)]
    return specs.AppDef(
        name="elastic",
        roles=[
            specs.Role(
                name="w",
                image="i",
                entrypoint="bash",
                args=["-c", _args_join(cmd), nnodes_rep, str(nproc_per_node), f"{max_nnodes:03d}"],
                min_replicas=min_nnodes,
                num_replicas=int(max_nnodes),
                retry_policy=specs.RetryPolicy.REPLICA,
            )
        ],
    )
