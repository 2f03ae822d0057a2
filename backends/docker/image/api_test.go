//go:build unix

package image

import (
	"archive/tar"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	_ "torchx/test/cleanenv"

	"github.com/docker/docker/client"

	"torchx/backends/workspace"
)

// api is an engine with prepared answers. It records all requests.
type api struct {
	mu       sync.Mutex
	images   map[string]bool   // by reference
	answers  map[string]string // by method and path: messages, or "404 text"
	requests []request
}

type request struct {
	what   string // method, path without version, query
	header http.Header
	files  map[string]string // of a build context
}

func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/") // without the version
	got := request{what: r.Method + " /" + path, header: r.Header}
	if path == "build" {
		got.files = map[string]string{}
		for in := tar.NewReader(r.Body); ; {
			h, err := in.Next()
			if err != nil {
				break
			}
			data, _ := io.ReadAll(in)
			got.files[h.Name] = string(data)
		}
	}
	if r.URL.RawQuery != "" {
		got.what += "?" + r.URL.Query().Encode()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.requests = append(a.requests, got)
	if name, ok := strings.CutPrefix(path, "images/"); ok && strings.HasSuffix(name, "/json") {
		if a.images[strings.TrimSuffix(name, "/json")] {
			fmt.Fprint(w, `{"Id":"sha256:1"}`)
			return
		}
		http.Error(w, `{"message":"No such image"}`, http.StatusNotFound)
		return
	}
	answer, ok := a.answers[r.Method+" /"+path]
	if code, text, _ := strings.Cut(answer, " "); len(code) == 3 {
		status := 0
		fmt.Sscan(code, &status)
		http.Error(w, `{"message":"`+text+`"}`, status)
		return
	}
	if !ok {
		http.Error(w, `{"message":"not expected: `+got.what+`"}`, http.StatusInternalServerError)
		return
	}
	fmt.Fprint(w, answer)
}

// requested returns the requests that contain a text.
func (a *api) requested(text string) (found []request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, r := range a.requests {
		if strings.Contains(r.what, text) {
			found = append(found, r)
		}
	}
	return found
}

// connect returns a client of an engine that gives these answers.
func connect(t *testing.T, a *api) *client.Client {
	t.Helper()
	server := httptest.NewServer(a)
	t.Cleanup(server.Close)
	c, err := client.NewClientWithOpts(client.WithHost("tcp://"+server.Listener.Addr().String()), client.WithVersion("1.47"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func TestPullProgress(t *testing.T) {
	t.Parallel()
	a := &api{answers: map[string]string{"POST /images/create": strings.Join([]string{
		`{"status":"Pulling from x","id":"1"}`,
		`{"status":"Pulling fs layer","id":"a"}`, `{"status":"Waiting","id":"b"}`,
		`{"status":"Downloading","id":"a","progressDetail":{"current":10,"total":100}}`,
		`{"status":"Downloading","id":"b","progressDetail":{"current":5,"total":50}}`,
		`{"status":"Download complete","id":"a"}`,
		`{"status":"Extracting","id":"a","progressDetail":{"current":1,"total":100}}`,
		`{"status":"Pull complete","id":"b"}`, `{"status":"done"}`,
	}, "\n")}}
	s := &recorder{}
	p := &Puller{Engine: connect(t, a), Policy: Missing, Progress: s.tell}
	if err := p.Ensure(t.Context(), []string{"r.example/x:1", "r.example/x:1"}); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, step := range s.steps {
		if step.Name != "pull r.example/x:1" {
			t.Errorf("got step %q, want pull r.example/x:1", step.Name)
		}
		got = append(got, fmt.Sprintf("%s %d/%d %v", step.Text, step.Done, step.Total, step.Ended))
	}
	want := []string{
		"contacting r.example 0/0 false", " 0/0 false", "0 of 1 layers 0/0 false", "0 of 2 layers 0/0 false", "0 of 2 layers 10/0 false",
		"0 of 2 layers 15/150 false", "1 of 2 layers 105/150 false", "1 of 2 layers, extracting 105/150 false", "2 of 2 layers 150/150 false", " 0/0 true",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got steps\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if n := len(a.requested("POST /images/create")); n != 1 {
		t.Errorf("got %d pulls, want 1", n)
	}
}

func TestEnsureFails(t *testing.T) {
	t.Parallel()
	id := "sha256:" + strings.Repeat("0", 64)
	for name, test := range map[string]struct {
		p      Puller
		refs   []string
		answer string
		want   string
	}{
		"never":       {Puller{Policy: Never}, []string{"a:1"}, "", "image a:1 is not on the engine and pull=never forbids pulling"},
		"offline":     {Puller{Policy: Missing, Offline: true}, []string{"a:1", "b:2"}, "", "images a:1, b:2 are not on the engine and --offline forbids pulling"},
		"always":      {Puller{Policy: Always, Offline: true}, []string{"has:1"}, "", "pull=always cannot pull has:1 with --offline: use pull=missing"},
		"default":     {Puller{Policy: Never, Default: "d:1"}, []string{"d:1"}, "", "default image of the built-in components"},
		"id":          {Puller{Policy: Missing}, []string{id}, "", "an image ID cannot be pulled"},
		"name":        {Puller{Policy: Missing}, []string{"No Such"}, "", `"No Such" is not a valid image name`},
		"refused":     {Puller{Policy: Missing}, []string{"r.example/x:1"}, "404 manifest unknown", "pull image r.example/x:1: "},
		"message":     {Puller{Policy: Missing}, []string{"r.example/x:1"}, `{"error":"toomanyrequests"}`, "pull image r.example/x:1: toomanyrequests"},
		"unreachable": {Puller{Policy: Missing}, []string{"r.example/x:1"}, `{"error":"dial tcp: lookup r.example: no such host"}`, "cannot be pulled: its registry is not reachable (dial tcp"},
		"incomplete":  {Puller{Policy: Missing}, []string{"r.example/x:1"}, `{"status":"Waiting"`, "the engine's response is incomplete"},
		"exists":      {Puller{Policy: Always}, []string{"has:1"}, `{"error":"gone"}`, "pull image has:1: gone (pull=missing uses the image that the engine has)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.p.Engine = connect(t, &api{images: map[string]bool{"has:1": true}, answers: map[string]string{"POST /images/create": test.answer}})
			err := test.p.Ensure(t.Context(), test.refs)
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got error %v, want one line with %q", err, test.want)
			}
		})
	}
}

// login sets DOCKER_CONFIG to a config with credentials for a registry.
func login(t *testing.T, host string) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("DOCKER_CONFIG", dir)
	auth := base64.StdEncoding.EncodeToString([]byte(user + ":" + password))
	write(t, dir, map[string]string{"config.json": `{"auths":{"` + host + `":{"auth":"` + auth + `"}}}`})
}

// sentLogin returns the user and the server of a header.
func sentLogin(t *testing.T, header string) string {
	t.Helper()
	data, err := base64.URLEncoding.DecodeString(header)
	var c struct{ Username, ServerAddress string }
	if err = errors.Join(err, json.Unmarshal(data, &c)); err != nil {
		t.Fatalf("header %q: %v", header, err)
	}
	return c.Username + "@" + c.ServerAddress
}

func TestCredentials(t *testing.T) {
	login(t, "r.example")
	a := &api{answers: map[string]string{"POST /images/create": "{}", "POST /images/has:1/tag": "", "POST /images/r.example/x/push": "{}", "POST /images/other.example/x/push": "{}"}}
	c := connect(t, a)
	if err := (&Puller{Engine: c, Policy: Missing}).Ensure(t.Context(), []string{"r.example/x:1"}); err != nil {
		t.Fatal(err)
	}
	for _, remote := range []string{"r.example/x:1", "other.example/x:1"} {
		if err := Push(t.Context(), c, "has:1", remote, nil); err != nil {
			t.Fatal(err)
		}
	}
	want := user + "@r.example"
	for _, what := range []string{"/images/create", "/r.example/x/push"} {
		if got := sentLogin(t, a.requested(what)[0].header.Get("X-Registry-Auth")); got != want {
			t.Errorf("%s: got login %s, want %s", what, got, want)
		}
	}
	if got := a.requested("other.example/x/push")[0].header.Get("X-Registry-Auth"); got != noAuth {
		t.Errorf("without a login: got header %q, want %q", got, noAuth)
	}
}

func TestPushFails(t *testing.T) {
	t.Parallel()
	const tag, push = "POST /images/has:1/tag", "POST /images/r.example/x/push"
	for want, answers := range map[string]map[string]string{
		"tag image has:1 as r.example/x:1: ":                                      {tag: "404 no such image"},
		"push image r.example/x:1: Error":                                         {tag: "", push: "500 broken"},
		"push image r.example/x:1: denied (log in with `docker login r.example`)": {tag: "", push: `{"status":"Preparing","id":"a"}{"error":"denied"}`},
	} {
		s := &recorder{}
		err := Push(t.Context(), connect(t, &api{answers: answers}), "has:1", "r.example/x:1", s.tell)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want %q", err, want)
		}
		if n, failed := s.ended("push r.example/x:1"); n != failed {
			t.Errorf("%s: got %d ended steps, %d failed, want all failed", want, n, failed)
		}
	}
	if err := Push(t.Context(), connect(t, &api{}), "has:1", "No Such", nil); err == nil || !strings.Contains(err.Error(), "is not a valid image name") {
		t.Errorf("got error %v, want an invalid name", err)
	}
}

// planned returns the build of a folder that contains files.
func planned(t *testing.T, s *recorder, files map[string]string) *Build {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, files)
	tree, err := workspace.Scan([]workspace.Project{{Path: dir}})
	if err != nil {
		t.Fatal(err)
	}
	name, err := tree.Name(t.Context(), "base:1")
	if err != nil {
		t.Fatal(err)
	}
	return &Build{Tree: tree, Base: "base:1", Name: name, Labels: map[string]string{"l": "v"}, Progress: s.tell}
}

func TestClassicBuild(t *testing.T) {
	t.Parallel()
	a := &api{answers: map[string]string{
		"POST /build":                `{"stream":"Step 1/2 "}{"stream":": FROM x\nline\r\n"}{"status":"Pulling"}{"stream":"end"}{"aux":{"ID":"sha256:42"}}`,
		"POST /images/sha256:42/tag": "",
	}}
	s := &recorder{}
	b := planned(t, s, map[string]string{"f": "data", "Dockerfile.torchx": "ARG IMAGE\nFROM $IMAGE\nCOPY f /f\n"})
	if err := b.Run(t.Context(), connect(t, a)); err != nil {
		t.Fatal(err)
	}
	if got, want := s.output(), "Step 1/2 : FROM x\nline\nend\n"; got != want {
		t.Errorf("got output %q, want %q", got, want)
	}
	built := a.requested("POST /build")[0]
	if built.files["f"] != "data" || !strings.Contains(built.what, "version=1") || !strings.Contains(built.what, "base%3A1") {
		t.Errorf("got files %v by %s, want f and the base image", built.files, built.what)
	}
	repo, tag, _ := strings.Cut(b.Name, ":")
	if tagged := a.requested("sha256:42/tag")[0].what; !strings.Contains(tagged, repo+"&tag=") || !strings.HasSuffix(tagged, tag) {
		t.Errorf("got %s, want the name %s", tagged, b.Name)
	}
	last := s.steps[len(s.steps)-1]
	if want := "build workspace " + tag[:shortHash]; last.Name != want || !last.Ended || last.Failed {
		t.Errorf("got last step %+v, want %s ended", last, want)
	}
}

func TestClassicBuildFails(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answer, want, output string
		change               bool // of the files, after planning
		deleted              int
	}{
		"refused": {answer: "400 dockerfile parse error", want: "dockerfile parse error"},
		"message": {answer: `{"stream":"the reason"}{"error":"returned a non-zero code: 1"}`, want: "returned a non-zero code: 1", output: "the reason\n"},
		"no id":   {answer: `{"stream":"fine"}`, want: "did not report the ID of the image"},
		"changed": {answer: `{"aux":{"ID":"sha256:42"}}`, want: errChanged.Error(), change: true, deleted: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := &api{answers: map[string]string{"POST /build": test.answer, "DELETE /images/sha256:42": "[]"}}
			s := &recorder{}
			b := planned(t, s, map[string]string{"f": "one"})
			b.Quiet = true
			dir := b.Tree.Projects[0].Path
			if test.change {
				write(t, dir, map[string]string{"f": "two"})
			}
			err := b.Run(t.Context(), connect(t, a))
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "build workspace "+dir+" from base:1: ") {
				t.Errorf("got error %v, want the workspace and %q", err, test.want)
			}
			if got := s.output(); got != test.output {
				t.Errorf("got output %q, want %q", got, test.output)
			}
			if got := len(a.requested("DELETE")); got != test.deleted {
				t.Errorf("got %d images removed, want %d", got, test.deleted)
			}
		})
	}
}

func TestBuildxBuild(t *testing.T) {
	bin := t.TempDir()
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	files := map[string]string{"Dockerfile.torchx": "ARG IMAGE\nFROM $IMAGE\nRUN --mount=type=cache,target=/c true\n"}
	for _, test := range []struct{ name, script, want, output string }{
		{"not installed", "exit 1", "Dockerfile.torchx, line 3: RUN --mount needs BuildKit: install the docker buildx plugin", ""},
		{"fails", `[ "$2" = version ] || { cat > /dev/null; echo bad luck; exit 3; }`, "docker buildx: exit code 3", "bad luck\n"},
		{"builds", `[ "$2" = version ] || { cat > /dev/null; printf '%s to %s\nend' "$*" "$DOCKER_HOST" >&2; }`, "", " --label l=v - to tcp://"},
	} {
		program := filepath.Join(bin, "docker")
		if err := os.WriteFile(program, []byte("#!/bin/sh\n"+test.script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		s := &recorder{}
		err := planned(t, s, files).Run(t.Context(), connect(t, &api{}))
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got error %v, want %q", test.name, err, test.want)
		}
		if got := s.output(); !strings.Contains(got, test.output) {
			t.Errorf("%s: got output %q, want %q in it", test.name, got, test.output)
		}
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"dial tcp: lookup x: no such host": true, "i/o timeout": true, "manifest unknown": false, "unauthorized": false,
	} {
		if got := unreachable(errors.New(text)); got != want {
			t.Errorf("%s: got %v, want %v", text, got, want)
		}
	}
}
