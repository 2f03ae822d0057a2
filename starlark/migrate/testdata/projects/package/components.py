from torchx.specs import AppDef, Role

from shared import env as shared_env
from shared.env import DEFAULT_ENV, named
import shared.names


def hello(who: str = "you") -> AppDef:
    """Greets.

    Args:
        who: whom
    """
    return AppDef(name=named("hello"), roles=[Role(name=shared_env.named(who.split("/")[0]), image="", entrypoint="echo", args=[shared.names.PREFIX], env=DEFAULT_ENV)])
