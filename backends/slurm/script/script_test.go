package script

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

func inputOf(t testing.TB, cfg map[string]string, roles ...spec.Role) Input {
	t.Helper()
	resolved, _, err := backend.Resolve(OptionList(), backend.DefaultsLayer(cfg, "test"))
	if err != nil {
		t.Fatal(err)
	}
	return Input{
		PlanInput: backend.PlanInput{ID: "app-x", App: &spec.App{Name: "app", Roles: roles, Metadata: map[string]any{}}, Cfg: resolved, Cwd: "/cwd"},
		Base:      "/home/u/.torchx/slurm", Handle: "slurm://torchx/app-x",
	}
}

func roleOf(name string, replicas int, args ...string) spec.Role {
	r := spec.NewRole(name, "img")
	r.Entrypoint, r.Args, r.NumReplicas = "printf", args, replicas
	return r
}

func scriptOf(t testing.TB, in Input) string {
	t.Helper()
	p, err := Plan(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return p.Request.(*Request).Script
}

// TestDirectives compares the #SBATCH lines of an app with two roles.
func TestDirectives(t *testing.T) {
	t.Parallel()
	trainer, reader := roleOf("trainer", 3), roleOf("reader", 1)
	trainer.Resource = spec.Resource{CPU: 1.5, GPU: 2, MemMB: 1024}
	two := 2
	trainer.MinReplicas = &two
	text := scriptOf(t, inputOf(t, map[string]string{
		"account": "a b", "time": "1:00", "mail-user": "u@h", "sbatch": "--nice=10;--reservation=r", "exclusive": "true", "replicas_per_node": "2",
	}, trainer, reader))
	var got []string
	for line := range strings.Lines(text) {
		if after, ok := strings.CutPrefix(line, "#SBATCH"); ok {
			got = append(got, strings.TrimSpace(after))
		}
	}
	want := []string{
		"--job-name=app-x", "--output=/dev/null", "--chdir=/cwd", "--mail-user=u@h", `--comment="torchx /home/u/.torchx/slurm/app-x"`,
		`--account="a b"`, "--time=1:00", "--requeue", "--exclusive", "--no-kill", "--nodes=2", "--ntasks=3", "--ntasks-per-node=2",
		"--cpus-per-task=2", "--mem=2048M", "--gpus-per-node=4", "--nice=10", "--reservation=r", "hetjob",
		"--job-name=app-x", `--comment="torchx /home/u/.torchx/slurm/app-x"`, `--account="a b"`, "--time=1:00", "--requeue", "--exclusive",
		"--nodes=1", "--ntasks=1", "--ntasks-per-node=1", "--nice=10", "--reservation=r",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// needBash returns the path of bash. TORCHX_REQUIRE=bash makes a missing one a failure.
func needBash(t *testing.T) string {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err == nil {
		return bash
	}
	if slices.Contains(strings.Split(os.Getenv("TORCHX_REQUIRE"), ","), "bash") {
		t.Fatal(err)
	}
	t.Skip(err)
	return ""
}

// TestWords: arguments and variables reach the program byte by byte.
func TestWords(t *testing.T) {
	t.Parallel()
	bash := needBash(t)
	args := []string{
		"%s|", "plain", "", "it's", `a"b`, "$HOME `id` $(id) \\n", "line 1\nline 2\r\n", "-n", "\x01\x02\xff\xfe", "é世界", "replica ${replica_id}!", "${app_id}", "*", "~",
		"#SBATCH --array=1-9", "\x01torchx port x",
	}
	role := roleOf("r", 8, args...)
	role.Env = spec.Map[string]{{Key: "A", Value: "x ${replica_id}\ny"}, {Key: "a.b", Value: "dot"}}
	text := scriptOf(t, inputOf(t, nil, role))
	constants, _, _ := strings.Cut(text, "\n# The rest is the launcher")
	cmd := exec.CommandContext(t.Context(), bash, "-c", constants+"\nrole_0 7")
	got, err := cmd.Output()
	want := strings.Join(args[1:], "|") + "|"
	want = strings.NewReplacer("${replica_id}", "7", "${app_id}", "app-x").Replace(want)
	if err != nil || string(got) != want {
		t.Errorf("got %q (%v)\nwant %q", got, err, want)
	}
	env, err := exec.CommandContext(t.Context(), bash, "-c", strings.ReplaceAll(constants, "'printf'", "'env' '-0' #")+"\nrole_0 7").Output()
	if err != nil || !bytes.Contains(env, []byte("A=x 7\ny\x00")) {
		t.Errorf("got environment %q (%v), want A", env, err)
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	nul, env := roleOf("r", 1, "a\x00b"), roleOf("r", 1)
	env.Env = spec.Map[string]{{Key: "A=B", Value: ""}}
	for what, in := range map[string]Input{"NUL byte": inputOf(t, nil, nul), `variable "A=B"`: inputOf(t, nil, env)} {
		if _, err := Plan(t.Context(), in); err == nil || !strings.Contains(err.Error(), what) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want one line", what, err)
		}
	}
	for key, value := range map[string]string{"comment": "a\nb", "sbatch": "--ntasks=3", "grace_period": "-1", "max_requeues": "-1", "replicas_per_node": "0"} {
		if _, err := Plan(t.Context(), inputOf(t, map[string]string{key: value}, roleOf("r", 1))); !errors.Is(err, backend.ErrInvalidOption) {
			t.Errorf("%s=%q: got %v, want %v", key, value, err, backend.ErrInvalidOption)
		}
	}
	for _, id := range []string{"", "17", "a b", "..", strings.Repeat("x", 300)} {
		in := inputOf(t, nil, roleOf("r", 1))
		in.ID = id
		if _, err := Plan(t.Context(), in); err == nil {
			t.Errorf("app id %q: got no error", id)
		}
	}
}

// TestPorts: an endpoint on the first node uses the port that the job chooses.
func TestPorts(t *testing.T) {
	t.Parallel()
	role := roleOf("r", 2, "-c", "run --rdzv_endpoint $$${${rank0_env}:=localhost}:29500 --seed 29500 --x $$TORCHX_RANK0_HOST:295001")
	role.PortMap = spec.Map[int]{{Key: "c10d", Value: 29500}}
	text := scriptOf(t, inputOf(t, nil, role))
	for _, want := range []string{
		`'run --rdzv_endpoint $${TORCHX_RANK0_HOST:=localhost}:'"${TORCHX_PORT_C10D}"' --seed 29500 --x $TORCHX_RANK0_HOST:295001'`,
		"free_port 29500\n\texport TORCHX_PORT_C10D=$port\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("got\n%s\nwant it to contain %s", text[:strings.Index(text, "# The rest")], want)
		}
	}
}

func TestAdapt(t *testing.T) {
	t.Parallel()
	role := roleOf("r", 1, "#SBATCH --mem=5M", "\n#SBATCH --gpus-per-node=1\n")
	role.Resource = spec.Resource{GPU: 3, MemMB: 512}
	text := scriptOf(t, inputOf(t, nil, role))
	for _, c := range []struct {
		cluster    Cluster
		gpus, memo string
	}{
		{Cluster{Major: 22, Minor: 5}, "gpus-per-task=3", "--mem=512M\n"},
		{Cluster{Major: 24, Minor: 5}, "gpus-per-task=3", "--mem=512M\n"},
		{Cluster{Major: 24, Minor: 11, NoMemory: true}, "gpus-per-node=3", ""},
		{Cluster{Major: 25, Minor: 5}, "gpus-per-node=3", "--mem=512M\n"},
	} {
		got := Adapt(text, c.cluster, true, true)
		if !strings.Contains(got, "#SBATCH --"+c.gpus+"\n") || strings.Contains(got, "--mem=512M") != (c.memo != "") || !strings.Contains(got, "'#SBATCH --mem=5M'") {
			t.Errorf("%+v: got\n%s", c.cluster, got[:strings.Index(got, "\nset -u")])
		}
	}
	for out, want := range map[string]bool{"main*,1\nbig,64000\n": true, "main*,64000\nx,1\n": false, "": false, "x,1\n": false, "main*,1000+\n": true} {
		if got := NoMemory(out, ""); got != want {
			t.Errorf("%q: got %v, want %v", out, got, want)
		}
	}
	if !NoMemory("main*,9000\nx,1000\n", "x") || NoMemory("main*,1\nx,9000\n", "x") {
		t.Error("got the memory of another partition")
	}
}

// TestLauncherSyntax: bash of any version that clusters have parses the script.
func TestLauncherSyntax(t *testing.T) {
	t.Parallel()
	bash := needBash(t)
	file := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(file, []byte(scriptOf(t, inputOf(t, nil, roleOf("a", 1), roleOf("b", 2)))), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), bash, "-n", file).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// TestNoEndIsLost: the launcher sees the end of every srun, also if its wait for news times out
// all the time.
func TestNoEndIsLost(t *testing.T) {
	t.Parallel()
	bash := needBash(t)
	roles := make([]spec.Role, 60)
	for i := range roles {
		roles[i] = roleOf(fmt.Sprintf("r%d", i), 1)
	}
	in := inputOf(t, nil, roles...)
	in.Base = t.TempDir()
	dir := filepath.Join(in.Base, in.ID)
	text := strings.Replace(scriptOf(t, in), "read -r -t 1 ", "read -r -t 0.002 ", 1)
	if !strings.Contains(text, "-t 0.002 ") {
		t.Fatal("got a launcher that waits otherwise, want `read -r -t 1`")
	}
	bin := t.TempDir()
	err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, "script"), []byte(text), 0o600),
		os.WriteFile(filepath.Join(bin, "srun"), []byte("#!"+bash+"\nsleep 0.$((RANDOM % 900 + 100))\n"), 0o700))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, bash, filepath.Join(dir, "script"))
	cmd.Env = append(os.Environ(), "SLURM_JOB_ID=1", "SLURMD_NODENAME=n1", "TMPDIR="+bin, "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	if err := cmd.Run(); err != nil {
		t.Errorf("got %v, want success", err)
	}
	if events, err := os.ReadFile(filepath.Join(dir, "events")); err != nil || !bytes.HasSuffix(events, []byte(" SUCCEEDED 0\n")) {
		t.Errorf("got events %q, %v, want a success", events, err)
	}
}

// BenchmarkPlan plans 1,000 replicas.
func BenchmarkPlan(b *testing.B) {
	role := roleOf("r", 1000, "--rank", "${replica_id}")
	in := inputOf(b, nil, role)
	for b.Loop() {
		if _, err := Plan(b.Context(), in); err != nil {
			b.Fatal(err)
		}
	}
}
