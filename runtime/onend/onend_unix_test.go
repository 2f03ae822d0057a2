//go:build unix

package onend

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"torchx/runtime/agent"
	"torchx/runtime/backend"
	"torchx/runtime/secrets"
	"torchx/runtime/spec"
)

// newPerformer returns a performer for an app that failed after two hours.
func newPerformer(t *testing.T, actions ...string) *performer {
	t.Helper()
	folder := t.TempDir()
	dir := filepath.Join(folder, agent.OnEndFolder)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	start, code := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), 124
	finish := start.Add(2 * time.Hour)
	end := &agent.End{
		OnEnd: backend.OnEnd{Actions: actions, Dir: folder, Command: "utils.echo --msg hi"},
		Status: spec.Status{
			Handle: "local://torchx/x", State: spec.Failed, ExitCode: &code, Msg: "deadline of 2h exceeded with HF_TOKEN=hunter22",
			StartedAt: &start, FinishedAt: &finish,
		},
	}
	return &performer{
		dir: dir, end: end, rules: &secrets.Rules{}, backoff: []time.Duration{0, 0, 0}, limit: time.Minute, log: log.New(io.Discard, "", 0),
	}
}

// perform performs all actions and returns what is recorded.
func (p *performer) recorded(t *testing.T) (texts []string) {
	t.Helper()
	if err := p.performAll(); err != nil {
		t.Fatal(err)
	}
	for _, r := range Records(filepath.Dir(p.dir)) {
		texts = append(texts, r.String())
	}
	return texts
}

func expect(t *testing.T, got []string, want ...string) {
	t.Helper()
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestCommand(t *testing.T) {
	t.Parallel()
	p := newPerformer(t, "cat > summary; env > env", "echo first; echo TOKEN=hunter22 last; exit 3", "kill -9 $$", "no-such-program")
	got := p.recorded(t)
	expect(t, got[:3], "cat > summary; env > env: succeeded",
		"echo first; echo TOKEN=****** last; exit 3: failed: exit code 3 (TOKEN=****** last)", "kill -9 $$: failed: signal: killed")
	if !strings.Contains(got[3], "no-such-program: failed: exit code 127 (") {
		t.Errorf("got %s", got[3])
	}
	sum, env := readText(t, p.end.Dir, "summary"), readText(t, p.end.Dir, "env")
	for _, want := range []string{"app: local://torchx/x\n", "state: FAILED\n", "exit code: 124\n", "duration: 2h\n", "HF_TOKEN=******", "component: utils.echo --msg hi\n"} {
		if !strings.Contains(sum, want) {
			t.Errorf("got summary\n%s\nwithout %q", sum, want)
		}
	}
	for _, want := range []string{"TORCHX_HANDLE=local://torchx/x\n", "TORCHX_STATE=FAILED\n", "TORCHX_EXIT_CODE=124\n", "TORCHX_DURATION=7200\n"} {
		if !strings.Contains(env, want) {
			t.Errorf("got variables without %q", want)
		}
	}
}

// TestCommandHidesItsText: a command with a secret is not an argument of a process, which other users
// can read, nor a variable of what it runs. Its own words decide its exit code.
func TestCommandHidesItsText(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("arguments are read from /proc, which only Linux has")
	}
	p := newPerformer(t, "tr '\\0' '\\n' </proc/$$/cmdline >args; env >env; : hunter22\n# end", `printf '%s|' "a  b" '$HOME' \\ >words; exit 7`)
	if got := p.recorded(t); !strings.HasSuffix(got[1], "exit 7: failed: exit code 7") {
		t.Errorf("got %q, want that the second one has failed with 7", got)
	}
	if words := readText(t, p.end.Dir, "words"); words != `a  b|$HOME|\|` {
		t.Errorf("got words %s", words)
	}
	args, env := readText(t, p.end.Dir, "args"), readText(t, p.end.Dir, "env")
	if !strings.Contains(args, "sh") || strings.Contains(args, "hunter22") || strings.Contains(env, "hunter22") {
		t.Errorf("arguments %q or variables have the secret:\n%s", args, env)
	}
}

func readText(t *testing.T, path ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// A command that does not end is killed with its children, and much output is dropped.
func TestCommandBounds(t *testing.T) {
	t.Parallel()
	p := newPerformer(t, "head -c 10000000 /dev/zero | tr '\\0' x", "sleep 600 | sleep 600")
	p.limit = 5 * time.Second
	got := p.recorded(t)
	if !strings.HasSuffix(got[0], ": succeeded") || !strings.HasSuffix(got[1], ": failed: killed because it ran longer than 5s") {
		t.Errorf("got %q", got)
	}
	if out := readText(t, p.dir, outputFile); len(out) > maxOutput+1000 || !strings.Contains(out, "9934464 more bytes are dropped") {
		t.Errorf("got %d bytes of output: …%s", len(out), out[max(0, len(out)-100):])
	}
}

// Each action begins once: what was interrupted is not run again, what had not begun is.
func TestAtMostOnce(t *testing.T) {
	t.Parallel()
	p := newPerformer(t, "echo 0 >> ran", "echo 1 >> ran", "echo 2 >> ran")
	if err := p.record(0, started, ""); err != nil {
		t.Fatal(err)
	}
	want := []string{"echo 0 >> ran: failed: interrupted; it is not run again", "echo 1 >> ran: succeeded", "echo 2 >> ran: succeeded"}
	expect(t, p.recorded(t), want...)
	expect(t, p.recorded(t), want...)
	if ran := readText(t, p.end.Dir, "ran"); ran != "1\n2\n" {
		t.Errorf("ran %q", ran)
	}
}

// server answers with the codes in turn, then with the last one, and counts the requests.
func server(t *testing.T, body *[]byte, codes ...int) (url string, count *atomic.Int32) {
	t.Helper()
	count = &atomic.Int32{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := int(count.Add(1))
		data, err := io.ReadAll(r.Body)
		if err == nil && body != nil && r.Method == http.MethodPost && r.Header.Get("Content-Type") == "application/json" {
			*body = data
		}
		w.WriteHeader(codes[min(n, len(codes))-1])
	}))
	t.Cleanup(s.Close)
	return s.URL, count
}

func TestPost(t *testing.T) {
	t.Parallel()
	var body []byte
	url, count := server(t, &body, 503, 503, 503, 204)
	p := newPerformer(t, url+"/services/T0P/S3CRET?token=hunter22")
	expect(t, p.recorded(t), url+"/…: succeeded")
	if count.Load() != 4 {
		t.Errorf("got %d requests, want 4", count.Load())
	}
	var sum map[string]any
	if err := json.Unmarshal(body, &sum); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]any{
		"handle": "local://torchx/x", "app_id": "x", "state": "FAILED", "exit_code": 124.0, "duration_s": 7200.0,
		"msg": "deadline of 2h exceeded with HF_TOKEN=******", "component": "utils.echo --msg hi", "started_at": "2026-01-02T03:04:05Z",
	} {
		if sum[key] != want {
			t.Errorf("%s: got %v, want %v", key, sum[key], want)
		}
	}
	if text := "local://torchx/x FAILED with exit code 124 after 2h: deadline of 2h exceeded with HF_TOKEN=******"; sum["text"] != text {
		t.Errorf("got %v, want %s", sum["text"], text)
	}
}

// After three more tries the failure is recorded, without the secrets of the URL.
func TestPostFails(t *testing.T) {
	t.Parallel()
	url, count := server(t, nil, 500)
	refused := httptest.NewServer(nil)
	refused.Close()
	p := newPerformer(t, url+"/S3CRET", strings.Replace(refused.URL, "//", "//me:hunter22@", 1)+"/S3CRET")
	got := p.recorded(t)
	expect(t, got[:1], url+"/…: failed: not delivered in 4 tries: the server answered 500 Internal Server Error")
	if count.Load() != 4 {
		t.Errorf("got %d requests, want 4", count.Load())
	}
	if !strings.Contains(got[1], "failed: not delivered in 4 tries: ") || !strings.Contains(got[1], "refused") {
		t.Errorf("got %s", got[1])
	}
	for _, secret := range []string{"S3CRET", "hunter22"} {
		if text := readText(t, p.dir, progressFile); strings.Contains(text, secret) {
			t.Errorf("the record has %s:\n%s", secret, text)
		}
	}
}

// The summary goes only to the URL that the user gave: no redirect is followed, nor tried again.
func TestRedirects(t *testing.T) {
	t.Parallel()
	other, received := server(t, nil, 204)
	for _, code := range []int{301, 302, 303, 307, 308} {
		for _, location := range []string{other + "/S3CRET", "/same", "http://169.254.169.254/latest/meta-data", "http://[fe80::1]/"} {
			asked := &atomic.Int32{}
			redirecting := func(w http.ResponseWriter, r *http.Request) {
				asked.Add(1)
				http.Redirect(w, r, location, code)
			}
			s := httptest.NewServer(http.HandlerFunc(redirecting))
			t.Cleanup(s.Close)
			p := newPerformer(t, s.URL)
			expect(t, p.recorded(t), fmt.Sprintf("%s: failed: the server answered %d %s, torchx does not follow redirects: use the URL of the receiver itself", s.URL, code, http.StatusText(code)))
			if asked.Load() != 1 || received.Load() != 0 {
				t.Errorf("%d to %s: %d requests, %d to the other server, want 1 and 0", code, location, asked.Load(), received.Load())
			}
		}
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for action, want := range map[string]string{
		"notify-send done": "", "https://example.org/x": "", "http://localhost:8080": "", "http://127.0.0.1/x": "", "curl https://x": "",
		"": "empty", " ": "empty", "a\x00b": "NUL", "ftp://x": "unknown scheme ftp", "https://": "no host", "https://a b": "not a valid URL",
	} {
		_, err := Check(action)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: got %v, want %q", action, err, want)
		}
	}
	if warning, err := Check("http://example.org/S3CRET"); err != nil || warning != "http://example.org/… is not encrypted: others can read the summary on its way (use https)" {
		t.Errorf("got %q, %v", warning, err)
	}
}

// The path of a URL inside a command may be a secret, as that of a URL is.
func TestLabelHidesPaths(t *testing.T) {
	t.Parallel()
	got := Label(`curl -d x 'https://chat.example.com/x/T0/B0/hunter2' http://b.example?k=hunter2`, &secrets.Rules{})
	if want := `curl -d x 'https://chat.example.com/…' http://b.example/…`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
