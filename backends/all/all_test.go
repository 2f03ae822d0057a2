package all

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"torchx/backends/driver"
	"torchx/runtime/backend"
)

func TestDrivers(t *testing.T) {
	t.Parallel()
	r := New(driver.Env{Home: t.TempDir(), Exe: "torchx", Version: "0"})
	if got, want := r.Names(), []string{"local", "docker", "kubernetes", "slurm", "sweep", "imported"}; !slices.Equal(got, want) {
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

// TestIdle: a backend is opened for recovery only while a folder of its home has entries.
func TestIdle(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		entry string // below the home; "": none
		all   bool
		want  []string // idle backends
	}{
		{"", false, []string{"docker", "kubernetes", "slurm", "sweep", "imported"}},
		{"", true, []string{"docker", "kubernetes", "slurm", "sweep", "imported"}},
		{"apps/a", false, []string{"docker", "kubernetes", "slurm", "sweep", "imported"}},
		{"apps/a", true, nil},
		{"live/a", false, []string{"kubernetes", "slurm", "imported"}},
		{"ends/a", false, []string{"kubernetes", "slurm", "imported"}},
		{"unrecorded/a", false, []string{"kubernetes", "slurm", "imported"}},
		{"archive/live/a", false, []string{"docker", "slurm", "sweep", "imported"}},
		{"imported/a", false, []string{"docker", "kubernetes", "slurm", "sweep"}},
		{"slurm-archive/live/a", false, []string{"docker", "kubernetes", "sweep", "imported"}},
	} {
		home := t.TempDir()
		if err := os.MkdirAll(filepath.Join(home, test.entry), 0o700); err != nil {
			t.Fatal(err)
		}
		r := New(driver.Env{Home: home, Exe: "torchx", Version: "0"})
		var got []string
		for _, name := range r.Names() {
			if r.Idle(name, test.all) {
				got = append(got, name)
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("entry %q, all %v: got idle backends %v, want %v", test.entry, test.all, got, test.want)
		}
	}
}

// TestCapabilities: a backend declares each capability whose methods it has, except those that a sweep
// gets from the package of bundles: it waits for no apps, has no outputs, and the local backend recovers
// all bundles.
func TestCapabilities(t *testing.T) {
	t.Parallel()
	r := New(driver.Env{Home: t.TempDir(), Exe: "torchx", Version: "0"})
	var missing []string
	for _, name := range r.Names() {
		b, err := r.Get(name)
		if err != nil {
			t.Fatal(err)
		}
		can := reflect.ValueOf(b.Capabilities())
		for _, field := range reflect.VisibleFields(can.Type()) {
			if field.Type.Kind() == reflect.Interface && reflect.TypeOf(b).Implements(field.Type) && can.FieldByIndex(field.Index).IsNil() {
				missing = append(missing, name+" "+field.Name)
			}
		}
	}
	if want := []string{"sweep After", "sweep Output", "sweep Recovery"}; !slices.Equal(missing, want) {
		t.Errorf("got undeclared capabilities %q, want %q", missing, want)
	}
}

// Every option declares its risk; these need consent if a project sets them.
func TestRisks(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"local":      "log_dir prepend_cwd output_dir cgroup_parent",
		"docker":     "copy_env env privileged image_repo ulimits dns extra_hosts host context output_dir",
		"kubernetes": "namespace service_account image_repo context kubeconfig tolerations image_pull_secrets env_from host_network labels annotations output",
		"slurm":      "account mail-user job_dir sbatch setup export",
	}
	r := New(driver.Env{Home: t.TempDir(), Exe: "torchx", Version: "0"})
	for _, name := range r.Names() {
		b, err := r.Get(name) // fails for an option without a risk
		if err != nil {
			t.Fatal(err)
		}
		var risky []string
		for _, o := range b.Options() {
			if o.Risk == "" {
				t.Errorf("%s: option %s declares no risk", name, o.Key)
			}
			if o.Risk != backend.Harmless {
				risky = append(risky, o.Key)
			}
		}
		if got := strings.Join(risky, " "); got != want[name] {
			t.Errorf("%s: got %q, want %q", name, got, want[name])
		}
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
