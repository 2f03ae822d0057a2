import argparse
import json
import os
import sys
from typing import Any, Dict, List, Optional, Sequence

import torchx.specs as specs
from torchx.specs import macros

LEARNER = "learner"
ACTOR = "actor"
ROLES = (LEARNER, ACTOR, "replay")
PORTS = {LEARNER: 5000, ACTOR: 5001, "replay": 5002}
BASE_ENV = {
    "PYTHONUNBUFFERED": "1",
    "OMP_NUM_THREADS": "1" if os.environ.get("NO_SUCH") is None else "2",
}


def parse_kv(text: str, sep: str = "=") -> Dict[str, str]:
    pairs = [p.split(sep, maxsplit=1) for p in text.split(";") if sep in p]
    return {k.strip(): v.strip() for k, v in pairs}


def build_args(role: str, cfg: Dict[str, Any]) -> List[str]:
    args = ["-m", f"fleet.{role}"]
    for key in sorted(cfg):
        val = cfg[key]
        if val is True:
            args.append(f"--{key}")
        elif val is False or val is None:
            pass
        elif isinstance(val, dict):
            args += [f"--{key}", json.dumps(val)]
        elif isinstance(val, list):
            args += [f"--{key}", *map(str, val)]
        else:
            args.extend((f"--{key}", str(val)))
    return args


def fleet(
    actors: int = 4,
    env_name: str = "CartPole-v1",
    extra: str = "A=1; B = two",
    gpu: bool = True,
    hidden: Optional[List[int]] = None,
    run_id: Optional[str] = None,
) -> specs.AppDef:
    """
    Runs a fleet of actors and a learner.

    Args:
        actors: number of actors
        env_name: the environment
        extra: more variables
        gpu: the learner has one
        hidden: sizes of layers
        run_id: the run
    """
    if actors <= 0:
        print("no actors", file=sys.stderr)
        sys.exit(2)
    hidden = hidden or [64, 64]
    run = run_id or macros.app_id
    env = {**BASE_ENV, **parse_kv(extra), "RUN_ID": run}
    cfgs: Dict[str, Dict[str, Any]] = {name: {"env": env_name, "port": PORTS[name], "verbose": name == LEARNER} for name in ROLES}
    cfgs[LEARNER].update(hidden=hidden, gpu=gpu, opt={"lr": 0.001, "eps": 1e-08})
    cfgs[ACTOR]["peer"] = f"$${{{macros.rank0_env}:-localhost}}:{PORTS[LEARNER]}"
    counts = dict.fromkeys(ROLES, 1)
    counts[ACTOR] = actors
    roles: List[specs.Role] = []
    for name in ROLES:
        is_learner = name == LEARNER
        roles.append(specs.Role(
            name=name, image="fleet:%s" % ("gpu" if gpu and is_learner else "cpu"), entrypoint="python",
            args=build_args(name, cfgs[name]), env={k: v for k, v in env.items()} if is_learner else dict(env, ROLE=name.upper()),
            num_replicas=counts[name], port_map={name: PORTS[name]},
            resource=specs.Resource(cpu=8 if is_learner else 2, gpu=int(gpu and is_learner), memMB=(16 if is_learner else 4) << 10),
        ))
    order = sorted(roles, key=lambda r: (r.num_replicas, r.name), reverse=True)
    assert len({r.name for r in order}) == len(ROLES), "names must differ"
    return specs.AppDef(name=f"fleet-{env_name.lower().replace('_', '-')}".split("/")[0], roles=order)
