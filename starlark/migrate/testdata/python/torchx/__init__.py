"""As much of TorchX as the component files in these tests use."""

__version__ = "0.8.0"
