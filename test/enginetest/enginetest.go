//go:build unix

// Package enginetest gives tests a real Docker Engine and an image for it, only with
// TORCHX_REQUIRE=docker. An engine that answers is used as it is. Else one is started in
// namespaces of its own, and stopped at the end: the kernel ends all of it when the tests
// die, and it leaves the bridge of the machine's engine alone. Nothing is pulled: the
// image is made of this machine's busybox.
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

// startTime bounds the wait for an engine that was just started.
const startTime = time.Minute

// Engine is an engine that tests can use.
type Engine struct {
	Host   string // value for DOCKER_HOST
	Client *client.Client

	o      Options
	dir    string // "": it was there before
	keeper *exec.Cmd
	alive  io.Closer // what is in the engine's namespaces ends when it is closed
	ns     string    // the keeper's first child: the process that the namespaces live by
	daemon *exec.Cmd // nsenter, with dockerd as its child
}

// MissingError says why there is no engine; tests then skip, unless TORCHX_REQUIRE has "docker".
type MissingError struct{ Err error }

func (m *MissingError) Error() string { return "no Docker Engine: " + m.Err.Error() }

// Unwrap returns the cause.
func (m *MissingError) Unwrap() error { return m.Err }

// errNotAsked keeps `go test ./...` away from the machine's own engine, and quick.
var errNotAsked = &MissingError{errors.New("TORCHX_REQUIRE=docker uses one or starts one, as `make e2e-docker` does")}

// Required reports whether a missing engine is a failure.
func Required() bool {
	for _, part := range strings.Split(os.Getenv("TORCHX_REQUIRE"), ",") {
		if strings.TrimSpace(part) == "docker" {
			return true
		}
	}
	return false
}

// Missing ends a test that has no engine: it is skipped, or fails when
// TORCHX_REQUIRE has docker.
func Missing(t testing.TB, err error) {
	t.Helper()
	if Required() {
		t.Fatal(err)
	}
	t.Skip(err)
}

// Need starts an engine that ends with the test.
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

// Get returns the engine that answers, or starts one.
// Errors: *MissingError, also where TORCHX_REQUIRE does not have docker.
func Get() (*Engine, error) {
	if !Required() {
		return nil, errNotAsked
	}
	host := os.Getenv("DOCKER_HOST")
	if host == "" {
		host = client.DefaultDockerHost
	}
	e := &Engine{Host: host}
	if err := e.dial(); err != nil {
		return nil, &MissingError{err}
	}
	if e.answers() != nil {
		return Start(Options{})
	}
	if err := e.load(); err != nil {
		return nil, &MissingError{errors.Join(err, e.Stop())}
	}
	return e, nil
}

// Options are those of an engine that is started.
type Options struct {
	LiveRestore bool
	Space       int64 // bytes of the disk for its data; 0: as many as the machine has
}

// Start starts an engine with folders of its own and Image; it needs root and
// dockerd. Errors: *MissingError.
func Start(o Options) (*Engine, error) {
	if !Required() {
		return nil, errNotAsked
	}
	e := &Engine{o: o}
	if err := e.start(); err != nil {
		return nil, &MissingError{errors.Join(err, e.Stop())}
	}
	return e, nil
}

func (e *Engine) start() error {
	if os.Geteuid() != 0 {
		return errors.New("nothing answers, and only root can start one")
	}
	for _, name := range []string{"dockerd", "containerd", "unshare", "nsenter", "ip"} {
		if _, err := exec.LookPath(name); err != nil {
			return fmt.Errorf("nothing answers, and there is no %s: apt-get install docker.io iproute2 util-linux", name)
		}
	}
	var err error
	if e.dir, err = os.MkdirTemp("", "torchx-engine-"); err != nil {
		return err
	}
	e.Host = "unix://" + e.path("docker.sock")
	if err := errors.Join(e.dial(), e.keep(), e.startContainerd()); err != nil {
		return err
	}
	if err := e.StartDaemon(); err != nil {
		return err
	}
	return e.load()
}

// keep makes the namespaces. They end with their first process, which ends when
// this program does, however: cat reads a pipe whose other end is here only.
func (e *Engine) keep() error {
	script := "ip link set lo up || exit 1; cat; exit 0"
	if e.o.Space > 0 {
		script = fmt.Sprintf("mkdir %[1]s; mount -t tmpfs -o size=%[2]d none %[1]s || exit 1; %[3]s", e.path("root"), e.o.Space, script)
	}
	args := []string{"--mount", "--pid", "--net", "--fork", "--kill-child", "--mount-proc"}
	// It answers when all is made: a cat that echoes.
	e.keeper = exec.CommandContext(context.Background(), "unshare", append(args, "sh", "-c", script)...)
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

// firstChild is the id of the process that another one started first.
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

// startContainerd starts containerd, which outlives the engine, as a service of its
// own does.
func (e *Engine) startContainerd() error {
	config := fmt.Sprintf("version = 2\nroot = %q\nstate = %q\ndisabled_plugins = [\"io.containerd.grpc.v1.cri\"]\n[grpc]\naddress = %q\n",
		e.path("containerd"), e.path("containerd-state"), e.path("containerd.sock"))
	if err := os.WriteFile(e.path("containerd.toml"), []byte(config), 0o600); err != nil {
		return err
	}
	_, err := e.Run("containerd", "--config", e.path("containerd.toml"))
	return err
}

// StartDaemon starts dockerd, again if it was killed, and waits until it answers.
func (e *Engine) StartDaemon() error {
	args := []string{
		"--containerd", e.path("containerd.sock"), "--host", e.Host, "--data-root", e.path("root"),
		"--exec-root", e.path("exec"), "--pidfile", e.path("docker.pid"),
	}
	if e.o.LiveRestore {
		args = append(args, "--live-restore")
	}
	var err error
	if e.daemon, err = e.Run("dockerd", args...); err != nil {
		return err
	}
	for deadline := time.Now().Add(startTime); ; time.Sleep(50 * time.Millisecond) {
		err := e.answers()
		if err == nil {
			return nil
		}
		if time.Now().After(deadline) {
			log, _ := os.ReadFile(e.path("dockerd.log"))
			return fmt.Errorf("dockerd does not answer: %w\n%s", err, log)
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

// Wait returns when dockerd has ended.
func (e *Engine) Wait() { _ = e.daemon.Wait() } // it was killed

func (e *Engine) path(name string) string { return filepath.Join(e.dir, name) }

// Run starts a program where the engine runs. It ends with the engine.
func (e *Engine) Run(name string, args ...string) (*exec.Cmd, error) {
	log, err := os.OpenFile(e.path(filepath.Base(name)+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.CommandContext(context.Background(), "nsenter", append([]string{"--target", e.ns, "--mount", "--pid", "--net", name}, args...)...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd, cmd.Start()
}

// Beside returns a program that runs in the engine's network, where its containers can
// be reached, and otherwise as any other.
func (e *Engine) Beside(name string, args ...string) *exec.Cmd {
	if e.dir == "" {
		return exec.CommandContext(context.Background(), name, args...)
	}
	return exec.CommandContext(context.Background(), "nsenter", append([]string{"--target", e.ns, "--net", name}, args...)...)
}

func (e *Engine) dial() (err error) {
	e.Client, err = client.NewClientWithOpts(client.WithHost(e.Host), client.WithAPIVersionNegotiation())
	return err
}

func (e *Engine) answers() error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	_, err := e.Client.Ping(ctx)
	return err
}

// Stop ends what Start began; an engine that was there before stays.
func (e *Engine) Stop() error {
	var errs []error
	if e.daemon != nil && e.daemon.ProcessState == nil {
		errs = append(errs, e.Signal(syscall.SIGTERM)) // it takes its bridge and its rules along
		e.Wait()
	}
	if e.alive != nil {
		errs = append(errs, e.alive.Close())
		_ = e.keeper.Wait() // its code says nothing
	}
	if e.Client != nil {
		errs = append(errs, e.Client.Close())
	}
	if e.dir != "" {
		errs = append(errs, os.RemoveAll(e.dir))
	}
	return errors.Join(errs...)
}
