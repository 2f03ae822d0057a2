package image

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/client"
	"github.com/google/go-containerregistry/pkg/registry"

	"torchx/backends"
)

// Registries on the loopback of the engine's network; the second one asks for a login.
const (
	openRegistry   = "127.0.0.1:5000"
	closedRegistry = "127.0.0.1:5001"
	user, password = "ann", "s3cret"
)

// serveVariable makes the test program the registries.
const serveVariable = "TORCHX_TEST_REGISTRIES"

// testImage has one static program under all its names.
const testImage = "torchx-test/busybox:1"

func TestMain(m *testing.M) {
	if os.Getenv(serveVariable) != "" {
		serveRegistries()
		return
	}
	code := m.Run()
	engine.stop()
	os.Exit(code)
}

func serveRegistries() {
	locked := registry.New()
	go http.ListenAndServe(openRegistry, registry.New())
	_ = http.ListenAndServe(closedRegistry, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if u, p, ok := r.BasicAuth(); !ok || u != user || p != password {
			w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		locked.ServeHTTP(w, r)
	}))
}

// testEngine is a Docker Engine of its own, in a network of its own: a second one
// in the host's would take the first one's bridge away.
type testEngine struct {
	once   sync.Once
	err    error
	root   string
	run    *exec.Cmd
	client *client.Client
}

var engine testEngine

// needEngine returns the engine. Without one the test is skipped, or fails when
// TORCHX_REQUIRE has docker.
func needEngine(t *testing.T) *client.Client {
	t.Helper()
	engine.once.Do(func() { engine.err = engine.start() })
	switch {
	case engine.err == nil:
		return engine.client
	case slices.Contains(strings.Split(os.Getenv("TORCHX_REQUIRE"), ","), "docker"):
		t.Fatalf("TORCHX_REQUIRE has docker: %v", engine.err)
	}
	t.Skipf("no Docker Engine can be started: %v", engine.err)
	return nil
}

func (e *testEngine) start() error {
	for _, program := range []string{"dockerd", "unshare", "ip", "busybox"} {
		if _, err := exec.LookPath(program); err != nil {
			return err
		}
	}
	if os.Getuid() != 0 {
		return errors.New("it needs root")
	}
	var err error
	if e.root, err = os.MkdirTemp("", "torchx-engine-"); err != nil {
		return err
	}
	host := "unix://" + e.root + "/docker.sock"
	self, err := os.Executable()
	if err != nil {
		return err
	}
	script := `ip link set lo up && { ` + serveVariable + `=1 "$0" & registries=$!; trap : TERM
		dockerd --data-root "$1/data" --exec-root "$1/exec" -H "$2" -p "$1/pid" >"$1/log" 2>&1 & engine=$!
		wait $engine; kill $engine; wait $engine; kill $registries; }`
	e.run = exec.Command("unshare", "--net", "sh", "-c", script, self, e.root, host)
	if err := e.run.Start(); err != nil {
		return err
	}
	if e.client, err = client.NewClientWithOpts(client.WithHost(host), client.WithAPIVersionNegotiation()); err != nil {
		return err
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		if _, err = e.client.Ping(context.Background()); err == nil {
			break
		}
		if time.Now().After(deadline) {
			log, _ := os.ReadFile(e.root + "/log")
			return fmt.Errorf("the engine does not start: %w\n%s", err, log)
		}
	}
	return e.importBusybox()
}

func (e *testEngine) importBusybox() error {
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
	_ = w.WriteHeader(&tar.Header{Name: "bin/busybox", Mode: 0o755, Size: int64(len(data))})
	_, _ = w.Write(data)
	for _, name := range []string{"sh", "ls", "cat", "echo", "true", "false", "stat", "find", "sleep"} {
		_ = w.WriteHeader(&tar.Header{Name: "bin/" + name, Typeflag: tar.TypeSymlink, Linkname: "busybox"})
	}
	if err := w.Close(); err != nil {
		return err
	}
	body, err := e.client.ImageImport(context.Background(), image.ImportSource{Source: &b, SourceName: "-"}, testImage,
		image.ImportOptions{Changes: []string{"WORKDIR /app", "ENV PATH=/bin"}})
	if err != nil {
		return err
	}
	defer body.Close()
	return each(body, func(message) {})
}

func (e *testEngine) stop() {
	if e.run == nil || e.run.Process == nil {
		return
	}
	_ = e.run.Process.Signal(syscall.SIGTERM)
	_ = e.run.Wait()
	_ = os.RemoveAll(e.root)
}

// remove makes sure that an image is not on the engine.
func remove(t *testing.T, c *client.Client, ref string) {
	t.Helper()
	_, err := c.ImageRemove(t.Context(), ref, image.RemoveOptions{})
	if has, _ := Has(t.Context(), c, ref); has {
		t.Fatalf("%s is still there: %v", ref, err)
	}
}

// shown collects what progress is told.
type shown struct {
	mu    sync.Mutex
	steps []backends.Step
}

func (s *shown) tell(step backends.Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.steps = append(s.steps, step)
}

// output is what builds printed.
func (s *shown) output() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	for _, step := range s.steps {
		if step.Output != "" {
			b.WriteString(step.Output + "\n")
		}
	}
	return b.String()
}

// ended counts the steps of a name that are over and how many of them failed.
func (s *shown) ended(name string) (n, failed int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, step := range s.steps {
		if step.Name == name && step.Ended {
			n++
			if step.Failed {
				failed++
			}
		}
	}
	return n, failed
}

// write makes the files of a folder; a name that ends in / is an empty folder.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "/") {
			if err := os.MkdirAll(path, 0o755); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// runIn returns what a command prints in a container of the image.
func runIn(t *testing.T, ref string, args ...string) string {
	t.Helper()
	c := exec.Command("docker", append([]string{"-H", engine.client.DaemonHost(), "run", "--rm", "--network=none", ref}, args...)...)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("docker run %s: %v\n%s", ref, err, out)
	}
	return string(out)
}
