//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"torchx/test/homedir"
	"torchx/test/openfiles"
)

// uiServer is a `torchx ui` in its own process.
type uiServer struct {
	t    *testing.T
	dir  string // the working folder, with the home
	cmd  *exec.Cmd
	base *url.URL
	auth string
}

// startUI starts `torchx ui` for the home in dir.
func startUI(t *testing.T, dir string, args ...string) *uiServer {
	t.Helper()
	s := &uiServer{t: t, dir: dir, cmd: exec.CommandContext(t.Context(), "torchx", append([]string{"ui", "--port", "0"}, args...)...)}
	s.cmd.Dir, s.cmd.Env = dir, append(os.Environ(), "TORCHX_HOME="+filepath.Join(dir, "home"), "HOME="+dir, "GORACE=atexit_sleep_ms=0")
	out, err := s.cmd.StdoutPipe()
	must(t, err)
	must(t, s.cmd.Start())
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill() // it may have ended
		_ = s.cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	must(t, err)
	s.base, err = url.Parse(strings.TrimSpace(line))
	must(t, err)
	s.auth = "Bearer " + s.base.Query().Get("token")
	return s
}

// ask sends a request with the token and returns the status and the body.
func (s *uiServer) ask(method, path, body string) (int, string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, "http://"+s.base.Host+path, strings.NewReader(body))
	must(s.t, err)
	r.Header.Set("Authorization", s.auth)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	answer, err := http.DefaultClient.Do(r)
	must(s.t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	must(s.t, err)
	return answer.StatusCode, string(text)
}

// get returns what a path answers; it must succeed.
func (s *uiServer) get(path string) string {
	s.t.Helper()
	status, text := s.ask(http.MethodGet, path, "")
	if status != http.StatusOK {
		s.t.Fatalf("GET %s: got status %d, want 200: %s", path, status, text)
	}
	return text
}

// post sends a body to a path; the answer must be of a schema, "" for any.
func (s *uiServer) post(path, body, schema string) string {
	s.t.Helper()
	status, text := s.ask(http.MethodPost, path, body)
	if status != http.StatusOK {
		s.t.Fatalf("POST %s: got status %d, want 200: %s", path, status, text)
	}
	if schema != "" {
		if err := validate(schema, text); err != nil {
			s.t.Errorf("POST %s: %v", path, err)
		}
	}
	return text
}

// runApp runs an app to its end and returns its ID.
func runApp(t *testing.T, dir string, args ...string) string {
	t.Helper()
	got := torchx(t, dir, nil, "", append([]string{"run"}, args...)...)
	if got.code != 0 {
		t.Fatalf("run %q: got exit code %d, want 0: %s", args, got.code, got.err)
	}
	handle := strings.TrimSpace(got.out)
	return handle[strings.LastIndexByte(handle, '/')+1:]
}

// hostile prints what must not become HTML or control a terminal.
const hostile = `printf '<script>alert(1)</script>\n\033[31mred\033[0m\n'; echo err >&2; echo '{"step":1,"loss":0.5}' >> "$TORCHX_METRICS"; echo data > "$TORCHX_OUTPUT"/a; ln -s /etc/passwd "$TORCHX_OUTPUT"/link; ln -s ../app.json "$TORCHX_OUTPUT"/up; mkdir "$TORCHX_OUTPUT"/d`

func TestUIAnswersAsCommandsDo(t *testing.T) {
	t.Parallel()
	dir := homedir.New(t)
	id := runApp(t, dir, "--tag", "k=<b>", "--tag", "A_TOKEN=hunter2", "--env", "MY_TOKEN=hunter2", "utils.sh", "--", "sh", "-c", hostile)
	s := startUI(t, dir)
	run := "/api/v1/runs/" + id
	for path, schema := range map[string]string{
		"/api/v1/runs": "list-page", run + "/status": "status", run + "/describe": "describe", run + "/events": "events", run + "/usage": "usage",
		run + "/metrics": "metrics", run + "/outputs": "output", "/api/v1/compare?run=" + id: "compare", "/api/v1/prune?keep=0": "prune",
		run + "/log": "ui-log", run + "/log/search?regex=script": "ui-search", run + "/curves": "ui-curves", run + "/usage/curves": "ui-curves",
		run + "/form": "ui-form", "/api/v1/session": "ui-session",
	} {
		text := s.get(path)
		if err := validate(schema, text); err != nil {
			t.Errorf("%s: %v\n%s", path, err, text)
		}
		if strings.Contains(text, "hunter2") {
			t.Errorf("%s reveals a secret:\n%s", path, text)
		}
	}
	if got, want := s.get("/api/v1/runs"), torchx(t, dir, nil, "", "list", "-o", "page").out; got != want {
		t.Errorf("runs: got\n%s\nwant what list prints\n%s", got, want)
	}
	s.post(run+"/tag", `{"set":{"x":"1"},"remove":["k"]}`, "tag")
	s.post(run+"/note", `{"note":"<i>"}`, "note")
	s.post(run+"/cancel", `{}`, "ui-done")
	started := s.post(run+"/rerun", `{"args":["--num_replicas","2","--","true"]}`, "ui-started")
	var again struct {
		AppID string `json:"app_id"`
	}
	must(t, json.Unmarshal([]byte(started), &again))
	if got := torchx(t, dir, nil, "", "wait", again.AppID); got.code != 0 {
		t.Errorf("wait for the rerun: got exit code %d, want 0: %s", got.code, got.err)
	}
	s.post(run+"/delete", `{}`, "ui-done")
	if status, _ := s.ask(http.MethodGet, run+"/status", ""); status != http.StatusNotFound {
		t.Errorf("status of a deleted run: got %d, want 404", status)
	}
}

// TestUIKeepsHiddenSecrets: a page sends back what it shows, where secrets are hidden.
func TestUIKeepsHiddenSecrets(t *testing.T) {
	t.Parallel()
	dir := homedir.New(t)
	id := runApp(t, dir, "--tag", "url=https://u:hunter2@h", "--note", "PASSWORD=hunter2 works", "utils.sh", "--env", "MY_TOKEN=hunter2",
		"--", "sh", "-c", "echo $MY_TOKEN $1", "-", "API_KEY=hunter2")
	s := startUI(t, dir)
	run := "/api/v1/runs/" + id
	s.post(run+"/note", `{"note":"PASSWORD=****** works again"}`, "note")
	s.post(run+"/tag", `{"set":{"url":"https://u:******@other"}}`, "tag")
	for command, want := range map[string]string{"note": "PASSWORD=hunter2 works again\n", "tag": "url=https://u:hunter2@other\n"} {
		if got := torchx(t, dir, nil, "", "--show-secrets", command, id).out; got != want {
			t.Errorf("%s: got %q, want %q", command, got, want)
		}
	}
	started := s.post(run+"/rerun", `{"args":["--env=A=1,MY_TOKEN=******","--","sh","-c","echo $A $MY_TOKEN $1","-","API_KEY=******"]}`, "ui-started")
	var again struct {
		AppID string `json:"app_id"`
	}
	must(t, json.Unmarshal([]byte(started), &again))
	torchx(t, dir, nil, "", "wait", again.AppID)
	if got, want := torchx(t, dir, nil, "", "log", again.AppID+"/sh/0").out, "1 hunter2 API_KEY=hunter2\n"; got != want {
		t.Errorf("log of the rerun: got %q, want %q", got, want)
	}
	for path, body := range map[string]string{"/note": `{"note":"hint: ******"}`, "/tag": `{"set":{"url":"******"}}`, "/rerun": `{"args":["--","sh","-c","echo ******"]}`} {
		if status, text := s.ask(http.MethodPost, run+path, body); status != http.StatusBadRequest || strings.Contains(text, "hunter2") || !strings.Contains(text, "would show") {
			t.Errorf("%s %s: got %d %s, want 400 and why", path, body, status, text)
		}
	}
}

func TestUIRefuses(t *testing.T) {
	t.Parallel()
	dir := homedir.New(t)
	id := runApp(t, dir, "utils.sh", "--", "sh", "-c", hostile)
	s := startUI(t, dir)
	run := "/api/v1/runs/" + id
	for _, tt := range []struct {
		method, path, body string
		want               int
	}{
		{"GET", run + "/outputs/a", "", 200},
		{"GET", run + "/outputs/none", "", 404},
		{"GET", run + "/outputs/link", "", 403},
		{"GET", run + "/outputs/up", "", 403},
		{"GET", run + "/outputs/..%2fapp.json", "", 403},
		{"GET", run + "/outputs/%2e%2e%2fapp.json", "", 403},
		{"GET", run + "/outputs/d%2f..%2f..%2fapp.json", "", 403},
		{"GET", run + "/outputs/%2fetc%2fpasswd", "", 403},
		{"GET", run + "/outputs/a%00b", "", 403},
		{"GET", "/static/..%2fweb.go", "", 404},
		{"GET", "/static/page.html", "", 404},
		{"GET", "/static/js/", "", 404},
		{"GET", "/nothing", "", 404},
		{"GET", "/api/v1/nothing", "", 404},
		{"GET", "/api/v1/runs/none/status", "", 404},
		{"GET", "/api/v1/runs/--all/status", "", 404},
		{"GET", "/api/v1/runs?limit=x", "", 400},
		{"GET", "/api/v1/runs?limit=--json", "", 400},
		{"GET", "/api/v1/compare?run=--help", "", 404},
		{"GET", run + "/log?role=none", "", 404},
		{"GET", run + "/log?line=0", "", 400},
		{"GET", run + "/log?attempt=7", "", 404},
		{"GET", run + "/log/search?regex=(", "", 400},
		{"GET", run + "/curves?buckets=0", "", 400},
		{"GET", "/api/v1/stream?watch=" + url.QueryEscape("run:none"), "", 404},
		{"GET", "/api/v1/stream?watch=x", "", 400},
		{"POST", run + "/cancel", "not JSON", 400},
		{"POST", run + "/cancel", `{"unknown":1}`, 400},
		{"POST", run + "/tag", `{"set":{"a=b":"c"}}`, 400},
		{"POST", run + "/rerun", `{"args":["--nothing","1"]}`, 400},
		{"POST", run + "/rerun", `{"args":["a\u0000b"]}`, 400},
		{"POST", run + "/rerun", `{"args":["--help"]}`, 400},
		{"DELETE", run + "/status", "", 405},
	} {
		if got, text := s.ask(tt.method, tt.path, tt.body); got != tt.want {
			t.Errorf("%s %s %s: got status %d, want %d: %s", tt.method, tt.path, tt.body, got, tt.want, text)
		}
	}
	readOnly := startUI(t, dir, "--read-only")
	if got, _ := readOnly.ask(http.MethodPost, run+"/delete", `{}`); got != http.StatusForbidden {
		t.Errorf("delete of a read-only page: got status %d, want 403", got)
	}
}

// uiLog is what the tests read of a window.
type uiLog struct {
	Total, First int64
	Lines        []struct {
		Number int64
		Line   string
	}
}

func TestUIWindowsOfMergedLogs(t *testing.T) {
	t.Parallel()
	dir := homedir.New(t)
	program := `i=0; while [ $i -lt 200 ]; do i=$((i+1)); echo "line $i"; echo "error $i" >&2; done; printf 'a\rb\rlast'`
	must(t, os.WriteFile(filepath.Join(dir, "many.star"), fmt.Appendf(nil, `
def many():
    """Several replicas"""
    return specs.AppDef(name="many", roles=[specs.Role(name="w", image="", entrypoint="sh", args=["-c", %q], num_replicas=3)])
`, program), 0o600))
	id := runApp(t, dir, "many.star:many")
	s := startUI(t, dir)
	read := func(query string) (log uiLog) {
		t.Helper()
		must(t, json.Unmarshal([]byte(s.get("/api/v1/runs/"+id+"/log?"+query)), &log))
		return log
	}
	const total = 3 * 401
	all := read("line=1&count=2000")
	if all.Total != total || len(all.Lines) != total {
		t.Fatalf("got %d of %d lines, want all %d", len(all.Lines), all.Total, total)
	}
	for _, first := range []int{1, 2, 200, 601, 1000, total - 1, total} {
		part := read(fmt.Sprintf("line=%d&count=7", first))
		for i, l := range part.Lines {
			if l != all.Lines[first-1+i] || l.Number != int64(first+i) {
				t.Errorf("line %d: got %v, want %v", first+i, l, all.Lines[first-1+i])
			}
		}
		if want := min(7, total-first+1); len(part.Lines) != want {
			t.Errorf("from line %d: got %d lines, want %d", first, len(part.Lines), want)
		}
	}
	if tail := read("tail=3"); len(tail.Lines) != 3 || tail.First != total-2 || tail.Lines[2].Line != "a\rb\rlast" {
		t.Errorf("got tail %+v, want the last 3 lines", tail)
	}
	if past := read(fmt.Sprintf("line=%d", total+1)); len(past.Lines) != 0 || past.Total != total {
		t.Errorf("got %+v, want no line after the last", past)
	}
	var found struct {
		Count, Scanned int64
		Lines          []int64
	}
	must(t, json.Unmarshal([]byte(s.get("/api/v1/runs/"+id+"/log/search?regex="+url.QueryEscape("^line 1.$|last"))), &found))
	if found.Count != 33 || found.Scanned != total {
		t.Errorf("got %d matches in %d lines, want 33 in %d", found.Count, found.Scanned, total)
	}
	for _, n := range found.Lines {
		if l := all.Lines[n-1].Line; !strings.HasPrefix(l, "line 1") && !strings.HasSuffix(l, "last") {
			t.Errorf("line %d matches: got %q, want one that does", n, l)
		}
	}
}

// openStream opens a stream of events by hand and returns it after its first event.
func (s *uiServer) openStream(watch string) (net.Conn, *bufio.Reader, error) {
	conn, err := net.DialTimeout("tcp", s.base.Host, patience)
	if err != nil {
		return nil, nil, err
	}
	in := bufio.NewReaderSize(conn, 256)
	if err = conn.SetDeadline(time.Now().Add(patience)); err == nil {
		_, err = fmt.Fprintf(conn, "GET /api/v1/stream?watch=%s HTTP/1.1\r\nHost: %s\r\nAuthorization: %s\r\n\r\n", watch, s.base.Host, s.auth)
	}
	return conn, in, errors.Join(err, waitLine(in, "event: hello"))
}

// waitLine reads up to a line.
func waitLine(in *bufio.Reader, want string) error {
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return fmt.Errorf("waiting for %q: %w", want, err)
		}
		if strings.TrimSpace(line) == want {
			return nil
		}
	}
}

// TestUIManyStreams: many open pages, none of which reads, delay neither a page that reads nor the
// end of the server.
func TestUIManyStreams(t *testing.T) {
	t.Parallel()
	dir := homedir.New(t)
	id := runApp(t, dir, "utils.echo")
	s := startUI(t, dir)
	for range openfiles.AtMost(t, manyStreams, 2) {
		conn, _, err := s.openStream("runs")
		must(t, err)
		defer conn.Close()
	}
	conn, in, err := s.openStream("runs&watch=run:" + id)
	must(t, err)
	defer conn.Close()
	ended := make(chan error, 1)
	go func() { ended <- waitLine(in, "event: runs") }()
	for n := 0; ; n++ { // the feed does not tell of earlier changes
		s.post("/api/v1/runs/"+id+"/note", fmt.Sprintf(`{"note":"%d"}`, n), "")
		select {
		case err := <-ended:
			must(t, err)
		case <-time.After(100 * time.Millisecond):
			continue
		}
		break
	}
	must(t, s.cmd.Process.Signal(os.Interrupt))
	exit := make(chan error, 1)
	go func() { exit <- s.cmd.Wait() }()
	select {
	case err := <-exit:
		var failed *exec.ExitError
		if err != nil && !errors.As(err, &failed) {
			t.Fatal(err)
		}
	case <-time.After(patience):
		t.Fatalf("the server did not end within %v of Ctrl-C", patience)
	}
}

// Other processes start and change apps: pages are told.
func TestUITellsOfOtherProcesses(t *testing.T) {
	t.Parallel()
	dir := homedir.New(t)
	s := startUI(t, dir)
	follow := func(watch string) func(event string, change ...string) {
		conn, in, err := s.openStream(watch)
		must(t, err)
		t.Cleanup(func() { conn.Close() })
		return func(event string, change ...string) {
			t.Helper()
			for stop := time.Now().Add(patience); ; { // the feed does not tell of earlier changes
				if got := torchx(t, dir, nil, "", change...); got.code != 0 {
					t.Fatalf("%q: got exit code %d, want 0: %s", change, got.code, got.err)
				}
				must(t, conn.SetReadDeadline(time.Now().Add(10*time.Second)))
				err := waitLine(in, "event: "+event)
				if err == nil {
					return
				}
				if !errors.Is(err, os.ErrDeadlineExceeded) || time.Now().After(stop) {
					t.Fatalf("after %q: %v", change, err)
				}
			}
		}
	}
	follow("runs")("runs", "run", "-d", "utils.echo")
	got := torchx(t, dir, nil, "", "run", "-d", "utils.sh", "-c", "while [ ! -e \""+filepath.Join(dir, "go")+"\" ]; do sleep 0.1; done; echo end; sleep 600")
	handle := strings.TrimSpace(got.out)
	id := handle[strings.LastIndexByte(handle, '/')+1:]
	run := follow("run:" + id)
	run("run", "note", id, "mine")
	run("run", "tag", id, "k="+strings.Repeat("v", 9))
	must(t, os.WriteFile(filepath.Join(dir, "go"), nil, 0o600))
	run("run", "cancel", id)
}

// TestUITellsTheEndOfAFlood: events of a flood are rare, but the last lines have one.
func TestUITellsTheEndOfAFlood(t *testing.T) {
	t.Parallel()
	dir := homedir.New(t)
	s := startUI(t, dir)
	flood := filepath.Join(dir, "flood")
	id := runApp(t, dir, "-d", "utils.sh", "-c", "while [ ! -e \""+flood+"\" ]; do echo wait; sleep 0.1; done; seq 500000; echo last; exec sleep 600")
	conn, in, err := s.openStream("log:" + id)
	must(t, err)
	defer conn.Close()
	must(t, waitLine(in, "event: log"))
	must(t, os.WriteFile(flood, nil, 0o600))
	for text := ""; !strings.Contains(text, `"line":"last"`); text = s.get("/api/v1/runs/" + id + "/log?tail=1") {
		if err := waitLine(in, "event: log"); err != nil {
			t.Fatalf("the log ends with %s: %v", text, err)
		}
	}
	s.post("/api/v1/runs/"+id+"/cancel", "{}", "")
}

// TestUISlowReader: a client that reads nothing delays no other, and an answer is not lost by
// sharing it.
func TestUISlowReader(t *testing.T) {
	t.Parallel()
	dir := homedir.New(t)
	id := runApp(t, dir, "utils.sh", "-c", "seq 4000 | sed s/$/"+strings.Repeat("x", 1500)+"/")
	s := startUI(t, dir)
	path := "/api/v1/runs/" + id + "/log?line=1&count=2000"
	for range 200 {
		conn, err := net.DialTimeout("tcp", s.base.Host, patience)
		must(t, err)
		defer conn.Close()
		_, err = fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\nAuthorization: %s\r\n\r\n", path, s.base.Host, s.auth)
		must(t, err)
	}
	var log uiLog
	must(t, json.Unmarshal([]byte(s.get(path)), &log))
	if log.Total != 4000 || len(log.Lines) != 2000 {
		t.Errorf("got %d of %d lines, want 2000 of 4000", len(log.Lines), log.Total)
	}
	must(t, json.Unmarshal([]byte(s.get("/api/v1/runs/"+id+"/log?line=3990&tail=5")), &log))
	if log.First != 3996 || len(log.Lines) != 5 {
		t.Errorf("the last 5 lines from 3990 on: got %d from %d, want 5 from 3996", len(log.Lines), log.First)
	}
	must(t, json.Unmarshal([]byte(s.get("/api/v1/runs/"+id+"/log?line=3999&tail=500")), &log))
	if log.First != 3999 || len(log.Lines) != 2 {
		t.Errorf("the lines from 3999 on: got %d from %d, want 2 from 3999", len(log.Lines), log.First)
	}
}

// certificate writes a certificate of 127.0.0.1 and its key, and returns who trusts it.
func certificate(t *testing.T, dir string) *x509.CertPool {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	made := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"runs.example"}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, made, made, &key.PublicKey, key)
	must(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "cert.pem"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "key.pem"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600))
	pool := x509.NewCertPool()
	made, err = x509.ParseCertificate(der)
	must(t, err)
	pool.AddCert(made)
	return pool
}

func TestUIOverTLS(t *testing.T) {
	t.Parallel()
	dir := homedir.New(t)
	pool := certificate(t, dir)
	s := startUI(t, dir, "--cert", "cert.pem", "--key", "key.pem")
	jar, err := cookiejar.New(nil)
	must(t, err)
	client := &http.Client{Jar: jar, Timeout: patience, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true}}
	ask := func(method, to, origin string) (http.Response, error) {
		r, err := http.NewRequestWithContext(t.Context(), method, to, http.NoBody)
		must(t, err)
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
		answer, err := client.Do(r)
		if err != nil {
			return http.Response{}, err
		}
		return *answer, answer.Body.Close()
	}
	if s.base.Scheme != "https" {
		t.Fatalf("got URL %s, want https", s.base)
	}
	answer, err := ask(http.MethodGet, s.base.String(), "")
	must(t, err)
	at, key := answer.Request.URL, strings.TrimPrefix(answer.Request.URL.Fragment, "key=")
	if answer.StatusCode != http.StatusOK || answer.ProtoMajor != 2 || at.Query().Has("token") {
		t.Errorf("got status %d over HTTP/%d at %s, want 200 over HTTP/2 without the token", answer.StatusCode, answer.ProtoMajor, at)
	}
	for _, tt := range []struct {
		origin string
		want   int
	}{{"", 200}, {"https://" + s.base.Host, 200}, {"http://" + s.base.Host, 403}, {"https://evil.example", 403}} {
		answer, err := ask(http.MethodGet, "https://"+s.base.Host+"/api/v1/runs?token="+key, tt.origin)
		must(t, err)
		if answer.StatusCode != tt.want {
			t.Errorf("origin %q: got status %d, want %d", tt.origin, answer.StatusCode, tt.want)
		}
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	answer, err = ask(http.MethodGet, s.base.String(), "")
	must(t, err)
	if got := answer.Cookies(); len(got) != 1 || !got[0].Secure || !got[0].HttpOnly || got[0].SameSite != http.SameSiteStrictMode {
		t.Errorf("got cookies %v, want one that is Secure, HttpOnly and SameSite=Strict", got)
	}
	if answer, err := ask(http.MethodGet, "http://"+s.base.Host+"/", ""); err == nil && answer.StatusCode == http.StatusOK {
		t.Error("the page answers without TLS")
	}
	old := &tls.Config{RootCAs: pool, MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10} //nolint:gosec // must be refused
	if conn, err := tls.DialWithDialer(&net.Dialer{Timeout: patience}, "tcp", s.base.Host, old); err == nil {
		conn.Close()
		t.Error("the page speaks TLS 1.1, want at least 1.2")
	}
}

// TestUICookieOpensNoData: browsers send the cookie also to other ports of the host, where another user may listen.
func TestUICookieOpensNoData(t *testing.T) {
	t.Parallel()
	dir := homedir.New(t)
	id := runApp(t, dir, "--note", "mine", "utils.sh", "-c", "echo data >> $TORCHX_OUTPUT/a; echo said")
	s := startUI(t, dir)
	client := &http.Client{Timeout: patience, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	var cookies []*http.Cookie
	var location string // of the last answer
	ask := func(method, path, body string) (int, string) {
		r, err := http.NewRequestWithContext(t.Context(), method, "http://"+s.base.Host+path, strings.NewReader(body))
		must(t, err)
		r.Header.Set("Content-Type", "application/json")
		for _, c := range cookies {
			r.AddCookie(c)
		}
		answer, err := client.Do(r)
		must(t, err)
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		must(t, err)
		cookies, location = append(cookies, answer.Cookies()...), answer.Header.Get("Location")
		return answer.StatusCode, string(text)
	}
	if status, _ := ask(http.MethodGet, "/?"+s.base.RawQuery, ""); status != http.StatusSeeOther || len(cookies) != 1 {
		t.Fatalf("got status %d and %d cookies, want a redirect with one", status, len(cookies))
	}
	run := "/api/v1/runs/" + id
	for _, path := range []string{"/", "/runs/" + id, "/runs/" + id + "?tab=log", "/sweeps/" + id, "/compare?run=" + id} {
		if status, text := ask(http.MethodGet, path, ""); status != http.StatusOK || strings.Contains(text, id) || strings.Contains(text, s.base.Query().Get("token")) {
			t.Errorf("GET %s: got status %d, want a frame without data:\n%s", path, status, text)
		}
	}
	for _, path := range []string{
		"/api/v1/session", "/api/v1/runs", run + "/status", run + "/log", run + "/log/download", run + "/outputs/a", "/api/v1/stream?watch=runs",
		"/%61pi/v1/runs", "/api/v1/prune?keep=0",
	} {
		if status, text := ask(http.MethodGet, path, ""); status != http.StatusUnauthorized {
			t.Errorf("GET %s: got status %d, want 401:\n%s", path, status, text)
		}
	}
	for _, path := range []string{"//api/v1/runs", "/static/../api/v1/runs", "/api/../api/v1/runs"} {
		if status, text := ask(http.MethodGet, path, ""); status == http.StatusOK || strings.Contains(text, id) {
			t.Errorf("GET %s: got status %d, want no data:\n%s", path, status, text)
		}
	}
	for _, path := range []string{"/?token=", "/?token=x", "/runs/" + id + "?token=x"} {
		if status, text := ask(http.MethodGet, path, ""); status != http.StatusSeeOther || strings.Contains(location, "#") {
			t.Errorf("GET %s: got status %d and location %q, want a redirect without the key:\n%s", path, status, location, text)
		}
	}
	for _, action := range []string{"/cancel", "/rerun", "/tag", "/note", "/delete"} {
		if status, text := ask(http.MethodPost, run+action, "{}"); status != http.StatusUnauthorized {
			t.Errorf("POST %s: got status %d, want 401:\n%s", action, status, text)
		}
	}
	if got := torchx(t, dir, nil, "", "note", id).out; got != "mine\n" {
		t.Errorf("got note %q, want mine", got)
	}
}

func TestUISocketAndUsage(t *testing.T) {
	t.Parallel()
	dir := homedir.New(t)
	socket := filepath.Join(dir, "s")
	cmd := exec.CommandContext(t.Context(), "torchx", "ui", "--listen", "unix:"+socket)
	cmd.Env = append(os.Environ(), "TORCHX_HOME="+filepath.Join(dir, "home"), "HOME="+dir)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	line, err := bufio.NewReader(out).ReadString('\n')
	must(t, err)
	info, err := os.Stat(socket)
	must(t, err)
	if got := info.Mode().Perm(); got != 0o600 {
		t.Errorf("got mode %v of the socket, want 0600", got)
	}
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, strings.Replace(strings.TrimSpace(line), "/?", "/api/v1/runs?", 1), http.NoBody)
	must(t, err)
	answer, err := client.Do(r)
	must(t, err)
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Errorf("got status %d, want 200", answer.StatusCode)
	}
	for _, args := range [][]string{
		{"--listen", "0.0.0.0"},
		{"--listen", "192.0.2.1:80"},
		{"--cert", "c"},
		{"--port", "x"},
		{"--port", "70000"},
		{"--listen", "a b"},
		{"--listen", "unix:"},
		{"--listen", "unix:" + strings.Repeat("x", 200)},
		{"--listen", "127.0.0.1:1", "--port", "2"},
		{"a", "b"},
		{"--stop", "--port", "1"},
	} {
		if got := torchx(t, dir, nil, "", append([]string{"ui"}, args...)...); got.code != 2 || strings.Count(got.err, "\n") != 1 {
			t.Errorf("ui %q: got exit code %d and %q, want 2 and one line", args, got.code, got.err)
		}
	}
	if got := torchx(t, dir, nil, "", "ui", "--port", "0", "--cert", "none", "--key", "none"); got.code != 1 || strings.Count(got.err, "\n") != 1 {
		t.Errorf("got exit code %d and %q without a certificate, want 1 and one line", got.code, got.err)
	}
}
