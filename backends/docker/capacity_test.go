//go:build unix

package docker

import (
	"testing"

	"torchx/runtime/spec"
	"torchx/test/enginetest"
)

// TestCapacity: the capacity is that of the engine's machine, and for at least one app.
func TestCapacity(t *testing.T) {
	t.Parallel()
	needEngine(t)
	b := newBackend(t, t.TempDir(), real)
	defer b.Close()
	info, err := real.Client.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	memory := int(info.MemTotal >> 20)
	for _, test := range []struct {
		what     string
		resource spec.Resource
		replicas int
		want     int
	}{
		{"requests nothing", spec.Resource{}, 1, info.NCPU},
		{"half a CPU", spec.Resource{CPU: 0.5}, 1, 2 * info.NCPU},
		{"all CPUs by two replicas", spec.Resource{CPU: float64(info.NCPU) / 2}, 2, 1},
		{"a third of the memory", spec.Resource{CPU: 0.001, MemMB: memory / 3}, 1, 3},
		{"more than there is", spec.Resource{CPU: float64(info.NCPU) + 1}, 1, 1},
	} {
		role := spec.NewRole("r", enginetest.Image)
		role.Resource, role.NumReplicas = test.resource, test.replicas
		got, err := b.CapacityFor(t.Context(), &spec.App{Name: "app", Roles: []spec.Role{role}}, nil)
		if err != nil || got.Apps != test.want {
			t.Errorf("%s: got %+v, %v, want a capacity of %d", test.what, got, err, test.want)
		}
	}
}
