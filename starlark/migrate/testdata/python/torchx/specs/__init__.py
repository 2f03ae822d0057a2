from .api import *  # noqa
from . import overlays  # noqa
