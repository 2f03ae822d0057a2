//go:build unix

// Package enginetest gives tests a real Docker Engine and an image for it. An
// engine that answers is used as it is; else one is started, and stopped again by
// whoever started it. Nothing is pulled: the image is made of this machine's busybox.
package enginetest

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/client"
)

// Image is what the tests' containers run: busybox with all its applets.
const Image = "torchx-test:busybox-1"

// startTime bounds the wait for an engine that was just started.
const startTime = time.Minute

// Engine is an engine that tests can use.
type Engine struct {
	Host string // value for DOCKER_HOST

	dir       string // "": it was there before
	processes []*exec.Cmd
}

// MissingError says why there is no engine; tests skip then, unless TORCHX_REQUIRE has "docker".
type MissingError struct{ Err error }

func (m *MissingError) Error() string { return "no Docker Engine: " + m.Err.Error() }

// Unwrap returns the cause.
func (m *MissingError) Unwrap() error { return m.Err }

// Required reports whether a missing engine is a failure.
func Required() bool {
	for _, part := range strings.Split(os.Getenv("TORCHX_REQUIRE"), ",") {
		if strings.TrimSpace(part) == "docker" {
			return true
		}
	}
	return false
}

// Get returns the engine that answers, or starts one, with Image in it. Errors: *MissingError.
func Get() (*Engine, error) {
	host := os.Getenv("DOCKER_HOST")
	if host == "" {
		host = client.DefaultDockerHost
	}
	e := &Engine{Host: host}
	if e.answers() != nil {
		var err error
		if e, err = Start(Options{}); err != nil {
			return nil, &MissingError{err}
		}
	}
	if err := e.Load(); err != nil {
		return nil, errors.Join(&MissingError{err}, e.Stop())
	}
	return e, nil
}

// Options are those of an engine that is started.
type Options struct {
	// Apart gives the engine a network namespace of its own: a second engine in the
	// machine's own takes the bridge of the first one away.
	Apart       bool
	LiveRestore bool
}

// Start starts an engine with folders of its own; it needs root and dockerd.
func Start(o Options) (*Engine, error) {
	if os.Geteuid() != 0 {
		return nil, errors.New("nothing answers, and only root can start one")
	}
	for _, name := range []string{"dockerd", "containerd"} {
		if _, err := exec.LookPath(name); err != nil {
			return nil, fmt.Errorf("nothing answers, and there is no %s: apt-get install docker.io", name)
		}
	}
	dir, err := os.MkdirTemp("", "torchx-engine-")
	if err != nil {
		return nil, err
	}
	e := &Engine{Host: "unix://" + filepath.Join(dir, "docker.sock"), dir: dir}
	err = e.startContainerd(o)
	if err == nil {
		err = e.StartDaemon(o)
	}
	if err != nil {
		return nil, errors.Join(err, e.Stop())
	}
	return e, nil
}

// startContainerd starts what holds the containers: it outlives the engine, as a
// service of its own does.
func (e *Engine) startContainerd(o Options) error {
	config := fmt.Sprintf("version = 2\nroot = %q\nstate = %q\ndisabled_plugins = [\"io.containerd.grpc.v1.cri\"]\n[grpc]\naddress = %q\n",
		e.path("containerd"), e.path("containerd-state"), e.path("containerd.sock"))
	if err := os.WriteFile(e.path("containerd.toml"), []byte(config), 0o600); err != nil {
		return err
	}
	return e.run(o, "containerd", "--config", e.path("containerd.toml"))
}

// StartDaemon starts dockerd, again if it was killed, and waits until it answers.
func (e *Engine) StartDaemon(o Options) error {
	args := []string{
		"--containerd", e.path("containerd.sock"), "--host", e.Host, "--data-root", e.path("root"),
		"--exec-root", e.path("exec"), "--pidfile", e.path("docker.pid"),
	}
	if o.LiveRestore {
		args = append(args, "--live-restore")
	}
	if err := e.run(o, "dockerd", args...); err != nil {
		return err
	}
	for deadline := time.Now().Add(startTime); ; time.Sleep(50 * time.Millisecond) {
		err := e.answers()
		if err == nil {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("dockerd does not answer: %w (see %s)", err, e.path("dockerd.log"))
		}
	}
}

// Daemon is dockerd as it was started last.
func (e *Engine) Daemon() *os.Process { return e.processes[len(e.processes)-1].Process }

// Wait returns when dockerd has ended.
func (e *Engine) Wait() { _ = e.processes[len(e.processes)-1].Wait() } // it was killed

func (e *Engine) path(name string) string { return filepath.Join(e.dir, name) }

func (e *Engine) run(o Options, name string, args ...string) error {
	log, err := os.OpenFile(e.path(name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	if o.Apart && len(e.processes) > 0 {
		args = append([]string{fmt.Sprintf("--net=/proc/%d/ns/net", e.processes[0].Process.Pid), name}, args...)
		name = "nsenter"
	} else if o.Apart {
		args = append([]string{"--net", "sh", "-c", `ip link set lo up; exec "$@"`, "sh", name}, args...)
		name = "unshare"
	}
	cmd := exec.CommandContext(context.Background(), name, args...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	e.processes = append(e.processes, cmd)
	return nil
}

// Client returns a client of the engine.
func (e *Engine) Client() (*client.Client, error) {
	return client.NewClientWithOpts(client.WithHost(e.Host), client.WithAPIVersionNegotiation())
}

func (e *Engine) answers() error {
	c, err := e.Client()
	if err != nil {
		return err
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	_, err = c.Ping(ctx)
	return err
}

// Stop ends what Start began, by its process ids; an engine that was there before stays.
func (e *Engine) Stop() error {
	if e.dir == "" {
		return nil
	}
	var errs []error
	for i := len(e.processes) - 1; i >= 0; i-- {
		p := e.processes[i]
		if p.ProcessState == nil {
			errs = append(errs, p.Process.Signal(syscall.SIGTERM))
			_ = p.Wait() // its code says nothing
		}
	}
	errs = append(errs, e.unmount())
	return errors.Join(append(errs, os.RemoveAll(e.dir))...)
}

// unmount takes away what the engine leaves mounted in its folders.
func (e *Engine) unmount() error {
	data, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(data)) {
		f := strings.Fields(line)
		if len(f) > 1 && strings.HasPrefix(f[1], e.dir+"/") {
			err = errors.Join(err, detach(f[1]))
		}
	}
	return err
}

// Load makes Image of this machine's busybox.
func (e *Engine) Load() error {
	c, err := e.Client()
	if err != nil {
		return err
	}
	defer c.Close()
	ctx := context.Background()
	if _, err := c.ImageInspect(ctx, Image); err == nil {
		return nil
	}
	archive, err := rootfs()
	if err != nil {
		return err
	}
	answer, err := c.ImageImport(ctx, image.ImportSource{Source: archive, SourceName: "-"}, Image, image.ImportOptions{})
	if err != nil {
		return err
	}
	_, err = new(bytes.Buffer).ReadFrom(answer)
	return errors.Join(err, answer.Close())
}

// printenv is what Debian's busybox lacks.
const printenv = "#!/bin/sh\neval \"v=\\$$1\"\nprintf '%s\\n' \"$v\"\n"

// rootfs is a tar of a machine that has busybox and nothing else.
func rootfs() (*bytes.Buffer, error) {
	path, err := exec.LookPath("busybox")
	if err != nil {
		return nil, errors.New("there is no busybox: apt-get install busybox-static")
	}
	program, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	list, err := exec.CommandContext(context.Background(), path, "--list").Output()
	if err != nil {
		return nil, err
	}
	out := &bytes.Buffer{}
	t := tar.NewWriter(out)
	for dir, mode := range map[string]int64{"bin/": 0o755, "etc/": 0o755, "root/": 0o700, "tmp/": 0o1777} {
		err = errors.Join(err, t.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: dir, Mode: mode}))
	}
	err = errors.Join(err, t.WriteHeader(&tar.Header{Name: "bin/busybox", Mode: 0o755, Size: int64(len(program))}))
	_, werr := t.Write(program)
	err = errors.Join(err, werr)
	for applet := range strings.FieldsSeq(string(list)) {
		if applet != "busybox" {
			err = errors.Join(err, t.WriteHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: "bin/" + applet, Linkname: "busybox"}))
		}
	}
	err = errors.Join(err, t.WriteHeader(&tar.Header{Name: "bin/printenv", Mode: 0o755, Size: int64(len(printenv))}))
	_, werr = t.Write([]byte(printenv))
	return out, errors.Join(err, werr, t.Close())
}
