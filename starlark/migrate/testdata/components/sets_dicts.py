import os
import torchx.specs as specs
from typing import Dict, Optional, Set

ALLOWED: Set[str] = {"WANDB_API_KEY", "HF_TOKEN", "TORCHX_SET", "USER"}
SECRETS = frozenset(["HF_TOKEN"])


def forwarded(names: Set[str] = ALLOWED) -> Dict[str, str]:
    return {k: os.environ[k] for k in sorted(names) if k in os.environ}


def notebook(image: str = "jupyter", port: int = 8888, env: Optional[Dict[str, str]] = None, packages: str = "numpy,pandas,numpy") -> specs.AppDef:
    """Starts a notebook.

    Args:
        image: image
        port: of the server
        env: more variables
        packages: to install
    """
    merged = forwarded()
    merged |= env or {}
    unique = list(dict.fromkeys(p.strip() for p in packages.split(",")))
    names = sorted(set(unique) - {"pandas"}, reverse=True)
    longest = max(names, key=len, default="none")
    first = next((n for n in names if n.startswith("n")), "none")
    n_upper = sum(1 for n in names if n.isupper())
    cmd = f"pip install {' '.join(unique)} && jupyter lab --port={port}"
    return specs.AppDef(
        name="notebook",
        roles=[specs.Role("notebook", image, entrypoint="sh", args=["-c", cmd], env={
            **merged, "LONGEST": longest, "FIRST": first, "ANY": str(any(SECRETS & ALLOWED)), "UPPER": str(n_upper),
            "HAS": "yes" if not SECRETS.isdisjoint(merged) else "no",
        }, port_map=dict(http=port))],
    )
