import os.path
from pathlib import Path, PurePosixPath
from typing import List

import torchx.specs as specs

ROOT = Path("/mnt") / "data"
CHECKPOINTS = ROOT.joinpath("ckpt", "v1")


def train(script: str = "src//pkg/./train.v2.py", out: str = "runs/../out", parts: List[str] = ["a", "b"]) -> specs.AppDef:
    """Paths without a file system

    Args:
        script: script
        out: output
        parts: parts
    """
    path = Path(script)
    work = Path(out) / "logs" / path.name
    dump_mount = Path(os.path.join("/x", out))
    return specs.AppDef(
        name=path.stem,
        roles=[
            specs.Role(
                name="r",
                image="i",
                entrypoint="run",
                args=[
                    str(path), path.name, path.stem, path.suffix, str(path.parent), path.parent.name, f"{work}", str(work.with_suffix(".log")), work.as_posix(),
                    str(ROOT), CHECKPOINTS.as_posix(), str("pre" / path), str(Path(*parts)), str(Path(".")), str(Path()), os.path.join(ROOT, "x"),
                    str(dump_mount / "outputs" / "x"), str(path.is_absolute()), str(path.with_name("other.py")), str(PurePosixPath("a", "/b", "c")), str(Path("/")),
                    str(path == Path("src/pkg/train.v2.py")), os.fspath(path), ":".join(str(p) for p in [ROOT, path]),
                ],
            )
        ],
    )
