"""Tests of torchx_client with the binary that $TORCHX_BINARY names."""

from __future__ import annotations

import enum
import os
import tempfile
import unittest
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, List, Optional

import torchx_client as torchx


class RetryPolicy(str, enum.Enum):
    """As in torchx.specs."""

    APPLICATION = "APPLICATION"
    REPLICA = "REPLICA"


@dataclass
class Workspace:
    """As in torchx.specs."""

    projects: Dict[str, str] = field(default_factory=dict)


@dataclass
class SpecsRole:
    """A role as torchx.specs.Role has it."""

    name: str
    image: str
    min_replicas: Optional[int] = None
    base_image: Optional[str] = None
    entrypoint: str = "<MISSING>"
    args: List[str] = field(default_factory=list)
    env: Dict[str, str] = field(default_factory=dict)
    num_replicas: int = 1
    max_retries: int = 0
    retry_policy: RetryPolicy = RetryPolicy.APPLICATION
    resource: torchx.Resource = field(default_factory=torchx.Resource)
    port_map: Dict[str, int] = field(default_factory=dict)
    metadata: Dict[str, Any] = field(default_factory=dict)
    mounts: List[Any] = field(default_factory=list)
    workspace: Optional[Workspace] = None


class ClientTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.client = torchx.Client(os.environ["TORCHX_BINARY"], home=str(self.folder / "home"), cwd=folder.name)
        self.addCleanup(self.delete_runs)

    def delete_runs(self) -> None:
        for run in self.client.list_runs():
            run.cancel(wait=True)
            run.delete()

    def shell(self, text: str, **options: Any) -> torchx.Run:
        return self.client.run("utils.sh", "-c", text, **options)

    def test_run(self) -> None:
        run = self.shell("echo $GREETING; echo wrong >&2", env={"GREETING": "hello, you=all"})
        self.assertEqual(run.backend, "local")
        self.assertEqual(run.handle, f"local://torchx/{run.app_id}")
        lines = list(run.logs(follow=True))
        self.assertEqual({(line.stream, line.text) for line in lines}, {("stdout", "hello, you=all"), ("stderr", "wrong")})
        self.assertEqual([line.text for line in run.logs("sh", 0, stream="stderr")], ["wrong"])
        status = run.wait().raise_for_status()
        self.assertTrue(status.succeeded)
        self.assertEqual(status.exit_code, 0)

    def test_options(self) -> None:
        logs = self.folder / "logs, with=more"
        run = self.shell("exit 0", cfg={"log_dir": str(logs), "grace_period": 2.5}, tags={"team": "a"}, note="why not", wait=True)
        self.assertEqual((run.state, run.exit_code), ("SUCCEEDED", 0))
        self.assertTrue(logs.is_dir())
        self.assertEqual([r.handle for r in self.client.list_runs(tags={"team": "a"}, limit=5)], [run.handle])
        self.assertEqual(self.client.list_runs(tags={"team": "b"}), [])
        self.assertEqual(self.client.app("-").handle, run.handle)

    def test_failure(self) -> None:
        run = self.shell("exit 3", wait=True)
        self.assertEqual((run.state, run.exit_code), ("FAILED", 3))
        with self.assertRaises(torchx.AppFailed) as caught:
            run.status().raise_for_status()
        self.assertEqual(caught.exception.code, 3)
        self.assertIn("exit code 3", str(caught.exception))

    def test_cancel(self) -> None:
        run = self.shell("sleep 600")
        with self.assertRaises(TimeoutError):
            run.wait(timeout=0.1)
        run.cancel()
        self.assertEqual(run.wait().state, "CANCELLED")
        run.delete()
        with self.assertRaises(torchx.TorchxError) as caught:
            run.status()
        self.assertIn("was removed", caught.exception.message)

    def test_logs_stop(self) -> None:
        run = self.shell("while :; do echo line; sleep 0.01; done")
        for line in run.logs(follow=True):
            self.assertEqual(line.text, "line")
            break  # the reader ends with its program

    def test_metrics(self) -> None:
        run = self.shell("""for v in 2 1; do echo "{\\"loss\\": $v, \\"step\\": $v}"; done >> "$TORCHX_METRICS" """)
        run.wait().raise_for_status()
        loss = run.metrics("loss")[0]
        self.assertEqual((loss.name, loss.values, loss.steps, loss.last, loss.min), ("loss", [2.0, 1.0], [2, 1], 1.0, 1.0))
        self.assertLessEqual(loss.times[0], loss.times[1])

    def test_errors(self) -> None:
        for call, code, message in (
            (lambda: self.client.run("utils.nosuch"), 1, 'no function "nosuch"'),
            (lambda: self.client.run("utils.echo", "--nosuch"), 2, "unknown option"),
            (lambda: self.client.run("utils.echo", cfg={"grace_period": "long"}), 1, "grace_period"),
            (lambda: self.client.submit({"name": "a", "roles": [{"name": "r"}]}), 1, "app.roles[0].entrypoint: is missing"),
            (lambda: list(self.client.logs("nosuch")), 1, "no app"),
            (lambda: torchx.Client("nosuch-program").status("-"), 127, "cannot start nosuch-program"),
            (lambda: list(torchx.Client("nosuch-program").logs("-")), 127, "cannot start nosuch-program"),
        ):
            with self.assertRaises(torchx.TorchxError) as caught:
                call()
            self.assertEqual(caught.exception.code, code, caught.exception)
            self.assertIn(message, caught.exception.message)
        with self.assertRaises(ValueError):
            self.client.run("utils.echo", cfg={"log_dir": "'\""})
        with self.assertRaises(TypeError):
            self.client.submit("utils.echo")

    def test_submit(self) -> None:
        role = torchx.Role("r", entrypoint="sh", args=["-c", "echo $A ${replica_id}"], env={"A": "1"}, num_replicas=2)
        role.resource.cpu = 0.5
        app = torchx.AppDef("mine", [role])
        run = self.client.submit(app, backend="local", cfg={"grace_period": 3}, wait=True)
        self.assertEqual(run.state, "SUCCEEDED")
        self.assertEqual(sorted(line.text for line in run.logs()), ["1 0", "1 1"])
        same = {"name": "mine", "roles": [{"name": "r", "entrypoint": "true"}]}
        self.assertTrue(self.client.submit(same).wait().succeeded)

    def test_submit_specs(self) -> None:
        mounts = [
            torchx.BindMount("/a", "/b", read_only=True),
            torchx.VolumeMount("v", "/c"),
            torchx.DeviceMount("/dev/x", "/dev/x"),
        ]
        role = SpecsRole(
            "r",
            "",
            entrypoint="true",
            max_retries=1,
            retry_policy=RetryPolicy.REPLICA,
            mounts=mounts,
            workspace=Workspace({str(self.folder): ""}),
        )
        app = torchx.AppDef("specs", [role], {"k": {"v": 1}})  # type: ignore[list-item]
        plain = torchx.app_json(app)
        self.assertEqual(plain["metadata"], {"k": {"v": 1}})
        self.assertEqual(plain["roles"][0]["retry_policy"], "REPLICA")
        self.assertEqual(plain["roles"][0]["workspace"], {"projects": {str(self.folder): ""}})
        self.assertEqual([m["kind"] for m in plain["roles"][0]["mounts"]], ["BindMount", "VolumeMount", "DeviceMount"])
        self.assertTrue(self.client.submit(app).wait().succeeded)
        role.base_image = "old"
        with self.assertRaisesRegex(ValueError, "base_image"):
            torchx.app_json(app)


if __name__ == "__main__":
    unittest.main()
