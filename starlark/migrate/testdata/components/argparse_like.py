import argparse
import logging
import shlex
import sys
from typing import Iterable, Mapping, Sequence

import torchx.specs as specs
import torchx.components.utils as utils

log = logging.getLogger(__name__)
logging.basicConfig(level=logging.INFO)


def to_flags(options: Mapping[str, object]) -> list[str]:
    flags: list[str] = []
    for key, value in sorted(options.items(), key=lambda kv: kv[0]):
        flag = "--" + key.replace("_", "-")
        if value is None:
            continue
        if isinstance(value, bool):
            if value:
                flags.append(flag)
        elif isinstance(value, (list, tuple)):
            for item in value:
                flags.extend([flag, str(item)])
        else:
            flags += [flag, str(value)]
    return flags


def sweep(lr: float = 0.1, batch_sizes: str = "16,32,64", dropout: float = 0.0, fp16: bool = False, seed: int = 0) -> specs.AppDef:
    """One role for each batch size.

    Args:
        lr: learning rate
        batch_sizes: comma-separated
        dropout: of all layers
        fp16: half precision
        seed: 0 means none
    """
    sizes = [int(b) for b in batch_sizes.split(",") if b.strip().isdigit()]
    if not sizes:
        log.warning("no batch size in %s, using 16", batch_sizes)
        sizes = [16]
    roles = []
    for i, size in enumerate(sizes, start=1):
        options = dict(lr=lr, batch_size=size, dropout=dropout or None, fp16=fp16, seed=seed if seed else None, gpus=(0, 1))
        cmd = " ".join(shlex.quote(f) for f in to_flags(options))
        roles.append(
            specs.Role(
                name=f"trial-{i:02d}",
                image="sweep",
                entrypoint="/bin/sh",
                args=["-c", f"python train.py {cmd}"],
                env={"TRIAL": str(i), "OF": f"{len(sizes)}", "PCT": "{:.1%}".format(i / len(sizes))},
            )
        )
    log.info("%d roles", len(roles))
    return specs.AppDef(name="sweep", roles=roles, metadata={"sizes": str(sizes)})


def shell(*cmd: str, timeout: int = 60) -> specs.AppDef:
    """Runs a command with a timeout."""
    return utils.sh("timeout", str(timeout), *cmd, image="busybox", env={"A": "b"})


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float)
    print(sweep(**vars(parser.parse_args())), file=sys.stderr)


if __name__ == "__main__":
    main()
