TORCHX_IMAGE = "image:test"
__version__ = "0.8.0"
