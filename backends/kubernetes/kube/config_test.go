package kube

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"torchx/runtime/backend"
)

const twoContexts = `apiVersion: v1
kind: Config
clusters:
- {name: here, cluster: {server: "https://here:6443"}}
- {name: there, cluster: {server: "https://there:6443"}}
users:
- {name: me, user: {token: t}}
contexts:
- {name: one, context: {cluster: here, user: me, namespace: team}}
- {name: two, context: {cluster: there, user: me}}
`

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFind(t *testing.T) {
	t.Parallel()
	file := write(t, "config", twoContexts+"current-context: one\n")
	home := filepath.Dir(filepath.Dir(write(t, ".kube/config", twoContexts+"current-context: two\n")))
	only := write(t, "current", "current-context: two\n")
	list := func(files ...string) string { return strings.Join(files, string(filepath.ListSeparator)) }
	tests := []struct {
		name    string
		ref     ClusterRef
		environ []string
		want    ClusterRef
		server  string
		ns      string
	}{
		{"file", ClusterRef{Kubeconfig: file}, nil, ClusterRef{file, "one"}, "https://here:6443", "team"},
		{"context", ClusterRef{file, "two"}, nil, ClusterRef{file, "two"}, "https://there:6443", ""},
		{"environment", ClusterRef{}, []string{"KUBECONFIG=" + file}, ClusterRef{file, "one"}, "https://here:6443", "team"},
		{"option before environment", ClusterRef{Kubeconfig: file}, []string{"KUBECONFIG=/no/such"}, ClusterRef{file, "one"}, "https://here:6443", "team"},
		{"home", ClusterRef{}, []string{"HOME=" + home}, ClusterRef{home + "/.kube/config", "two"}, "https://there:6443", ""},
		{"tilde", ClusterRef{Kubeconfig: "~/.kube/config"}, []string{"HOME=" + home}, ClusterRef{home + "/.kube/config", "two"}, "https://there:6443", ""},
		{"merged, one missing", ClusterRef{Kubeconfig: list(only, "/no/such", file)}, nil, ClusterRef{list(only, "/no/such", file), "two"}, "https://there:6443", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a, err := Find(tt.ref, append([]string{}, tt.environ...))
			if err != nil {
				t.Fatal(err)
			}
			if a.ClusterRef != tt.want || a.Server != tt.server || a.Namespace != tt.ns || a.User != "me" {
				t.Errorf(`got %+v, want a.ClusterRef == tt.want and a.Server == tt.server and a.Namespace == tt.ns and a.User == "me"`, a)
			}
		})
	}
}

func TestFindErrors(t *testing.T) {
	t.Parallel()
	none := write(t, "config", twoContexts)
	empty := write(t, "empty", "")
	dir := t.TempDir()
	for name, tt := range map[string]struct {
		ref     ClusterRef
		environ []string
		want    []string
	}{
		"nothing":         {ClusterRef{}, []string{"HOME=" + dir}, []string{"no kubeconfig", dir + "/.kube/config", "-cfg kubeconfig="}},
		"no home":         {ClusterRef{}, []string{"A=B"}, []string{"no kubeconfig", "$KUBECONFIG"}},
		"missing":         {ClusterRef{Kubeconfig: "/no/such"}, nil, []string{"/no/such", "-cfg kubeconfig"}},
		"missing in env":  {ClusterRef{}, []string{"KUBECONFIG=/no/such"}, []string{"/no/such", "$KUBECONFIG"}},
		"empty":           {ClusterRef{Kubeconfig: empty}, nil, []string{empty, "no contexts"}},
		"no current":      {ClusterRef{Kubeconfig: none}, nil, []string{none, "no current context", "one, two"}},
		"unknown context": {ClusterRef{none, "three"}, nil, []string{none, `"three"`, "one, two"}},
		"no YAML":         {ClusterRef{Kubeconfig: write(t, "bad", "a: [")}, nil, []string{"read kubeconfig", "line 1"}},
		"no cluster":      {ClusterRef{Kubeconfig: write(t, "bad", "current-context: a\ncontexts: [{name: a, context: {cluster: b}}]\n")}, nil, []string{"context a", `"b"`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Find(tt.ref, append([]string{}, tt.environ...))
			wantError(t, err, backend.ErrUnavailable, tt.want...)
		})
	}
}

// wantError checks that an error is of a class, is one line, and contains all words.
func wantError(t *testing.T, err, class error, words ...string) {
	t.Helper()
	if err == nil || class != nil && !errors.Is(err, class) || strings.Contains(err.Error(), "\n") {
		t.Fatalf("got %v, want one line of class %v", err, class)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("got %q, want %q in it", err, w)
		}
	}
}
