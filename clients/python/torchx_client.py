"""Run and watch apps with torchx from Python.

One file without dependencies, for Python 3.9 and later: copy it beside your program. It starts
the binary `torchx` and reads its JSON, so that it knows no more than the command line does.

    import torchx_client as torchx

    run = torchx.run("utils.echo", "--msg", "hello")
    for line in run.logs(follow=True):
        print(line.role, line.replica, line.text)
    run.wait().raise_for_status()
"""

from __future__ import annotations

import dataclasses
import enum
import json
import os
import subprocess
import tempfile
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Union

__all__ = [
    "AppDef",
    "AppFailed",
    "BindMount",
    "Client",
    "DeviceMount",
    "LogLine",
    "Resource",
    "Role",
    "Run",
    "Series",
    "Status",
    "TorchxError",
    "VolumeMount",
    "app",
    "cancel",
    "list_runs",
    "logs",
    "metrics",
    "run",
    "status",
    "submit",
    "wait",
]

TIMEOUT = 124  # exit code of `torchx wait --timeout`


class TorchxError(Exception):
    """A command failed. `message` is what it printed, `code` its exit code.

    1: the command failed, 2: wrong usage, 124: a time limit, 125: the app could not be started.
    """

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.message = message
        self.code = code


class AppFailed(TorchxError):
    """An app ended as FAILED or CANCELLED. `status` says more."""

    def __init__(self, status: Status) -> None:
        super().__init__(f"{status.handle} {status.state}: {status.msg or 'no reason is known'}", status.exit_code or 1)
        self.status = status


# What an app is, with the names and defaults of TorchX.


@dataclass
class Resource:
    """What one replica needs. cpu: CPUs, gpu: GPUs, memMB: MiB; -1 for what is not given."""

    cpu: float = -1
    gpu: int = -1
    memMB: int = -1  # noqa: N815, the name of TorchX
    capabilities: Dict[str, Any] = field(default_factory=dict)
    devices: Dict[str, int] = field(default_factory=dict)
    tags: Dict[str, Any] = field(default_factory=dict)


@dataclass
class BindMount:
    """A file or folder of the host."""

    src_path: str
    dst_path: str
    read_only: bool = False


@dataclass
class VolumeMount:
    """A named volume."""

    src: str
    dst_path: str
    read_only: bool = False


@dataclass
class DeviceMount:
    """A device of the host. permissions: letters of rwm."""

    src_path: str
    dst_path: str
    permissions: str = "rwm"


@dataclass
class Role:
    """One kind of process of an app, run as num_replicas replicas."""

    name: str
    image: str = ""
    entrypoint: str = ""
    args: List[str] = field(default_factory=list)
    env: Dict[str, str] = field(default_factory=dict)
    num_replicas: int = 1
    min_replicas: Optional[int] = None
    max_retries: int = 0
    retry_policy: str = "APPLICATION"  # or REPLICA, ROLE
    resource: Resource = field(default_factory=Resource)
    port_map: Dict[str, int] = field(default_factory=dict)
    metadata: Dict[str, Any] = field(default_factory=dict)
    mounts: List[Union[BindMount, VolumeMount, DeviceMount]] = field(default_factory=list)


@dataclass
class AppDef:
    """Roles that start and end together."""

    name: str
    roles: List[Role] = field(default_factory=list)
    metadata: Dict[str, Any] = field(default_factory=dict)


# What the program says about apps.


@dataclass(frozen=True)
class Status:
    """The state of an app. `data` has all that `torchx status --json` printed."""

    handle: str
    state: str
    exit_code: Optional[int]
    msg: Optional[str]
    num_restarts: int
    data: Dict[str, Any] = field(repr=False)

    @property
    def is_terminal(self) -> bool:
        """Whether the app has ended."""
        return self.state in ("SUCCEEDED", "FAILED", "CANCELLED")

    @property
    def succeeded(self) -> bool:
        """Whether the app ended without a failure."""
        return self.state == "SUCCEEDED"

    def raise_for_status(self) -> Status:
        """Return the status. Raises AppFailed if the app has ended and did not succeed."""
        if self.is_terminal and not self.succeeded:
            raise AppFailed(self)
        return self


@dataclass(frozen=True)
class LogLine:
    """A line of output. stream: stdout, stderr or combined."""

    time: Optional[datetime]
    role: str
    replica: int
    attempt: int
    stream: str
    text: str


@dataclass(frozen=True)
class Series:
    """The values of one metric of one replica. `data` has all that `torchx metrics --json` printed."""

    role: str
    replica: int
    name: str
    last: float
    min: Optional[float]
    max: Optional[float]
    steps: List[Optional[int]]
    times: List[datetime]
    values: List[float]
    data: Dict[str, Any] = field(repr=False)


@dataclass(frozen=True)
class Run:
    """An app that was submitted. `state` and `exit_code` are those that were known then."""

    handle: str
    app_id: str
    backend: str
    page_url: Optional[str] = None
    state: Optional[str] = None
    exit_code: Optional[int] = None
    client: Client = field(default=None, repr=False, compare=False)  # type: ignore[assignment]

    def status(self) -> Status:
        """Return the state of the app."""
        return self.client.status(self.handle)

    def wait(self, timeout: Optional[float] = None) -> Status:
        """Wait until the app has ended. Raises TimeoutError after timeout seconds."""
        return self.client.wait(self.handle, timeout)

    def logs(self, role: Optional[str] = None, replica: Optional[int] = None, **options: Any) -> Iterator[LogLine]:
        """Iterate over lines of output, see Client.logs."""
        return self.client.logs(self.handle, role, replica, **options)

    def metrics(self, *names: str) -> List[Series]:
        """Return the metrics with these names, all without names."""
        return self.client.metrics(self.handle, *names)

    def cancel(self, wait: bool = False) -> None:
        """Ask the app to end."""
        self.client.cancel(self.handle, wait)

    def delete(self) -> None:
        """Remove the app with its logs. A live app is cancelled first."""
        self.client.command("delete", "--yes", self.handle)


class Client:
    """The program to start. binary: its name or path, home: $TORCHX_HOME, cwd: the folder whose
    .torchxconfig and components apply, env: variables that replace those of this process."""

    def __init__(
        self,
        binary: str = "torchx",
        home: Optional[str] = None,
        cwd: Optional[str] = None,
        env: Optional[Mapping[str, str]] = None,
    ) -> None:
        self.binary = binary
        self.cwd = cwd
        self.env = dict(os.environ if env is None else env)
        if home is not None:
            self.env["TORCHX_HOME"] = os.path.abspath(home)

    def command(self, *args: str, stdin: Optional[str] = None) -> str:
        """Return what `torchx ARGS` prints to stdout. Raises TorchxError with what it prints to stderr."""
        done = self._start(args, stdin)
        if done.returncode != 0:
            raise TorchxError(_reason(done.stderr), done.returncode)
        return done.stdout

    def run(
        self,
        component: str,
        *args: object,
        backend: Optional[str] = None,
        cfg: Optional[Mapping[str, Any]] = None,
        env: Optional[Mapping[str, str]] = None,
        tags: Optional[Mapping[str, str]] = None,
        note: Optional[str] = None,
        timeout: Optional[str] = None,
        workspace: Optional[str] = None,
        wait: bool = False,
    ) -> Run:
        """Run a component with its arguments as on the command line: run("dist.ddp", "-j", "1x2").

        cfg: options of the backend, env: variables of all roles, timeout: a limit like "2h". Returns
        once the app has started, with wait once it has ended.
        """
        options = ["--json"]
        options += _given("--backend", backend) + _given("--note", note)
        options += _given("--timeout", timeout) + _given("--workspace", workspace)
        if cfg:
            options += ["-cfg", _pairs(cfg)]
        for key, value in (env or {}).items():
            options += ["--env", f"{key}={value}"]
        return self._submit(["run"] + options, tags, wait, [component] + [str(a) for a in args])

    def submit(
        self,
        app: object,
        backend: Optional[str] = None,
        cfg: Optional[Mapping[str, Any]] = None,
        tags: Optional[Mapping[str, str]] = None,
        note: Optional[str] = None,
        timeout: Optional[str] = None,
        wait: bool = False,
    ) -> Run:
        """Run an app: an AppDef of this file or of torchx.specs, or a dict with their names.

        Returns once the app has started, with wait once it has ended.
        """
        plan = json.dumps({"app": app_json(app), "cfg": dict(cfg or {})})
        options = ["--json"]
        options += _given("--backend", backend) + _given("--note", note) + _given("--timeout", timeout)
        return self._submit(["submit"] + options, tags, wait, ["-"], plan)

    def app(self, handle: str) -> Run:
        """Return a past app by its handle, a unique prefix of its ID or "-" for the most recent one."""
        data = json.loads(self.command("describe", "--json", handle))
        handle = data["handle"]
        return Run(handle, data["app_id"], handle.split("://", 1)[0], client=self)

    def status(self, handle: str) -> Status:
        """Return the state of an app."""
        return _status(json.loads(self.command("status", "--json", handle)))

    def wait(self, handle: str, timeout: Optional[float] = None) -> Status:
        """Wait until an app has ended. Raises TimeoutError after timeout seconds."""
        limit = [] if timeout is None else ["--timeout", f"{max(timeout, 0.001):.3f}s"]
        done = self._start(["wait", "--quiet", *limit, handle])
        status = self.status(handle)
        if status.is_terminal:
            return status
        if done.returncode == TIMEOUT and timeout is not None:
            raise TimeoutError(f"{status.handle} has not ended after {timeout:g} s: it is {status.state}")
        raise TorchxError(_reason(done.stderr), done.returncode)

    def logs(
        self,
        handle: str,
        role: Optional[str] = None,
        replica: Optional[int] = None,
        *,
        follow: bool = False,
        stream: str = "combined",
        lines: Optional[int] = None,
        regex: Optional[str] = None,
        since: Optional[str] = None,
        until: Optional[str] = None,
        attempt: Optional[int] = None,
    ) -> Iterator[LogLine]:
        """Iterate over lines of output, with follow until the app has ended.

        lines: only the last ones, regex: RE2 that lines match, since and until: RFC 3339 or an age
        like "10m". What is missing from a log raises TorchxError at the end.
        """
        what = handle
        if role is not None:
            what += "/" + role
        if replica is not None:
            if role is None:
                raise ValueError("logs of a replica need its role")
            what += f"/{replica}"
        args = ["log", "--json", "--streams", stream, *(["--follow"] if follow else [])]
        args += _given("--lines", lines) + _given("--regex", regex) + _given("--since", since)
        args += _given("--until", until) + _given("--attempt", attempt)
        return self._log_lines([*args, what])

    def metrics(self, handle: str, *names: str) -> List[Series]:
        """Return the metrics of an app with these names, all without names."""
        return [_series(s) for s in json.loads(self.command("metrics", "--json", handle, *names))]

    def cancel(self, handle: str, wait: bool = False) -> None:
        """Ask an app to end, and with wait return when it has."""
        self.command("cancel", "--yes", *(["--wait"] if wait else []), handle)

    def list_runs(
        self,
        backend: Optional[str] = None,
        state: Optional[str] = None,
        tags: Optional[Mapping[str, str]] = None,
        since: Optional[str] = None,
        limit: Optional[int] = None,
    ) -> List[Run]:
        """Return past apps, the newest first: all without limit."""
        args = ["list", "--json"] + (["--all"] if limit is None else ["--limit", str(limit)])
        args += _given("--backend", backend) + _given("--state", state) + _given("--since", since) + _tags(tags)
        return [
            Run(a["handle"], a["app_id"], a["backend"], None, a["state"], a["exit_code"], self)
            for a in json.loads(self.command(*args))
        ]

    def _submit(
        self,
        command: List[str],
        tags: Optional[Mapping[str, str]],
        wait: bool,
        rest: List[str],
        stdin: Optional[str] = None,
    ) -> Run:
        how = "--wait" if wait else "--detach"
        done = self._start([*command, *_tags(tags), how, *rest], stdin)
        if not done.stdout.strip() or done.returncode != 0 and not wait:
            raise TorchxError(_reason(done.stderr), done.returncode)
        a = json.loads(done.stdout)
        return Run(a["handle"], a["app_id"], a["backend"], a["page_url"], a["state"], a["exit_code"], self)

    def _start(self, args: Sequence[str], stdin: Optional[str] = None) -> subprocess.CompletedProcess[str]:
        try:
            return subprocess.run(
                [self.binary, *args],
                input=stdin,
                stdin=subprocess.DEVNULL if stdin is None else None,
                capture_output=True,
                encoding="utf-8",
                errors="surrogateescape",
                env=self.env,
                cwd=self.cwd,
            )
        except OSError as e:
            raise self._not_started(e) from e

    def _not_started(self, cause: OSError) -> TorchxError:
        return TorchxError(f"cannot start {self.binary}: {cause.strerror}", 127)

    def _log_lines(self, args: List[str]) -> Iterator[LogLine]:
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as messages:
            try:
                process = subprocess.Popen(
                    [self.binary, *args],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=messages,
                    encoding="utf-8",
                    env=self.env,
                    cwd=self.cwd,
                )
            except OSError as e:
                raise self._not_started(e) from e
            assert process.stdout is not None
            try:
                for text in process.stdout:
                    v = json.loads(text)
                    yield LogLine(
                        _time(v["time"]), v["role"], v["replica"], v["attempt"], v["stream"], v["line"]
                    )
                code = process.wait()
            finally:  # also when the caller stops reading
                process.stdout.close()
                process.terminate()
                process.wait()
            if code != 0:
                messages.seek(0)
                raise TorchxError(_reason(messages.read()), code)


def app_json(app: object) -> Dict[str, Any]:
    """Return an app as `torchx submit` reads it, see docs/schema/app.json."""
    if isinstance(app, Mapping):
        return dict(app)
    fields = _fields(app)
    roles = [_role(_fields(role)) for role in fields["roles"]]
    return {"name": fields["name"], "roles": roles, "metadata": _plain(fields.get("metadata") or {})}


def _role(fields: Dict[str, Any]) -> Dict[str, Any]:
    known = {f.name for f in dataclasses.fields(Role)} | {"workspace"}
    for name, value in fields.items():
        if name not in known and value:
            raise ValueError(f"role {fields['name']}: {name} is unknown to torchx")
    plain = {name: _plain(value) for name, value in fields.items() if name in known}
    plain["mounts"] = [{"kind": type(m).__name__, **_plain(m)} for m in fields.get("mounts") or []]
    return plain


def _fields(value: object) -> Dict[str, Any]:
    """Return the fields of a dataclass, not those of the values in it."""
    if not dataclasses.is_dataclass(value):
        raise TypeError(f"{value!r} is not an app: want an AppDef or a dict")
    return {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}


def _plain(value: Any) -> Any:
    """Return a value of JSON."""
    if isinstance(value, enum.Enum):
        return value.name
    if dataclasses.is_dataclass(value):
        return _plain(_fields(value))
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items() if not callable(v)}
    if isinstance(value, (list, tuple, set)):
        return [_plain(v) for v in value]
    return os.fspath(value) if isinstance(value, os.PathLike) else value


def _pairs(cfg: Mapping[str, Any]) -> str:
    """Return options as the value of -cfg."""
    return ",".join(f"{key}={_option(key, value)}" for key, value in cfg.items())


def _option(key: str, value: Any) -> str:
    if value is None or isinstance(value, (bool, int, float)):
        return str(value)
    if isinstance(value, (list, tuple)):
        return ";".join(_option(key, v) for v in value)
    if isinstance(value, Mapping):
        return ";".join(f"{k}:{v}" for k, v in value.items())
    text = str(value)
    if text and text != "None" and text == text.strip() and not any(c in text for c in ",;='\"\\"):
        return text
    quote = "'" if '"' in text else '"'
    if quote in text or "\\" in text:
        raise ValueError(f"{key}: -cfg cannot express {text!r}: use submit, or .torchxconfig")
    return quote + text + quote


def _tags(tags: Optional[Mapping[str, str]]) -> List[str]:
    all_tags: List[str] = []
    for key, value in (tags or {}).items():
        all_tags += ["--tag", f"{key}={value}"]
    return all_tags


def _given(flag: str, value: object) -> List[str]:
    return [] if value is None else [flag, str(value)]


def _reason(stderr: str) -> str:
    """Return the errors that a command printed, else all of what it printed."""
    lines = [line for line in stderr.splitlines() if line.strip()]
    errors = [line.split("error: ", 1)[1] for line in lines if line.startswith("torchx: error: ")]
    return "\n".join(errors or lines)


def _status(v: Dict[str, Any]) -> Status:
    return Status(v["handle"], v["state"], v["exit_code"], v["msg"], v["num_restarts"], v)


def _series(v: Dict[str, Any]) -> Series:
    points = v["points"]
    return Series(
        v["role"],
        v["replica"],
        v["name"],
        float(v["last"]),
        v["min"],
        v["max"],
        [p["step"] for p in points],
        [_instant(p["time"]) for p in points],
        [float(p["value"]) for p in points],
        v,
    )


def _time(text: Optional[str]) -> Optional[datetime]:
    return None if text is None else _instant(text)


def _instant(text: str) -> datetime:
    """Parse RFC 3339 in UTC; Python keeps microseconds."""
    seconds, _, fraction = text.rstrip("Z").partition(".")
    return datetime.fromisoformat(f"{seconds}.{(fraction + '000000')[:6]}+00:00")


_default = Client()
run = _default.run
submit = _default.submit
app = _default.app
status = _default.status
wait = _default.wait
logs = _default.logs
metrics = _default.metrics
cancel = _default.cancel
list_runs = _default.list_runs
