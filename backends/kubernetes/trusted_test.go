package kubernetes

import (
	"os"
	"path/filepath"
	"testing"

	"torchx/backends/kubernetes/kube"
	"torchx/backends/kubernetes/manifest"
	"torchx/runtime/consent"
)

// TestAgentsRecheckConsent: an agent may restart after its kubeconfig was changed.
func TestAgentsRecheckConsent(t *testing.T) {
	t.Parallel()
	home, file := t.TempDir(), filepath.Join(t.TempDir(), "kc")
	ref := kube.ClusterRef{Kubeconfig: file}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("users: []\n")
	if err := recheckConsent(home, ref, nil); err != nil {
		t.Errorf("a file that the user named: %v, want no error", err)
	}
	if err := consent.Of(home).Trust(file); err != nil {
		t.Fatal(err)
	}
	if err := recheckConsent(home, ref, nil); err != nil {
		t.Errorf("a trusted file: %v, want no error", err)
	}
	write("users: null\n")
	if err := recheckConsent(home, ref, nil); err == nil {
		t.Error("a changed file: no error, want one")
	}
}

// TestRecordsSelectNoKubeconfig: any user of the cluster may write a record.
func TestRecordsSelectNoKubeconfig(t *testing.T) {
	t.Parallel()
	r, err := manifest.DecodeRecord(`{"app": {"name": "a", "roles": []}, "cfg": {"kubeconfig": "/evil", "context": "c", "queue": "q"}}`)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Cfg) != 1 || r.Cfg["queue"] != "q" {
		t.Errorf("options %v, want only the queue", r.Cfg)
	}
}
