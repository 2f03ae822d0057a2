from torchx.specs.api import Resource


def aws_p4d_24xlarge():
    return Resource(96, 8, 1104)


def aws_p3_2xlarge():
    return Resource(8, 1, 1)
