// Package enginetest starts a Docker Engine for tests, with data and a network
// of its own: a second engine in the host's network would take the first one's
// bridge away. It is for tests only.
package enginetest

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/client"
)

// Image has one static program under all its names; its working folder is /app.
const Image = "torchx-test/busybox:1"

// startTime is how long an engine may take to answer.
const startTime = time.Minute

// Engine is a running engine.
type Engine struct {
	Client *client.Client

	root string
	run  *exec.Cmd
}

// Missing ends a test that has no engine: it is skipped, or fails when
// TORCHX_REQUIRE has docker.
func Missing(t testing.TB, err error) {
	t.Helper()
	if slices.Contains(strings.Split(os.Getenv("TORCHX_REQUIRE"), ","), "docker") {
		t.Fatalf("TORCHX_REQUIRE has docker: %v", err)
	}
	t.Skipf("no Docker Engine can be started: %v", err)
}

// Need returns an engine that ends with the test.
func Need(t testing.TB) *Engine {
	t.Helper()
	e, err := Start("")
	if err != nil {
		Missing(t, err)
	}
	t.Cleanup(e.Stop)
	return e
}

// Start starts an engine. This program runs beside it, in the engine's network,
// if beside is not "": with the variable of that name set to 1.
func Start(beside string) (*Engine, error) {
	for _, program := range []string{"dockerd", "unshare", "ip", "busybox"} {
		if _, err := exec.LookPath(program); err != nil {
			return nil, err
		}
	}
	if os.Getuid() != 0 {
		return nil, errors.New("it needs root")
	}
	root, err := os.MkdirTemp("", "torchx-engine-")
	if err != nil {
		return nil, err
	}
	e := &Engine{root: root}
	if err := e.start(beside); err != nil {
		e.Stop()
		return nil, err
	}
	return e, nil
}

// script runs $0 with the variable $3 set, if that is one, and the engine.
const script = `ip link set lo up || exit 1
beside=
[ -n "$3" ] && { env "$3=1" "$0" & beside=$!; }
trap : TERM
dockerd --data-root "$1/data" --exec-root "$1/exec" -H "$2" -p "$1/pid" >"$1/log" 2>&1 & engine=$!
wait $engine; kill $engine 2>/dev/null; wait $engine
[ -n "$beside" ] && kill $beside
:`

func (e *Engine) start(beside string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	host := "unix://" + e.root + "/docker.sock"
	if e.Client, err = client.NewClientWithOpts(client.WithHost(host), client.WithAPIVersionNegotiation()); err != nil {
		return err
	}
	e.run = exec.CommandContext(context.Background(), "unshare", "--net", "sh", "-c", script, self, e.root, host, beside)
	if err := e.run.Start(); err != nil {
		e.run = nil
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTime)
	defer cancel()
	for {
		if _, err = e.Client.Ping(ctx); err == nil {
			return e.importImage(ctx)
		}
		if ctx.Err() != nil {
			log, _ := os.ReadFile(e.root + "/log")
			return fmt.Errorf("the engine does not answer: %w\n%s", err, log)
		}
		time.Sleep(50 * time.Millisecond) // it has no way to tell
	}
}

// importImage makes Image of the machine's busybox: no registry is needed.
func (e *Engine) importImage(ctx context.Context) error {
	program, err := exec.LookPath("busybox")
	if err != nil {
		return err
	}
	data, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	if err := w.WriteHeader(&tar.Header{Name: "bin/busybox", Mode: 0o755, Size: int64(len(data))}); err != nil {
		return err
	}
	if _, err := w.Write(data); err != nil {
		return err
	}
	for _, name := range []string{"sh", "ls", "cat", "echo", "true", "false", "stat", "find", "sleep", "env"} {
		if err := w.WriteHeader(&tar.Header{Name: "bin/" + name, Typeflag: tar.TypeSymlink, Linkname: "busybox"}); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	body, err := e.Client.ImageImport(ctx, image.ImportSource{Source: &b, SourceName: "-"}, Image,
		image.ImportOptions{Changes: []string{"WORKDIR /app", "ENV PATH=/bin"}})
	if err != nil {
		return err
	}
	defer body.Close()
	_, err = io.Copy(io.Discard, body)
	return err
}

// Stop ends the engine and removes all it had.
func (e *Engine) Stop() {
	if e.run != nil {
		_ = e.run.Process.Signal(syscall.SIGTERM)
		_ = e.run.Wait()
	}
	_ = e.Client.Close()
	_ = os.RemoveAll(e.root)
}
