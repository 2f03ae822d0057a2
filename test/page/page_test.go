// Package page tests the page of `torchx ui` in Chromium, on real runs.
package page

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// required reports whether TORCHX_REQUIRE has a part.
func required(part string) bool {
	return slices.Contains(strings.Split(os.Getenv("TORCHX_REQUIRE"), ","), part)
}

// TestModules runs the tests of the modules that need no browser.
func TestModules(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("node"); err != nil {
		if required("node") || required("chromium") {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	node(t, nil, "unit")
}

// TestSize checks the limit of all that the browser loads first.
func TestSize(t *testing.T) {
	t.Parallel()
	const limit = 250_000
	var total int64
	err := filepath.WalkDir("../../cmd/internal/page/web", func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			total += info.Size()
		}
		return err
	})
	if err != nil || total == 0 || total > limit {
		t.Errorf("the page has %d bytes, want at most %d: %v", total, limit, err)
	}
}

// TestBrowser runs the tests that need Chromium, on a server with the runs of fixture.
func TestBrowser(t *testing.T) {
	t.Parallel()
	if !required("chromium") {
		t.Skip("set TORCHX_REQUIRE=chromium to test in a browser, as `make e2e-page` does")
	}
	for _, missing := range []error{lookUp("node"), lookUp("chromium"), stat("node_modules/playwright-core")} {
		if missing != nil {
			t.Fatal(missing)
		}
	}
	f := newFixture(t)
	folder := "browser"
	if os.Getenv("TORCHX_SCREENSHOTS") != "" {
		folder = "screenshots"
	}
	node(t, f.env(), folder)
}

func lookUp(program string) error {
	_, err := exec.LookPath(program)
	return err
}

func stat(name string) error {
	_, err := os.Stat(name)
	return err
}

// node runs the test files of a folder.
func node(t *testing.T, env []string, folder string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.test.mjs"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no tests in %s: %v", folder, err)
	}
	cmd := exec.Command("node", append([]string{"--test", "--test-concurrency=2", "--test-reporter=spec"}, files...)...)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
		return
	}
	t.Logf("%s", out)
}

// fixture is a home with runs, and a server of it.
type fixture struct {
	*testing.T
	bin, home, dir, url string
	runs                map[string]any
}

func (f *fixture) env() []string {
	runs, err := json.Marshal(f.runs)
	if err != nil {
		f.Fatal(err)
	}
	return []string{"TORCHX_HOME=" + f.home, "TORCHX_PAGE_URL=" + f.url, "TORCHX_PAGE_BIN=" + f.bin, "TORCHX_PAGE_DIR=" + f.dir, "TORCHX_PAGE_RUNS=" + string(runs)}
}

// torchx runs the program and returns what it prints.
func (f *fixture) torchx(args ...string) string {
	f.Helper()
	cmd := exec.Command(f.bin, args...)
	cmd.Dir, cmd.Env = f.dir, append(os.Environ(), "TORCHX_HOME="+f.home, "TORCHX_PAGE=secret")
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = fmt.Errorf("%w: %s", err, exit.Stderr)
		}
		f.Fatalf("torchx %q: %v", args, err)
	}
	return strings.TrimSpace(string(out))
}

// run starts an app and returns its ID.
func (f *fixture) run(args ...string) string {
	f.Helper()
	return f.id(append([]string{"run", "-d"}, args...)...)
}

// id runs the program and returns the ID of the handle that it prints.
func (f *fixture) id(args ...string) string {
	f.Helper()
	handle := f.torchx(args...)
	return handle[strings.LastIndexByte(handle, '/')+1:]
}

// serve starts the server and waits for the URL that it prints.
func (f *fixture) serve() {
	cmd := exec.Command(f.bin, "ui", "--port", "0")
	cmd.Dir, cmd.Env, cmd.Stderr = f.dir, append(os.Environ(), "TORCHX_HOME="+f.home), os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		f.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait() // interrupted
	})
	lines := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(out).ReadString('\n') // empty if it ended
		lines <- line
	}()
	select {
	case line := <-lines:
		f.url = strings.TrimSpace(line)
	case <-time.After(time.Minute):
	}
	if !strings.HasPrefix(f.url, "http://127.0.0.1:") {
		f.Fatalf("torchx ui printed %q within a minute, want a URL", f.url)
	}
}
