//go:build unix

package local

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// serve is a replica that listens on the port http once the file "open" exists, is healthy
// once the file "healthy" exists, and ends after a request of /quit.
func serve() int {
	waitForFile("open")
	quit := make(chan struct{})
	mux := http.NewServeMux()
	mux.HandleFunc("/health", func(w http.ResponseWriter, _ *http.Request) {
		if _, err := os.Stat("healthy"); err != nil {
			http.Error(w, "not yet", http.StatusServiceUnavailable)
		}
	})
	mux.HandleFunc("/quit", func(http.ResponseWriter, *http.Request) { close(quit) })
	var c net.ListenConfig
	l, err := c.Listen(context.Background(), "tcp", "localhost:"+os.Getenv("TORCHX_PORT_HTTP"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	s := &http.Server{Handler: mux, ReadHeaderTimeout: testTimeout}
	go func() { _ = s.Serve(l) }()
	<-quit
	_ = s.Shutdown(context.Background())
	return 0
}

// ask is a replica that fails if the server is not listening.
func ask(port string) int {
	resp, err := http.Get("http://localhost:" + port + "/quit") //nolint:noctx // the test ends the process
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer resp.Body.Close()
	_, _ = io.Copy(os.Stdout, resp.Body)
	return 0
}

func waitForFile(name string) {
	for _, err := os.Stat(name); err != nil; _, err = os.Stat(name) {
		time.Sleep(5 * time.Millisecond)
	}
}

func order(r spec.Role, own map[string]any) spec.Role {
	r.Metadata = map[string]any{spec.OrderKey: own}
	return r
}

// server returns the role db with a probe, and the role web, which depends on it.
func server(probe map[string]any) []spec.Role {
	db := order(spec.NewRole("db", spec.None), map[string]any{"ready": probe})
	db.Entrypoint, db.PortMap = "sh", spec.Map[int]{{Key: "http", Value: 80}}
	db.Args = []string{"-c", "echo $TORCHX_PORT_HTTP > port; exec \"" + os.Args[0] + "\" serve"}
	web := sh("web", 1, "exec \""+os.Args[0]+"\" ask $TORCHX_PORT_DB_HTTP")
	return []spec.Role{order(web, map[string]any{"depends_on": map[string]any{"db": "ready"}}), db}
}

// submitInDir submits roles and returns the app's ID and the folder in which they run.
func (f *fixture) submitInDir(cfg backend.Config, roles ...spec.Role) (id, dir string) {
	f.Helper()
	p := f.plan(cfg, roles...)
	if err := f.b.Submit(f.ctx, p); err != nil {
		f.Fatal(err)
	}
	return p.ID, p.Request.(*Request).RoleParams[0].Value[0].Cwd
}

func (f *fixture) create(path ...string) {
	f.Helper()
	if err := os.WriteFile(filepath.Join(path...), nil, 0o600); err != nil {
		f.Fatal(err)
	}
}

// waitForReplica waits until replica 0 of a role has a state and a message.
func (f *fixture) waitForReplica(id, role string, state spec.State, msg string) {
	f.Helper()
	f.waitFor(role+" "+msg, func() bool {
		s, err := f.b.Describe(f.ctx, id)
		if err != nil {
			f.Fatal(err)
		}
		r := s.Replica(spec.Replica{Role: role})
		return r.State == state && r.Msg == msg
	})
}

// A client starts when its server listens.
func TestReadyByPort(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id, dir := f.submitInDir(nil, server(map[string]any{"port": "http", "timeout": 60})...)
	f.waitForReplica(id, "web", spec.Pending, "waits for role db to be ready")
	f.waitForReplica(id, "db", spec.Running, "not ready yet (port http)")
	f.create(dir, "open")
	s := f.wait(id)
	f.expect(s, spec.Succeeded, 0)
	web, db := s.Replica(spec.Replica{Role: "web"}), s.Replica(spec.Replica{Role: "db"})
	if web.Msg != "" || db.Msg != "" || web.StartedAt.Before(*db.StartedAt) {
		t.Errorf("web %+v, db %+v", web, db)
	}
}

// A server that listens but is not healthy is not ready.
func TestReadyByPath(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id, dir := f.submitInDir(nil, server(map[string]any{"port": "http", "path": "/health", "period": 0.02})...)
	f.create(dir, "open")
	port := f.waitFile(filepath.Join(dir, "port"))
	f.waitFor("the server", func() bool {
		c, err := (&net.Dialer{}).DialContext(f.ctx, "tcp", "localhost:"+port)
		if err != nil {
			return false
		}
		return c.Close() == nil
	})
	f.waitForReplica(id, "web", spec.Pending, "waits for role db to be ready")
	f.create(dir, "healthy")
	f.expect(f.wait(id), spec.Succeeded, 0)
}

// A line of either stream counts, but only when it is complete.
func TestReadyByLog(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"stdout": `echo noise; printf 'rank 0 re'; sleep 0.05; printf 'ady\r\n'`,
		"stderr": `i=0; while [ $i -lt 30000 ]; do echo not ready; i=$((i+1)); done; echo rank 0 ready >&2`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			db := order(sh("db", 1, "while ! test -e open; do sleep 0.01; done; "+script+"; while ! test -e done; do sleep 0.01; done"),
				map[string]any{"ready": map[string]any{"log": "^rank [0-9]+ ready$"}})
			web := order(sh("web", 1, "echo > done"), map[string]any{"depends_on": map[string]any{"db": "ready"}})
			id, dir := f.submitInDir(nil, web, db)
			f.waitForReplica(id, "web", spec.Pending, "waits for role db to be ready")
			f.create(dir, "open")
			f.expect(f.wait(id), spec.Succeeded, 0)
		})
	}
}

// A replica that is not ready in time fails, even if it then exits with 0. Its retry
// policy applies.
func TestReadyTimeout(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	db := sh("db", 1, `trap "exit 0" TERM; while :; do sleep 0.02; done`)
	db.RetryPolicy, db.MaxRetries = spec.RetryReplica, 1
	_, s := f.run(nil, order(db, map[string]any{"ready": map[string]any{"port": 1, "timeout": 0.2}}), sh("other", 1, "exec sleep 600"))
	f.expect(s, spec.Failed, 124)
	r := s.Replica(spec.Replica{Role: "db"})
	if want := "not ready within 0.2 s (port 1)"; r.Msg != want || r.Attempt != 1 || len(s.Past) != 1 || s.Past[0].Msg != want {
		t.Errorf("got db %+v, past attempts %+v, want two attempts with %q", r, s.Past, want)
	}
}

// Apps can end while roles wait for others.
func TestEndWhileWaiting(t *testing.T) {
	t.Parallel()
	roles := func() []spec.Role {
		return []spec.Role{
			order(sh("db", 1, "echo up > up; while ! test -e fail; do sleep 0.01; done; exit 5"), map[string]any{"ready": map[string]any{"log": "never"}}),
			order(sh("web", 2, "echo > started"), map[string]any{"depends_on": map[string]any{"db": "ready"}}),
		}
	}
	tests := []struct {
		name  string
		cfg   backend.Config
		end   func(f *fixture, id, dir string)
		state spec.State
		code  int
		msg   string
	}{
		{"cancel", nil, func(f *fixture, id, _ string) {
			if err := f.b.Cancel(f.ctx, id, backend.CancelOptions{}); err != nil {
				f.Fatal(err)
			}
		}, spec.Cancelled, 130, "not started: it waited for role db to be ready"},
		{"failure", nil, func(f *fixture, _, dir string) { f.create(dir, "fail") }, spec.Failed, 5, "not started: it waited for role db to be ready"},
		{
			"failure without fail_fast",
			backend.Config{"fail_fast": false},
			func(f *fixture, _, dir string) { f.create(dir, "fail") }, spec.Failed, 5, "not started: it waited for role db to be ready",
		},
		{"death of the agent", nil, func(f *fixture, id, _ string) { f.killAgent(id) }, spec.Failed, 125, "not started: it waited for role db to be ready"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			id, dir := f.submitInDir(test.cfg, roles()...)
			f.waitFile(filepath.Join(dir, "up"))
			f.waitForReplica(id, "web", spec.Pending, "waits for role db to be ready")
			test.end(f, id, dir)
			s := f.wait(id)
			f.expect(s, test.state, test.code)
			if web := s.Replica(spec.Replica{Role: "web", ID: 1}); web.State != spec.Cancelled || web.StartedAt != nil || web.Msg != test.msg {
				t.Errorf("web is %+v", web)
			}
			if _, err := os.Stat(filepath.Join(dir, "started")); err == nil {
				t.Error("web was started")
			}
		})
	}
}

// "started" and "succeeded" need no probe.
func TestOrderOfRoles(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	log := "echo %s >> log"
	_, dir := f.submitInDir(nil,
		order(sh("c", 1, fmt.Sprintf(log, "c")), map[string]any{"depends_on": map[string]any{"b": "succeeded", "a": "started"}}),
		order(sh("b", 1, "sleep 0.1; "+fmt.Sprintf(log, "b")), map[string]any{"depends_on": []any{"a"}}),
		sh("a", 1, fmt.Sprintf(log, "a")))
	f.expect(f.wait("app-1"), spec.Succeeded, 0)
	data, err := os.ReadFile(filepath.Join(dir, "log"))
	if err != nil || string(data) != "a\nb\nc\n" {
		t.Errorf("got order %q, %v, want a, b, c", data, err)
	}
}
