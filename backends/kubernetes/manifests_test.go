package kubernetes

import (
	"encoding/json"
	"errors"
	"os/exec"
	"strings"
	"testing"

	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// TestManifests: what describe --yaml prints creates the app again.
func TestManifests(t *testing.T) {
	t.Parallel()
	kubectl, err := exec.LookPath("kubectl")
	if err != nil {
		t.Skip("kubectl is missing")
	}
	eachForm(t, func(t *testing.T, o *observed) {
		id := o.start(t, 2, "exit 0", nil, nil)
		if s, err := o.Wait(t.Context(), id); err != nil || s.State != spec.Succeeded {
			t.Fatalf("got %+v, %v", s, err)
		}
		objects, err := o.Manifests(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if err := o.Delete(t.Context(), id, backend.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		if _, err := o.Manifests(t.Context(), id); !errors.Is(err, backend.ErrNotFound) {
			t.Errorf("got %v of a deleted app, want %v", err, backend.ErrNotFound)
		}
		list, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": objects})
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), kubectl, "--kubeconfig", o.proxy.Kubeconfig, "apply", "-f", "-")
		cmd.Stdin = strings.NewReader(string(list))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s\n%s", err, out, list)
		}
		if s, err := o.Wait(t.Context(), id); err != nil || s.State != spec.Succeeded {
			t.Errorf("got %+v, %v, want the app again", s, err)
		}
	})
}
