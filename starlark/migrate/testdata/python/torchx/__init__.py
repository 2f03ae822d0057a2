"""As much of TorchX as the component files in these tests use, written from what it does."""

from .version import TORCHX_IMAGE as IMAGE, __version__  # noqa
