package backendtest

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// need returns a capability of the backend, or skips the case.
func need[T comparable](s *suite, capability T) T {
	s.Helper()
	var none T
	if capability == none {
		s.Skipf("%s has no %v", s.Backend.Name(), reflect.TypeFor[T]())
	}
	return capability
}

// sleeper starts an app of one replica that runs until the end of the case.
func (s *suite) sleeper() string {
	s.Helper()
	role := s.one(s.Programs.Sleep(long))
	role.Env = spec.Map[string]{{Key: "INSIDE", Value: "two words"}}
	id := s.start(role)
	s.waitRunning(id)
	return id
}

// shared is a buffer that a test reads while a backend writes it.
type shared struct {
	mu   sync.Mutex
	data bytes.Buffer
}

func (b *shared) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.data.Write(p)
}

func (b *shared) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.data.String()
}

func shellCommand(script string) backend.Command {
	return backend.Command{Args: []string{"sh", "-c", script}, Stdout: &shared{}, Stderr: &shared{}}
}

// exec runs a command in replica 0 of role "r" and checks its exit code.
func (s *suite) exec(id string, c backend.Command, want int) (stdout, stderr string) {
	s.Helper()
	code, err := s.Backend.Capabilities().Exec.Exec(s.ctx, id, spec.Replica{Role: "r"}, c)
	stdout, stderr = c.Stdout.(*shared).String(), c.Stderr.(*shared).String()
	if err != nil || code != want {
		s.Fatalf("exec %q: got %d, %v, want %d (stdout %q, stderr %q)", c.Args, code, err,
			want, stdout, stderr)
	}
	return stdout, stderr
}

func execStreams(s *suite) {
	need(s, s.Backend.Capabilities().Exec)
	id := s.sleeper()
	stdout, stderr := s.exec(id, shellCommand(`echo "$INSIDE"; echo two >&2; exit 7`), 7)
	if stdout != "two words\n" || stderr != "two\n" {
		s.Errorf("got stdout %q, stderr %q, want the variable of the role and two", stdout, stderr)
	}
	if stdout, _ := s.exec(id, shellCommand("kill -9 $$"), 137); stdout != "" {
		s.Errorf("got %q, want no output", stdout)
	}
}

func execInput(s *suite) {
	need(s, s.Backend.Capabilities().Exec)
	id := s.sleeper()
	input := strings.Repeat("0123456789abcde\n", 1<<16)
	c := shellCommand("cat")
	c.Stdin = strings.NewReader(input)
	if got, _ := s.exec(id, c, 0); got != input {
		s.Errorf("got %d bytes back, want the %d that were sent", len(got), len(input))
	}
	c = shellCommand("cat; echo end")
	if got, _ := s.exec(id, c, 0); got != "end\n" {
		s.Errorf("without input: got %q, want end", got)
	}
}

// execLost: a command whose output cannot be written ends, with an error or, where it writes
// itself, by its own.
func execLost(s *suite) {
	e := need(s, s.Backend.Capabilities().Exec)
	id := s.sleeper()
	out, w, err := os.Pipe()
	if err != nil {
		s.Fatal(err)
	}
	defer w.Close()
	out.Close()
	word := "lost-" + id
	code, err := e.Exec(s.ctx, id, spec.Replica{Role: "r"}, backend.Command{Args: []string{"yes", word}, Stdout: w, Stderr: io.Discard, Signals: make(chan os.Signal)})
	if !errors.Is(err, syscall.EPIPE) && (err != nil || code == 0) {
		s.Errorf("got %d, %v, want EPIPE", code, err)
	}
	s.waitFor("the end of the command", func() bool {
		found, _ := s.exec(id, shellCommand("grep -ls 'los[t]-"+id+"' /proc/[0-9]*/cmdline; :"), 0)
		return found == ""
	})
}

func execNotFound(s *suite) {
	e := need(s, s.Backend.Capabilities().Exec)
	id := s.sleeper()
	for name, code := range map[string]int{"no-such-program": spec.ExitNotFound, "/etc": spec.ExitNotExecutable} {
		got, err := e.Exec(s.ctx, id, spec.Replica{Role: "r"},
			backend.Command{Args: []string{name}, Stdout: io.Discard, Stderr: io.Discard})
		var start *backend.StartError
		if err == nil && got == code { // a shell in the replica has said it
			continue
		}
		if !errors.As(err, &start) || start.Code != code || strings.Contains(err.Error(), "\n") {
			s.Errorf("exec %s: got %v, want a *backend.StartError of one line with code %d", name, err, code)
		}
	}
}

// execSignal: a signal reaches the command, and nothing else in the replica.
func execSignal(s *suite) {
	e := need(s, s.Backend.Capabilities().Exec)
	id := s.sleeper()
	signals := make(chan os.Signal, 1)
	c := shellCommand(`trap "echo got it; exit 9" INT; echo ready; while :; do sleep 0.1; done`)
	c.Signals = signals
	out := c.Stdout.(*shared)
	type result struct {
		code int
		err  error
	}
	ended := make(chan result, 1)
	go func() {
		code, err := e.Exec(s.ctx, id, spec.Replica{Role: "r"}, c)
		ended <- result{code, err}
	}()
	s.waitFor("the command is ready", func() bool { return strings.Contains(out.String(), "ready") })
	signals <- syscall.SIGINT
	if got := <-ended; got.err != nil || got.code != 9 ||
		!strings.HasSuffix(out.String(), "got it\n") {
		s.Errorf("got %d, %v, output %q, want 9 by the trap", got.code, got.err, out)
	}
	if st := s.describe(id); st.State != spec.Running {
		s.Errorf("the app is %v after a signal to a command, want RUNNING", st.State)
	}
}

func execTerminal(s *suite) {
	e := need(s, s.Backend.Capabilities().Exec)
	id := s.sleeper()
	sizes := make(chan backend.TerminalSize)
	c := shellCommand(`test -t 0 && test -t 1 && test -t 2 || exit 3
		until stty size | grep -q "^31 97$"; do sleep 0.1; done; echo first
		until stty size | grep -q "^40 120$"; do sleep 0.1; done; read x; echo "<$x>"; exit 4`)
	input, typed := io.Pipe()
	defer typed.Close()
	c.Terminal, c.Resizes, c.Stdin = &backend.TerminalSize{Rows: 31, Cols: 97}, sizes, input
	out := c.Stdout.(*shared)
	ended := make(chan error, 1)
	go func() {
		code, err := e.Exec(s.ctx, id, spec.Replica{Role: "r"}, c)
		if err == nil && code != 4 {
			err = fmt.Errorf("exit code %d", code)
		}
		ended <- err
	}()
	s.waitFor("the first size", func() bool { return strings.Contains(out.String(), "first") || len(ended) > 0 })
	select {
	case sizes <- backend.TerminalSize{Rows: 40, Cols: 120}:
	case err := <-ended:
		if errors.Is(err, backend.ErrUnsupported) {
			s.Skip(err)
		}
		s.Fatalf("the command has ended: %v, output %q", err, out)
	}
	if _, err := io.WriteString(typed, "hello\n"); err != nil {
		s.Fatal(err)
	}
	if err := <-ended; err != nil || !strings.Contains(out.String(), "<hello>") {
		s.Errorf("got %v, output %q, want what was typed and exit code 4", err, out)
	}
}

// execEnds: a replica that has ended is an error, and Exec ends with its context.
func execEnds(s *suite) {
	e := need(s, s.Backend.Capabilities().Exec)
	id := s.sleeper()
	ctx, cancel := context.WithCancel(s.ctx)
	c := shellCommand("echo ready; sleep 600")
	ended := make(chan error, 1)
	go func() {
		_, err := e.Exec(ctx, id, spec.Replica{Role: "r"}, c)
		ended <- err
	}()
	s.waitFor("the command is ready", func() bool { return strings.Contains(c.Stdout.(*shared).String(), "ready") })
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		s.Errorf("got %v, want the error of the context", err)
	}
	s.cancel(id, backend.CancelOptions{Force: true})
	s.wait(id)
	_, err := e.Exec(s.ctx, id, spec.Replica{Role: "r"}, shellCommand("true"))
	if !errors.Is(err, backend.ErrNotRunning) && !errors.Is(err, backend.ErrNotFound) {
		s.Errorf("of an ended replica: got %v, want ErrNotRunning", err)
	}
}

// copyFiles: what is written is read again.
func copyFiles(s *suite) {
	f := need(s, s.Backend.Capabilities().Files)
	id := s.sleeper()
	r := spec.Replica{Role: "r"}
	dir := "/tmp/" + id
	s.exec(id, shellCommand("mkdir "+dir), 0)
	s.Cleanup(func() { os.RemoveAll(dir) }) // of this machine, for local replicas
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	data := strings.Repeat("x", 1<<20)
	for _, h := range []*tar.Header{
		{Name: "d/", Typeflag: tar.TypeDir, Mode: 0o755},
		{Name: "d/file", Typeflag: tar.TypeReg, Mode: 0o640, Size: int64(len(data))},
		{Name: "d/-link", Typeflag: tar.TypeSymlink, Linkname: "file"},
	} {
		if err := w.WriteHeader(h); err != nil {
			s.Fatal(err)
		}
		if h.Size > 0 {
			if _, err := io.WriteString(w, data); err != nil {
				s.Fatal(err)
			}
		}
	}
	if err := errors.Join(w.Close(), f.WriteFiles(s.ctx, id, r, dir, &archive)); err != nil {
		s.Fatal(err)
	}
	for path, want := range map[string]fs.FileMode{dir + "/d": fs.ModeDir, dir + "/d/file": 0, dir + "/d/-link": 0} {
		if mode, err := f.StatFile(s.ctx, id, r, path); err != nil || mode.Type() != want {
			s.Errorf("%s: got %v, %v, want type %v", path, mode, err, want)
		}
	}
	var got bytes.Buffer
	if err := f.ReadFiles(s.ctx, id, r, dir+"/d", &got); err != nil {
		s.Fatal(err)
	}
	entries := map[string]string{}
	for in := tar.NewReader(&got); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			s.Fatal(err)
		}
		text, err := io.ReadAll(in)
		if err != nil {
			s.Fatal(err)
		}
		entries[strings.TrimPrefix(h.Name, "./")] = h.Linkname + string(text)
	}
	if len(entries) != 3 || entries["d/file"] != data || entries["d/-link"] != "file" {
		s.Errorf("got %d entries, a link to %q, %d bytes, want those written", len(entries),
			entries["d/-link"], len(entries["d/file"]))
	}
	if _, err := f.StatFile(s.ctx, id, r, dir+"/none"); !errors.Is(err, fs.ErrNotExist) {
		s.Errorf("stat of a missing file: got %v, want fs.ErrNotExist", err)
	}
	if err := f.ReadFiles(s.ctx, id, r, dir+"/none", io.Discard); !errors.Is(err, fs.ErrNotExist) {
		s.Errorf("read of a missing file: got %v, want fs.ErrNotExist", err)
	}
	if err := f.WriteFiles(s.ctx, id, r, dir+"/none", largeArchive(s)); !errors.Is(err, fs.ErrNotExist) {
		s.Errorf("write into a missing folder: got %v, want fs.ErrNotExist", err)
	}
}

// largeArchive returns an archive that is larger than what a connection buffers.
func largeArchive(s *suite) io.Reader {
	s.Helper()
	const size = 32 << 20
	var head bytes.Buffer
	if err := tar.NewWriter(&head).WriteHeader(&tar.Header{Name: "f", Typeflag: tar.TypeReg, Mode: 0o600, Size: size}); err != nil {
		s.Fatal(err)
	}
	return io.MultiReader(&head, bytes.NewReader(make([]byte, size+1024)))
}

// copyContents: the archive of the replica's folder has its contents, not its name.
func copyContents(s *suite) {
	f := need(s, s.Backend.Capabilities().Files)
	id := s.sleeper()
	const name = "copied-contents"
	if dir, _ := s.exec(id, shellCommand("pwd"), 0); dir == "/\n" {
		s.Skip("the folder is / with all of its file systems")
	}
	s.exec(id, shellCommand("echo one >"+name), 0)
	s.Cleanup(func() { s.exec(id, shellCommand("rm "+name), 0) }) // of this machine, for local replicas
	for _, dir := range []string{"", "."} {
		var got bytes.Buffer
		if err := f.ReadFiles(s.ctx, id, spec.Replica{Role: "r"}, dir, &got); err != nil {
			s.Fatal(err)
		}
		found := false
		for in := tar.NewReader(&got); ; {
			h, err := in.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				s.Fatal(err)
			}
			found = found || path.Clean(h.Name) == name
		}
		if !found {
			s.Errorf("%q: the archive has no %s", dir, name)
		}
	}
}

// dialPorts: several connections at once, and the end of one direction does not end the other.
func dialPorts(s *suite) {
	d := need(s, s.Backend.Capabilities().Ports)
	id := s.sleeper()
	port := 18080
	if d.SharesPorts() {
		port = listenHere(s.T)
	} else {
		s.exec(id, shellCommand("mkdir -p /tmp/www && echo hello >/tmp/www/index.html && httpd -p 0.0.0.0:18080 -h /tmp/www"), 0)
	}
	var all sync.WaitGroup
	for range 5 {
		all.Go(func() {
			if got, err := get(s.ctx, d, id, port); err != nil || !strings.Contains(got, "hello") {
				s.Errorf("got %q, %v, want hello", got, err)
			}
		})
	}
	all.Wait()
	if _, err := get(s.ctx, d, id, 1); !errors.Is(err, syscall.ECONNREFUSED) {
		s.Errorf("of a port without a listener: got %v, want ECONNREFUSED", err)
	}
}

// get sends a request and returns the answer.
func get(ctx context.Context, d backend.PortDialer, id string, port int) (string, error) {
	conn, err := d.DialPort(ctx, id, spec.Replica{Role: "r"}, port)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	if _, err := io.WriteString(conn, "GET / HTTP/1.0\r\n\r\n"); err != nil {
		return "", err
	}
	answer, err := io.ReadAll(conn)
	return string(answer), err
}

// listenHere answers connections to a port of this machine.
func listenHere(t *testing.T) int {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_ = conn.SetDeadline(time.Now().Add(time.Minute))
			_, _ = conn.Read(make([]byte, 100))
			_, _ = io.WriteString(conn, "hello\n")
			conn.Close()
		}
	}()
	return l.Addr().(*net.TCPAddr).Port
}
