import asyncio
import os
import time
import urllib.request
from typing import Optional

import aiohttp
import torchx.runner as runner
import torchx.specs as specs
from torchx.components.utils import python as utils_python

IMAGE_NAME = "ghcr.io/huggingface/text-generation-inference"
IMAGE_VERSION = "1.1.1"


class Generator:
    def __init__(self, path_or_name, image_name: str = IMAGE_NAME, num_gpus: int = 1, max_wait_seconds: int = 1800) -> None:
        self.path_or_name = path_or_name
        self.image_name = image_name
        self.num_gpus = num_gpus
        self.max_wait_seconds = max_wait_seconds
        self.app_handle = None

    def __enter__(self):
        self.start()
        return self

    def start(self):
        with runner.get_runner() as r:
            self.app_handle = r.run(get_tgi_app_def(self.path_or_name), scheduler="local_docker")
        start = time.time()
        while not self.ready():
            if time.time() - start > self.max_wait_seconds:
                raise TimeoutError("it took too long")
            time.sleep(1)

    def ready(self) -> bool:
        try:
            return urllib.request.urlopen("http://localhost/health").getcode() == 200
        except Exception:
            return False


async def generate(http_address: str, prompt: int):
    async with aiohttp.ClientSession() as session:
        async with session.post(http_address, json={"inputs": prompt}) as response:
            return await response.json()


def get_tgi_app_def(
    path_or_name: str,
    image_name: str = IMAGE_NAME,
    image_version: str = IMAGE_VERSION,
    num_gpus: int = 1,
    mem_gb: int = 8,
) -> specs.AppDef:
    if os.path.isabs(path_or_name):
        args = ["/data"]
        mounts = [
            specs.BindMount(path_or_name, "/data"),
        ]
    else:
        args = [path_or_name]
        mounts = []

    if num_gpus > 1:
        args.extend(["--sharded", "true", "--num-shard", f"{num_gpus}"])

    app_def = specs.AppDef(
        name="generator",
        roles=[
            specs.Role(
                name="tgi",
                image=f"{image_name}:{image_version}",
                entrypoint="--model-id",
                args=args,
                num_replicas=1,
                resource=specs.Resource(cpu=1, gpu=num_gpus, memMB=mem_gb * 1024),
                mounts=mounts,
            ),
        ],
    )
    return app_def


if __name__ == "__main__":
    with Generator("x") as g:
        print(asyncio.run(generate(g.app_handle, "hi")))
