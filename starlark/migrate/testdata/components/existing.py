import os
from pathlib import Path

import torchx.specs as specs

REPO = Path(__file__).absolute().parents[0]
DATA = Path.home() / "data"
SCRIPTS = os.path.join(os.path.dirname(os.path.realpath(__file__)), "scripts")


def launch(script: str = "train.sh", config: str = "conf/base.yaml", out: str = "~/runs") -> specs.AppDef:
    """Launches a script of the repository.

    Args:
        script: in scripts
        config: a file
        out: folder of the results
    """
    path = Path(SCRIPTS) / script
    config_path = Path(config)
    if not config_path.is_absolute():
        config_path = REPO / config_path
    out = os.path.expanduser(out)
    if not os.path.isdir("/"):
        raise FileNotFoundError(out)
    assert Path("/").exists(), "no root"
    rel = os.path.join(*config_path.parts[-2:])
    name = config_path.with_suffix("").name
    return specs.AppDef(
        name=name,
        roles=[
            specs.Role(
                name="main", image=f"{REPO}", entrypoint=str(path), args=["--config", str(config_path), "--rel", rel, "--out", os.path.join(out, name), "--data", str(DATA)],
                env={"REPO": REPO.name, "CONF_DIR": str(config_path.parent), "EXT": config_path.suffix, "PARENT": REPO.parent.name},
                mounts=[specs.BindMount(str(DATA), "/data", read_only=True), specs.BindMount(str(REPO), "/repo")],
            )
        ],
    )
