package components_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"torchx/runtime/spec"
)

// shape is the number of nodes and processes of a role.
type shape struct {
	low, high int
	procs     string
	nodes     string
}

// shapeOf returns the shape of a role with the torchrun launcher.
func shapeOf(t *testing.T, r spec.Role) shape {
	t.Helper()
	words := strings.Fields(r.Args[1])
	after := func(option string) string { return words[slices.Index(words, option)+1] }
	if r.MinReplicas == nil {
		t.Fatal("min_replicas is not set")
	}
	return shape{*r.MinReplicas, r.NumReplicas, after("--nproc_per_node"), after("--nnodes")}
}

func TestDDPShapeTable(t *testing.T) {
	t.Parallel()
	for _, r := range readRows(t, "parse_nnodes") {
		j, _ := r.text(0)
		app, _, err := build(t, nil, "dist.ddp", "--script", "x.py", "--j="+j)
		switch {
		case r.Error != "":
			wantError(t, err, r.Error)
			continue
		case j == "3:2x1": // the reference accepts a minimum above the maximum
			wantError(t, err, "exceeds the maximum: 3:2")
			continue
		case err != nil:
			t.Errorf("-j %q: %v", j, err)
			continue
		}
		var out []any
		if err := json.Unmarshal(r.Out, &out); err != nil {
			t.Fatal(err)
		}
		want := shape{int(out[0].(float64)), int(out[1].(float64)), fmt.Sprint(out[2]), out[3].(string)}
		if got := shapeOf(t, app.Roles[0]); got != want {
			t.Errorf("-j %q: got %+v, want %+v", j, got, want)
		}
	}
}

func TestDDPShape(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		want shape
	}{
		{nil, shape{1, 1, "2", "1"}},
		{[]string{"--nnodes", "3"}, shape{3, 3, "1", "3"}},
		{[]string{"--nnodes", "1:3"}, shape{1, 3, "1", "1:3"}},
		{[]string{"--nproc_per_node", "4"}, shape{1, 1, "4", "1"}},
		{[]string{"--nnodes", "2", "--nproc_per_node", "4"}, shape{2, 2, "4", "2"}},
	} {
		app := mustBuild(t, "dist.ddp", append([]string{"--script", "x.py"}, c.args...)...)
		if got := shapeOf(t, app.Roles[0]); got != c.want {
			t.Errorf("%q: got %+v, want %+v", c.args, got, c.want)
		}
	}
}

func TestDDPRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		args []string
	}{
		{"both", []string{"--script", "x.py", "-j", "1x2", "--nnodes", "2"}},
		{"both", []string{"--script", "x.py", "-j", "1x2", "--nproc_per_node", "2"}},
		{"at least one node", []string{"--script", "x.py", "-j", "0x1"}},
		{"at least one node", []string{"--script", "x.py", "-j", "0"}},
		{"at least one node", []string{"--nnodes", "0:2"}},
		{"at least one node", []string{"--script", "x.py", "--nproc_per_node=-1"}},
		{"exceeds the maximum: 3:2", []string{"--nnodes", "3:2"}},
		{"Invalid format for -j", []string{"--script", "x.py", "-j", "1x2\n"}},
		{"Invalid format for -j", []string{"--script", "x.py", "-j", "1:2"}},
		{"Invalid format for -j", []string{"--script", "x.py", "-j", "１x２"}},
		{"invalid nnodes", []string{"--nnodes", "1:2:3"}},
		{"invalid nnodes", []string{"--nnodes", "two"}},
		{"exactly one of --script and -m must be specified", []string{"--script", "x.py", "-m", "a.b"}},
		{"exactly one of --script and -m must be specified", []string{"train.py"}},
		{"--script is empty", []string{"--script", ""}},
		{"torchrun, env", []string{"--script", "x.py", "--launcher", "mpi"}},
		{"invalid rdzv_port 0", []string{"--script", "x.py", "--rdzv_port", "0"}},
		{"invalid rdzv_port 65536", []string{"--self_check", "--rdzv_port", "65536"}},
		{"cannot name a role", []string{"--script", "/"}},
	} {
		_, _, err := build(t, nil, "dist.ddp", c.args...)
		if err == nil {
			t.Errorf("%q was accepted", c.args)
			continue
		}
		if !strings.Contains(err.Error(), c.text) {
			t.Errorf("%q: error %q, want %q in it", c.args, err, c.text)
		}
	}
}

func TestDDPRoleName(t *testing.T) {
	t.Parallel()
	for _, r := range readRows(t, "ddp_role_name") {
		var want string
		if err := json.Unmarshal(r.Out, &want); err != nil {
			t.Fatal(err)
		}
		app := mustBuild(t, "dist.ddp", r.program(0, 1)...)
		if got := app.Roles[0].Name; got != want || app.Name != want {
			t.Errorf("%v: got role %q of app %q, want %q", r.In, got, app.Name, want)
		}
	}
}

func TestDDPRunName(t *testing.T) {
	t.Parallel()
	for _, r := range readRows(t, "structured_name") {
		name, _ := r.text(0)
		app, _, err := build(t, nil, "dist.ddp", append(r.program(2, 1), "--name="+name)...)
		if r.Error != "" {
			if err == nil {
				t.Errorf("%v was accepted", r.In)
			}
			continue
		}
		if err != nil {
			t.Errorf("%v: %v", r.In, err)
			continue
		}
		want := map[string]string{}
		if err := json.Unmarshal(r.Out, &want); err != nil {
			t.Fatal(err)
		}
		experiment, _ := app.Roles[0].Env.Get("TORCHX_TRACKING_EXPERIMENT_NAME")
		run, _ := app.Roles[0].Env.Get("TORCHX_TRACKING_RUN_NAME")
		if app.Name != want["run_name"] || run != app.Name || experiment != want["experiment_name"] {
			t.Errorf("%v: got app %q, run %q, experiment %q", r.In, app.Name, run, experiment)
		}
	}
}

func TestDDPSelfCheckShape(t *testing.T) {
	t.Parallel()
	app := mustBuild(t, "dist.ddp", "--self_check", "--nnodes", "2:3", "--metadata", "k=v")
	role := app.Roles[0]
	if app.Name != "ddp" || role.Name != "ddp" || role.Entrypoint != "sh" {
		t.Errorf("app %q, role %q, entrypoint %q", app.Name, role.Name, role.Entrypoint)
	}
	if *role.MinReplicas != 2 || role.NumReplicas != 3 {
		t.Errorf("replicas %d to %d, want 2 to 3", *role.MinReplicas, role.NumReplicas)
	}
	if port, _ := role.PortMap.Get("c10d"); port != 29500 {
		t.Errorf("got port %d, want 29500", port)
	}
	if app.Metadata["k"] != "v" {
		t.Errorf("got metadata %v, want k = v", app.Metadata)
	}
	if named := mustBuild(t, "dist.ddp", "--self_check", "--name", "exp/run"); named.Name != "run" {
		t.Errorf("app %q, want the given name", named.Name)
	}
}

func TestEnvironmentOfUserWins(t *testing.T) {
	t.Parallel()
	caller := map[string]string{"LOGLEVEL": "INFO"}
	for _, c := range []struct {
		want string
		args []string
	}{
		{"INFO", nil},
		{"ERROR", []string{"--env", "LOGLEVEL=ERROR"}},
	} {
		app, _, err := build(t, caller, "dist.ddp", append(c.args, "--self_check")...)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := app.Roles[0].Env.Get("LOGLEVEL"); got != c.want {
			t.Errorf("%q: LOGLEVEL %q, want %q", c.args, got, c.want)
		}
	}
}

func TestSPMDShape(t *testing.T) {
	t.Parallel()
	for _, r := range readRows(t, "structured_j") {
		h, _ := r.text(0)
		j, _ := r.text(1)
		app, _, err := build(t, nil, "dist.spmd", "--script", "x.py", "--h", h, "--j", j)
		if r.Error != "" { // our message is the same for all of them
			wantError(t, err, "Invalid format for `-j $NNODESx$NPROCS_PER_NODE` (e.g. `-j 1x8`). Given: "+j)
			continue
		}
		if err != nil {
			t.Errorf("%v: %v", r.In, err)
			continue
		}
		var want struct {
			Nodes int `json:"nnodes"`
			Procs int `json:"nproc_per_node"`
		}
		if err := json.Unmarshal(r.Out, &want); err != nil {
			t.Fatal(err)
		}
		got := shapeOf(t, app.Roles[0])
		if got.high != want.Nodes || got.procs != fmt.Sprint(want.Procs) {
			t.Errorf("%v: got %+v, want %+v", r.In, got, want)
		}
	}
}

func TestSPMDAndGPUs(t *testing.T) {
	t.Parallel()
	_, _, err := build(t, nil, "dist.spmd", "-j", "2", "-h", "cpu.large", "--script", "x.py")
	wantError(t, err, "`cpu.large` is not a GPU instance")
	_, printed, err := build(t, nil, "dist.spmd", "-j", "1x4", "-h", "gpu.medium", "--script", "x.py")
	if err != nil || !strings.Contains(printed, "4 processes on each node, but gpu.medium has 2 GPUs") {
		t.Errorf("got %q, error %v, want a warning", printed, err)
	}
	_, printed, err = build(t, nil, "dist.spmd", "--script", "x.py")
	if err != nil || printed != "" {
		t.Errorf("printed %q, error %v; want neither", printed, err)
	}
}
