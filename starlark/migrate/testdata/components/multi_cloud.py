import os
from typing import Dict, List, Optional
import torchx.specs as specs


class CloudConfig:
    REGION = "us-east-1"
    BUCKETS = {"dev": "s3://dev-bucket", "prod": "s3://prod-bucket"}

    def __init__(self, stage: str = "dev"):
        if stage not in self.BUCKETS:
            raise ValueError("unknown stage: {}".format(stage))
        self.stage = stage
        self.bucket = self.BUCKETS[stage]
        self.tags: Dict[str, str] = {}
        self.tags["stage"] = stage

    def path(self, *parts: str) -> str:
        return "/".join((self.bucket.rstrip("/"),) + parts)

    @classmethod
    def from_env(cls) -> "CloudConfig":
        return cls(os.getenv("STAGE", "dev"))

    def env(self) -> Dict[str, str]:
        env = {"AWS_REGION": self.REGION, "BUCKET": self.bucket}
        for key, value in self.tags.items():
            env[f"TAG_{key.upper()}"] = value
        return env


def _log_args(cfg: CloudConfig, run: str) -> List[str]:
    return ["--log-dir", cfg.path("logs", run), "--ckpt-dir", cfg.path("ckpt", run, "latest")]


def train(run: str = "run1", stage: Optional[str] = None, gpus: int = 1, spot: bool = False) -> specs.AppDef:
    """Trains in the cloud.

    Args:
        run: name
        stage: dev or prod
        gpus: how many
        spot: use spot instances
    """
    cfg = CloudConfig(stage if stage in CloudConfig.BUCKETS else "prod") if stage else CloudConfig.from_env()
    retries = 0
    if spot:
        retries += 5
    tags = {"spot": str(spot), "stage": cfg.stage}
    return specs.AppDef(
        name=run.split("/")[-1].split(".")[0],
        roles=[specs.Role(name="train", image="train", entrypoint="python", args=["train.py"] + _log_args(cfg, run), env=cfg.env(),
                          resource=specs.Resource(cpu=4, gpu=gpus, memMB=8192, tags=tags), max_retries=retries)],
    )
