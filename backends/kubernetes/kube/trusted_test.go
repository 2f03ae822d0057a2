package kube

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestTrustedFiles(t *testing.T) {
	t.Parallel()
	dir, home := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{
		"kc":         "users:\n- {name: a, user: {exec: {command: ./login, args: [--now, script]}}}\n- {name: b, user: {exec: {command: aws}}}\n",
		"plain":      "users: []\n",
		"not-yaml":   "\t{",
		"login":      "",
		"script":     "",
		"aws":        "", // not run: it is looked up in PATH
		".kube/mine": "",
	} {
		folder := dir
		if strings.HasPrefix(name, ".kube/") {
			folder = home
		}
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	in := func(name string) string { return filepath.Join(dir, name) }
	environ := []string{"HOME=" + home, "KUBECONFIG=" + in("mine")}
	for text, want := range map[string][]string{
		"":                                     nil,
		in("kc"):                               {in("kc"), in("login"), in("script")},
		in("plain") + ":" + in("none"):         {in("plain"), in("none")},
		in("not-yaml"):                         {in("not-yaml")},
		dir:                                    {dir},
		in("mine"):                             nil, // $KUBECONFIG
		"~/.kube/mine":                         nil,
		"~/.kube/../kc":                        {filepath.Join(home, "kc")},
		home + "/.kube/mine:" + in("not-yaml"): {in("not-yaml")},
	} {
		if got := slices.Collect(ClusterRef{Kubeconfig: text}.TrustedFiles(environ)); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	if got := slices.Collect(ClusterRef{Kubeconfig: "/.kube/x"}.TrustedFiles(nil)); len(got) != 1 {
		t.Errorf("without a home folder: got %q, want one file", got)
	}
}
