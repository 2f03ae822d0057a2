package components_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"torchx/runtime/spec"
)

func TestUtilsRoles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		argv       []string
		name, role string
		entrypoint string
		args       []string
	}{
		{[]string{"utils.echo"}, "echo", "echo", "echo", []string{"hello world"}},
		{[]string{"utils.touch", "--file", "a b"}, "touch", "touch", "touch", []string{"a b"}},
		{
			[]string{"utils.sh", "--entrypoint", "env", "--", "a b", "$X", "it's"},
			"sh", "sh", "env",
			[]string{"a b", "$X", "it's"},
		},
		{[]string{"utils.sh", "-c", "echo a; echo b | wc -l"}, "sh", "sh", "sh", []string{"-c", "echo a; echo b | wc -l"}},
		{[]string{"utils.sh", "-c", "echo $1", "--", "x y"}, "sh", "sh", "sh", []string{"-c", "echo $1", "sh", "x y"}},
		{
			[]string{"utils.copy", "--src", "a", "--dst", "b"},
			"torchx-utils-copy", "torchx-utils-copy", "cp",
			[]string{"-R", "--", "a", "b"},
		},
		{[]string{"utils.python", "-m", "a.b", "--", "-v"}, "torchx_utils_python", "python", "python", []string{"-m", "a.b", "-v"}},
	} {
		app := mustBuild(t, c.argv[0], c.argv[1:]...)
		r := app.Roles[0]
		if app.Name != c.name || r.Name != c.role || r.Entrypoint != c.entrypoint || !slices.Equal(r.Args, c.args) {
			t.Errorf("%q: got app %q, role %q, %q %q", c.argv, app.Name, r.Name, r.Entrypoint, r.Args)
		}
		if r.Image != image || r.Resource.CPU != 1 || r.Resource.GPU != 0 || r.Resource.MemMB != 1024 || r.NumReplicas != 1 {
			t.Errorf("%q: got image %q, resource %+v, %d replicas", c.argv, r.Image, r.Resource, r.NumReplicas)
		}
	}
}

func TestUtilsPythonEnv(t *testing.T) {
	t.Parallel()
	role := mustBuild(t, "utils.python", "-m", "a.b").Roles[0]
	if got, _ := role.Env.Get("HYDRA_MAIN_MODULE"); got != "a.b" || len(role.Env) != 1 {
		t.Errorf("got env %v, want HYDRA_MAIN_MODULE only", role.Env)
	}
}

func TestUtilsRefuse(t *testing.T) {
	t.Parallel()
	const one = "exactly one of `-m`, `-c` and `--script` needs to be specified"
	for _, c := range []struct {
		text string
		argv []string
	}{
		{one, []string{"utils.python"}},
		{one, []string{"utils.python", "-m", "a", "-c", "b"}},
		{one, []string{"utils.python", "--script", ""}},
		{"-c or --entrypoint", []string{"utils.sh", "-c", "true", "--entrypoint", "env"}},
		{"only paths are supported", []string{"utils.copy", "--src", "s3://a/b", "--dst", "c"}},
	} {
		_, _, err := build(t, nil, c.argv[0], c.argv[1:]...)
		wantError(t, err, c.text)
	}
}

// run starts a role's program on this machine and returns its output.
func run(t *testing.T, app *spec.App) string {
	t.Helper()
	role := spec.Macros{AppID: "app-1", ReplicaID: "0"}.Apply(app.Roles[0])
	cmd := exec.Command(role.Entrypoint, role.Args...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v: %s", role.Entrypoint, role.Args, err, out)
	}
	return string(out)
}

func TestShellLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		want string
		argv []string
	}{
		{"a\n1\n", []string{"-c", "echo a; echo b | wc -l | tr -d ' '"}},
		{"x y app-1\n", []string{"-c", `echo "$1" ${app_id}`, "--", "x y"}},
		{"a; echo b\n", []string{"--", "echo", "a; echo b"}},
	} {
		if got := run(t, mustBuild(t, "utils.sh", c.argv...)); got != c.want {
			t.Errorf("%q printed %q, want %q", c.argv, got, c.want)
		}
	}
}

func TestCopy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	src := filepath.Join(dir, "src", "deep")
	if err := os.MkdirAll(src, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(src, "f"), []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	dst := filepath.Join(dir, "dst")
	run(t, mustBuild(t, "utils.copy", "--src", filepath.Dir(src), "--dst", dst))
	if got, err := os.ReadFile(filepath.Join(dst, "deep", "f")); err != nil || string(got) != "text" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestBooth(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ x1, x2, want string }{
		{"1", "3", "0.0"},
		{"1", "2.5", "1.25"},
		{"0.1", "-0.25", "80.2625"},
		{"1e10", "0", "4.9999999966e+20"},
	} {
		base := filepath.Join(t.TempDir(), "new folder")
		run(t, mustBuild(t, "utils.booth", "--x1="+c.x1, "--x2="+c.x2, "--trial_idx", "3", "--tracker_base", base))
		got, err := os.ReadFile(filepath.Join(base, "3"))
		if err != nil {
			t.Fatal(err)
		}
		if want := "{\n  \"booth_eval\": " + c.want + "\n}\n"; string(got) != want || !json.Valid(got) {
			t.Errorf("booth(%s, %s): got %s, want %s", c.x1, c.x2, got, want)
		}
	}
}

// TestDocumented checks that every parameter of a built-in component is documented, and
// that the first line of the docstring fits a list.
func TestDocumented(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"dist.ddp", "dist.spmd", "utils.echo", "utils.touch", "utils.sh",
		"utils.python", "utils.binary", "utils.copy", "utils.booth",
	} {
		doc, _, _ := strings.Cut(find(t, name).Doc, "\n")
		if doc == "" || len(doc) > 100 || !strings.HasSuffix(doc, ".") {
			t.Errorf("%s: first line of the docstring is %q", name, doc)
		}
		for _, p := range find(t, name).Params {
			if p.Help == "" {
				t.Errorf("%s: parameter %s is not documented", name, p.Name)
			}
		}
	}
}
