import enum
import logging
from enum import Enum
from typing import Dict

from torchx import specs

log: logging.Logger = logging.getLogger(__name__)
logging.basicConfig(level=logging.INFO)


class Size(str, Enum):
    SMALL = "small"
    LARGE = "large"


class Region(enum.Enum):
    """Where"""

    EU = "eu-west"
    US = "us-east"


class Images:
    TRAIN = "train:1"
    EVAL = "base:2"


SHAPES: Dict[str, str] = {Size.SMALL: "cpu.small", Size.LARGE: "gpu.medium"}
NAMES = [size.value for size in Size]


def sized(size: Size = Size.SMALL, region: str = "EU", lookup: str = "small") -> specs.AppDef:
    """By size.

    Args:
        size: how large
        region: where
        lookup: what
    """
    if size not in SHAPES:
        raise KeyError(f"{size.value} is none of {', '.join(sorted(SHAPES))}")
    where = Region.EU if region == "EU" else Region.US
    log.info(f"region {where.name}")
    log.debug("nothing %s", where)
    args = [size, Size(lookup), Size.LARGE.value, Size.LARGE.name, where.value, Region["US"].value, Region("eu-west").name, *NAMES, *[r.value for r in Region]]
    args.append("yes" if size == Size.SMALL else "no")
    return specs.AppDef("sized", [specs.Role("r", Images.TRAIN, entrypoint="e", args=args, resource=specs.resource(h=SHAPES[size]))])
