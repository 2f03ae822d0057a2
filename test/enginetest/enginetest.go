//go:build unix

// Package enginetest provides a real Docker Engine and an image to tests, only with
// TORCHX_REQUIRE=docker. It uses an engine that answers, or starts one in separate
// namespaces and stops it at the end. The kernel ends all of its processes if the tests
// die, and its bridge does not conflict with that of the machine's engine. It pulls
// nothing: the image contains this machine's busybox.
package enginetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/docker/docker/client"
)

// startTimeout bounds the wait for an engine to start.
const startTimeout = time.Minute

// Engine is an engine for tests.
type Engine struct {
	Host   string // value for DOCKER_HOST
	Client *client.Client

	o      Options
	dir    string // "": it was running before
	keeper *exec.Cmd
	alive  io.Closer // closing it ends all processes in the engine's namespaces
	ns     string    // PID of the first process in the namespaces, the keeper's child
	daemon *exec.Cmd // nsenter, with dockerd as its child
}

// MissingError is the reason why no engine is available. Tests then skip, unless TORCHX_REQUIRE
// has "docker".
type MissingError struct{ Err error }

func (m *MissingError) Error() string { return "no Docker Engine: " + m.Err.Error() }

// Unwrap returns the cause.
func (m *MissingError) Unwrap() error { return m.Err }

// errNotRequired keeps `go test ./...` fast and away from the machine's engine.
var errNotRequired = &MissingError{errors.New("set TORCHX_REQUIRE=docker to use or start one, as `make e2e-docker` does")}

// Required reports whether a missing engine is a failure.
func Required() bool {
	for _, part := range strings.Split(os.Getenv("TORCHX_REQUIRE"), ",") {
		if strings.TrimSpace(part) == "docker" {
			return true
		}
	}
	return false
}

// Missing ends a test without an engine: it skips the test, or fails it if TORCHX_REQUIRE
// has docker.
func Missing(t testing.TB, err error) {
	t.Helper()
	if Required() {
		t.Fatal(err)
	}
	t.Skip(err)
}

// Need starts an engine and stops it at the end of the test.
func Need(t testing.TB, o Options) *Engine {
	t.Helper()
	e, err := Start(o)
	if err != nil {
		Missing(t, err)
	}
	t.Cleanup(func() {
		if err := e.Stop(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// Get returns an engine that answers, or starts one. Errors: *MissingError, also if
// TORCHX_REQUIRE does not have docker.
func Get() (*Engine, error) {
	if !Required() {
		return nil, errNotRequired
	}
	host := os.Getenv("DOCKER_HOST")
	if host == "" {
		host = client.DefaultDockerHost
	}
	e := &Engine{Host: host}
	if err := e.dial(); err != nil {
		return nil, &MissingError{err}
	}
	if e.ping() != nil {
		return Start(Options{})
	}
	if err := e.load(); err != nil {
		return nil, &MissingError{errors.Join(err, e.Stop())}
	}
	return e, nil
}

// Options configure an engine to start.
type Options struct {
	Args  []string // of dockerd, besides those of its folders
	Space int64    // size of its disk in bytes; 0: that of the machine
}

// Start starts an engine with its own folders and Image. It needs root and dockerd.
// Errors: *MissingError.
func Start(o Options) (*Engine, error) {
	if !Required() {
		return nil, errNotRequired
	}
	e := &Engine{o: o}
	if err := e.start(); err != nil {
		return nil, &MissingError{errors.Join(err, e.Stop())}
	}
	return e, nil
}

func (e *Engine) start() error {
	if os.Geteuid() != 0 {
		return errors.New("no engine answers, and only root can start one")
	}
	needed, packages := []string{"dockerd", "containerd"}, "docker.io"
	if Podman() {
		needed, packages = []string{"podman"}, "podman netavark aardvark-dns"
	}
	for _, name := range append(needed, "unshare", "nsenter", "ip") {
		if _, err := exec.LookPath(name); err != nil {
			return fmt.Errorf("no engine answers, and %s is missing: apt-get install %s iproute2 util-linux", name, packages)
		}
	}
	var err error
	if e.dir, err = os.MkdirTemp("", "torchx-engine-"); err != nil {
		return err
	}
	e.Host = "unix://" + e.path("docker.sock")
	if err := errors.Join(e.dial(), e.createNamespaces()); err != nil {
		return err
	}
	if err := e.prepare(); err != nil {
		return err
	}
	if err := e.StartDaemon(); err != nil {
		return err
	}
	return e.load()
}

// createNamespaces creates the namespaces. They end with their first process, which always
// ends with this program: cat reads a pipe whose other end only this program has.
func (e *Engine) createNamespaces() error {
	script := "ip link set lo up || exit 1; cat; exit 0"
	if e.o.Space > 0 {
		script = fmt.Sprintf("mkdir %[1]s; mount -t tmpfs -o size=%[2]d none %[1]s || exit 1; %[3]s", e.path("root"), e.o.Space, script)
	}
	args := []string{"--mount", "--pid", "--net", "--fork", "--kill-child", "--mount-proc"}
	// cat echoes a byte when the namespaces are ready.
	e.keeper = exec.CommandContext(context.Background(), "unshare",
		append(args, "sh", "-c", script)...)
	in, err := e.keeper.StdinPipe()
	if err != nil {
		return err
	}
	out, err := e.keeper.StdoutPipe()
	if err == nil {
		err = e.keeper.Start()
	}
	if err != nil {
		e.keeper = nil
		return errors.Join(err, in.Close())
	}
	e.alive = in
	if _, err := io.WriteString(in, "."); err != nil {
		return err
	}
	if _, err := out.Read(make([]byte, 1)); err != nil {
		return fmt.Errorf("unshare %s: %w", strings.Join(args, " "), err)
	}
	e.ns, err = firstChild(e.keeper.Process.Pid)
	return err
}

// firstChild returns the PID of a process's first child.
func firstChild(pid int) (string, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		return "", err
	}
	child, _, _ := strings.Cut(string(data), " ")
	if child == "" {
		return "", fmt.Errorf("process %d has no child", pid)
	}
	return child, nil
}

// prepare starts or writes what the engine needs.
func (e *Engine) prepare() error {
	if Podman() {
		return os.WriteFile(e.path("containers.conf"), []byte("[network]\nnetwork_backend = \"netavark\"\n"), 0o600)
	}
	return e.startContainerd()
}

// startContainerd starts containerd, which outlives the engine, as in a separate service.
func (e *Engine) startContainerd() error {
	config := fmt.Sprintf("version = 2\nroot = %q\nstate = %q\ndisabled_plugins = [\"io.containerd.grpc.v1.cri\"]\n[grpc]\naddress = %q\n",
		e.path("containerd"), e.path("containerd-state"), e.path("containerd.sock"))
	if err := os.WriteFile(e.path("containerd.toml"), []byte(config), 0o600); err != nil {
		return err
	}
	_, err := e.Run("containerd", "--config", e.path("containerd.toml"))
	return err
}

// Podman reports whether engines that tests start are Podman's, by TORCHX_ENGINE=podman.
func Podman() bool { return os.Getenv("TORCHX_ENGINE") == "podman" }

// command returns the command line of the engine.
func (e *Engine) command() (name string, args []string) {
	if Podman() {
		return "env", []string{
			"CONTAINERS_CONF=" + e.path("containers.conf"), "TMPDIR=" + e.path("tmp"), "podman", "--root", e.path("root"), "--runroot", e.path("exec"), "--tmpdir", e.path("tmp"),
			"--network-config-dir", e.path("networks"), "--cgroup-manager", "cgroupfs", "--events-backend", "file",
			"system", "service", "--time", "0", e.Host,
		}
	}
	args = []string{
		"--containerd", e.path("containerd.sock"), "--host", e.Host, "--data-root", e.path("root"),
		"--exec-root", e.path("exec"), "--pidfile", e.path("docker.pid"),
	}
	return "dockerd", append(args, e.o.Args...)
}

// StartDaemon starts the engine, also after it was killed, and waits until it answers.
func (e *Engine) StartDaemon() error {
	name, args := e.command()
	var err error
	if e.daemon, err = e.Run(name, args...); err != nil {
		return err
	}
	for deadline := time.Now().Add(startTimeout); ; time.Sleep(50 * time.Millisecond) {
		err := e.ping()
		if err == nil {
			return nil
		}
		if time.Now().After(deadline) {
			log, _ := os.ReadFile(e.path(name + ".log"))
			return fmt.Errorf("%s does not answer: %w\n%s", name, err, log)
		}
	}
}

// Signal sends a signal to dockerd.
func (e *Engine) Signal(sig syscall.Signal) error {
	child, err := firstChild(e.daemon.Process.Pid)
	if err != nil {
		return err
	}
	pid, err := strconv.Atoi(child)
	if err != nil {
		return err
	}
	return syscall.Kill(pid, sig)
}

// Wait waits until dockerd has ended.
func (e *Engine) Wait() { _ = e.daemon.Wait() } // fails if it was killed

func (e *Engine) path(name string) string { return filepath.Join(e.dir, name) }

// Run starts a program in the engine's namespaces. It ends with the engine.
func (e *Engine) Run(name string, args ...string) (*exec.Cmd, error) {
	log, err := os.OpenFile(e.path(filepath.Base(name)+".log"),
		os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.CommandContext(context.Background(), "nsenter",
		append([]string{"--target", e.ns, "--mount", "--pid", "--net", name}, args...)...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd, cmd.Start()
}

// IsSeparate reports whether the engine has its own network, whose addresses this program
// does not reach.
func (e *Engine) IsSeparate() bool { return e.dir != "" }

// InNetwork returns a command that runs in the engine's network, where it can reach
// containers.
func (e *Engine) InNetwork(name string, args ...string) *exec.Cmd {
	if !e.IsSeparate() {
		return exec.CommandContext(context.Background(), name, args...)
	}
	return exec.CommandContext(context.Background(), "nsenter",
		append([]string{"--target", e.ns, "--net", name}, args...)...)
}

func (e *Engine) dial() (err error) {
	e.Client, err = client.NewClientWithOpts(client.WithHost(e.Host),
		client.WithAPIVersionNegotiation())
	return err
}

func (e *Engine) ping() error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	_, err := e.Client.Ping(ctx)
	return err
}

// Stop stops the engine if Start started it.
func (e *Engine) Stop() error {
	var errs []error
	if e.daemon != nil && e.daemon.ProcessState == nil {
		errs = append(errs, e.Signal(syscall.SIGTERM)) // it then removes its bridge and firewall rules
		e.Wait()
	}
	if e.alive != nil {
		errs = append(errs, e.alive.Close())
		_ = e.keeper.Wait() // its exit code has no meaning
	}
	if e.Client != nil {
		errs = append(errs, e.Client.Close())
	}
	if e.dir != "" {
		errs = append(errs, os.RemoveAll(e.dir))
	}
	return errors.Join(errs...)
}
