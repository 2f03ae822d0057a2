"""Launches experiments from this repository."""
from __future__ import annotations

import os
import sys
from pathlib import Path

from torchx import specs

ROOT = Path(__file__).resolve().parent
CONFIGS = ROOT / "configs"
HERE = os.path.dirname(os.path.abspath(__file__))
WORKDIR = os.path.abspath(".")


def evaluate(config: str = "base.yaml", out: str = "./out", debug: bool = False) -> specs.AppDef:
    """Evaluates a checkpoint.

    Args:
        config: name below configs
        out: folder of results
        debug: more logs
    """
    out_dir = Path(out).absolute()
    cfg = (CONFIGS / config).as_posix()
    cwd = Path.cwd()
    args = ["--config", cfg, "--out", str(out_dir), "--cwd", str(cwd / "data"), "--here", HERE, "--script", os.path.join(HERE, "eval.py")]
    if debug:
        args.append("--debug")
    return specs.AppDef(
        name="eval",
        roles=[
            specs.Role(
                name="eval",
                image=str(ROOT),
                entrypoint="python",
                args=args,
                env={"PYTHONPATH": os.pathsep.join([WORKDIR, str(Path(".").resolve().parent)]), "OUT": os.path.realpath(out)},
                mounts=[specs.BindMount(src_path=os.path.abspath(out), dst_path="/out")],
            )
        ],
    )
