package all

import (
	"slices"
	"testing"

	"torchx/backends/driver"
)

func TestDrivers(t *testing.T) {
	t.Parallel()
	r := New(driver.Env{Home: t.TempDir(), Exe: "torchx", Version: "0"})
	if got, want := r.Names(), []string{"local", "docker", "kubernetes", "slurm", "sweep"}; !slices.Equal(got, want) {
		t.Errorf("got backends %v, want %v", got, want)
	}
	for alias, want := range map[string]string{"local_cwd": "local", "local_dir": "local", "local_docker": "docker"} {
		if a, err := r.Canonical(alias); err != nil || a.Backend != want {
			t.Errorf("%s: got %q, %v, want %q", alias, a.Backend, err, want)
		}
	}
	for _, d := range drivers() {
		b, err := r.Get(d.Name)
		if err != nil || b.Name() != d.Name {
			t.Errorf("got backend %v, %v, want %s", b, err, d.Name)
			continue
		}
		if (d.RunAgent == nil) != (d.OwnsDir == nil) {
			t.Errorf("%s: RunAgent and OwnsDir: got only one, want both or none", d.Name)
		}
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if Command("limited") == nil || Command("run") != nil {
		t.Error("Command: want one for limited, none for run")
	}
}

// No backend owns an empty folder.
func TestEmptyFolderHasNoOwner(t *testing.T) {
	t.Parallel()
	for _, d := range drivers() {
		if d.OwnsDir != nil && d.OwnsDir(t.TempDir()) {
			t.Errorf("%s owns an empty folder", d.Name)
		}
	}
}
