package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"torchx/cmd/internal/program"
	"torchx/runtime/spec"
)

// badInput is a command line of TorchX's goldens that must fail with one line.
type badInput struct {
	Name  string            `json:"name"`
	Argv  []string          `json:"argv"`
	Code  int               `json:"torchx_exit_code"`
	Stdin string            `json:"stdin"`
	Env   map[string]string `json:"env"`
}

// differentCodes holds the exit codes that differ from TorchX's.
var differentCodes = map[string]int{
	// These work here.
	"list_local":            program.ExitOK, // a history
	"mount_permissions_key": program.ExitOK, // documented by TorchX, refused by its parser
	// A dry run contacts and builds nothing.
	"docker_workspace_no_image": program.ExitOK,
	// Invalid arguments of a component are usage errors here.
	"bad_dict_equals_in_value": program.ExitUsage,
	"bad_list_int":             program.ExitUsage,
	"missing_required_arg":     program.ExitUsage,
	// The queue has a default, and a retry policy that the cluster lacks is a warning.
	"k8s_missing_queue":     program.ExitOK,
	"k8s_role_retry_policy": program.ExitOK,
	// A repeated flag is a usage error.
	"repeated_run_flag": program.ExitUsage,
	// The history answers without a tracker.
	"tracker_none": program.ExitOK,
	// The shell's code for a program that is not found.
	"local_run_cmd_not_found": spec.ExitNotFound,
	// A planned app that cannot be started is recorded with 125; no engine is available.
	"docker_run_no_image": spec.ExitNotStarted,
	"slurm_run_no_sbatch": spec.ExitNotStarted,
}

func (b badInput) want() int {
	for _, arg := range b.Argv {
		if strings.HasPrefix(arg, "local_docker://") {
			return program.ExitError
		}
	}
	if code, ok := differentCodes[b.Name]; ok {
		return code
	}
	return b.Code
}

func TestBadInputs(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/bad-inputs.json")
	must(t, err)
	var cases []badInput
	must(t, json.Unmarshal(data, &cases))
	if len(cases) < 50 {
		t.Fatalf("only %d cases", len(cases))
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			c.check(t)
		})
	}
}

// check runs the case in its own folder.
func (b badInput) check(t *testing.T) {
	dir := caseDir(t)
	var args, vars []string
	for _, a := range b.Argv {
		a = strings.Replace(a, ".py:", ".star:", 1)
		if a == "comps.py" {
			a = "comps.star"
		}
		args = append(args, strings.ReplaceAll(a, "$LOGS", filepath.Join(dir, "logs")))
	}
	for k, v := range b.Env {
		vars = append(vars, k+"="+strings.ReplaceAll(v, "$CASEROOT", dir))
	}
	code := b.want()
	got := torchx(t, dir, vars, b.Stdin, args...)
	if got.code != code {
		t.Errorf("exit code %d, want %d", got.code, code)
	}
	if code != program.ExitOK && len(args) > 0 { // without a command torchx prints the overview
		oneClearLine(t, got)
	}
}

// oneClearLine checks that exactly one line reports an error. Warnings may precede it, and
// the position in a component's source may follow.
func oneClearLine(t *testing.T, r result) {
	t.Helper()
	n := 0
	for line := range strings.Lines(r.err) {
		if strings.HasPrefix(line, "torchx: error: ") {
			n++
		}
	}
	if n != 1 {
		t.Errorf("got %d error lines, want 1:\n%s", n, r.err)
	}
	for _, trace := range []string{"goroutine ", "panic", ".go:", "%!"} {
		if strings.Contains(r.err, trace) {
			t.Errorf("%q in\n%s", trace, r.err)
		}
	}
}
