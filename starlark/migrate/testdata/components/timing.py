import getpass
import os
import socket
import uuid
from datetime import datetime

import torchx.specs as specs


def _run_id(prefix: str) -> str:
    stamp = datetime.now().strftime("%Y%m%d-%H%M%S")
    return f"{prefix}-{stamp}-{uuid.uuid4().hex[:8]}"


def job(name: str = "exp", image: str = "x") -> specs.AppDef:
    """A job with an ID of its own.

    Args:
        name: prefix of the run
        image: image
    """
    return specs.AppDef(
        name=name,
        roles=[specs.Role(name="r", image=image, entrypoint="echo", env={"USER": getpass.getuser()}, args=["hello"])],
    )
