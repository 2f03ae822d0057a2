//go:build unix

package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"torchx/backends/slurm/job"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// fakes returns a client whose commands are shell scripts, and the file that lists their calls.
func fakes(t *testing.T, scripts map[string]string) (c *Client, calls string) {
	t.Helper()
	dir := t.TempDir()
	calls = filepath.Join(dir, "calls")
	for name, text := range scripts {
		text = fmt.Sprintf("#!/bin/sh\necho \"%s $*\" >>%q\n%s\n", name, calls, text)
		// Written by another process: a child of a parallel test could hold the file open for
		// writing, and Linux then does not run it.
		write := exec.CommandContext(t.Context(), "sh", "-c", `cat >"$1" && chmod +x "$1"`, "sh", filepath.Join(dir, name))
		if write.Stdin = strings.NewReader(text); write.Run() != nil {
			t.Fatalf("%s cannot be written", name)
		}
	}
	return &Client{Environ: []string{"PATH=" + dir + ":/usr/bin:/bin", "SQUEUE_STATES=FAILED", "SLURM_TIME_FORMAT=relative"}}, calls
}

// recorded returns the quoted path of a recorded output, for a shell script.
func recorded(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "job", "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return strconv.Quote(path)
}

// count returns the number of calls of commands.
func count(t *testing.T, calls string) int {
	t.Helper()
	data, err := os.ReadFile(calls)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(data), "\n")
}

// TestCancel: what fails without a word is tried again, and says why then.
func TestCancel(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		script string
		calls  int
		want   string
	}{
		"at once":         {"exit 0", 1, ""},
		"ended":           {"echo 'scancel: error: Kill job error on job id 7: Job/step already completing or completed' >&2; exit 1", 1, ""},
		"silent once":     {`[ "$1" = --verbose ]`, 2, ""},
		"silent, ended":   {`[ "$1" = --verbose ] && echo 'Invalid job id specified' >&2; exit 1`, 2, ""},
		"silent, refused": {`[ "$1" = --verbose ] && echo 'scancel: error: Access/permission denied' >&2; exit 1`, 2, "you may not do this"},
		"always silent":   {"exit 1", 2, "it printed no reason"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, calls := fakes(t, map[string]string{"scancel": test.script})
			err := c.Cancel(t.Context(), 7, "--state=PENDING")
			if got := fmt.Sprint(err); !strings.Contains(got, cmp.Or(test.want, "<nil>")) {
				t.Errorf("got %s, want %q", got, test.want)
			}
			if n := count(t, calls); n != test.calls {
				t.Errorf("got %d calls, want %d", n, test.calls)
			}
		})
	}
}

// TestQueued: one call finds the jobs that belong to the IDs, whatever the user's variables say.
// Where squeue does not know the format, a second one asks scontrol.
func TestQueued(t *testing.T) {
	t.Parallel()
	for name, listing := range map[string]string{
		"known": "cat " + recorded(t, "squeue.txt"), "silent": "exit 1", "other form": "echo 204 trainer-0",
		"unknown": "echo 'squeue: error: unrecognized format' >&2; exit 1",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, calls := fakes(t, map[string]string{
				"squeue":   "[ -z \"$SQUEUE_STATES$SLURM_TIME_FORMAT\" ] || exit 9\n" + listing,
				"scontrol": "cat " + recorded(t, "20.11/scontrol-oneline.txt"),
			})
			jobs, err := c.Queued(t.Context(), 204, 230)
			if err != nil || len(jobs) != 4 || jobs[0].ID != 204 || jobs[3].Main() != 230 {
				t.Errorf("got %+v, %v, want the two components of 204 and the tasks of 230", jobs, err)
			}
			want := 2
			if name == "known" {
				want = 1
			}
			if n := count(t, calls); n != want {
				t.Errorf("got %d calls, want %d", n, want)
			}
		})
	}
}

// TestQueuedByScontrol: where squeue does not print the listing, scontrol answers.
func TestQueuedByScontrol(t *testing.T) {
	t.Parallel()
	for name, squeue := range map[string]string{
		"old":          "echo \"squeue: unrecognized option '--Format'\" >&2; exit 1",
		"no field":     "echo 'squeue: fatal: Invalid job format specification' >&2; exit 1",
		"another form": "echo 'JOBID PARTITION NAME'",
	} {
		c, _ := fakes(t, map[string]string{"squeue": squeue, "scontrol": "cat " + recorded(t, "20.11/scontrol-oneline.txt")})
		jobs, err := c.Queued(t.Context(), 220)
		if err != nil || len(jobs) != 1 || jobs[0].State() != spec.Failed {
			t.Errorf("%s: got %+v, %v, want the failed job", name, jobs, err)
		}
	}
	c, calls := fakes(t, map[string]string{"squeue": "echo 'slurm_load_jobs error: Unable to contact slurm controller (connect failure)' >&2; exit 1", "scontrol": "exit 0"})
	if _, err := c.Queued(t.Context(), 1); !errors.Is(err, backend.ErrUnavailable) || count(t, calls) != 1 {
		t.Errorf("dead controller: got %v after %d calls, want ErrUnavailable after one", err, count(t, calls))
	}
	c, _ = fakes(t, map[string]string{"squeue": "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1"})
	if jobs, err := c.Queued(t.Context(), 1); err != nil || len(jobs) != 0 {
		t.Errorf("unknown job: got %v, %v, want none", jobs, err)
	}
}

// TestAccounted: exit codes that the JSON of 22.05 lacks come from the text form.
func TestAccounted(t *testing.T) {
	t.Parallel()
	fields := strings.Split(job.AccountingFields, ",")
	row := make([]string, len(fields))
	for i, name := range fields {
		row[i] = map[string]string{"JobIDRaw": "3", "JobID": "3", "State": "FAILED", "ExitCode": "7:0", "DerivedExitCode": "7:0"}[name]
	}
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte(strings.Join(row, job.Delimiter)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, calls := fakes(t, map[string]string{"sacct": "case $1 in --json) cat " + recorded(t, "22.05/sacct.json") + ";; *) cat " + strconv.Quote(text) + ";; esac"})
	jobs, err := c.Accounted(t.Context(), 3)
	if err != nil || len(jobs) != 1 || jobs[0].Exit.Code != 7 || count(t, calls) != 2 {
		t.Errorf("got %+v, %v after %d calls, want exit code 7 after two", jobs, err, count(t, calls))
	}
	c, calls = fakes(t, map[string]string{"sacct": "cat " + recorded(t, "24.11/sacct.json")})
	if jobs, err := c.Accounted(t.Context(), 250); err != nil || len(jobs) != 1 || jobs[0].Why() != "cancelled by root" || count(t, calls) != 1 {
		t.Errorf("got %+v, %v after %d calls, want who canceled it after one", jobs, err, count(t, calls))
	}
	c, _ = fakes(t, map[string]string{"sacct": "echo 'Slurm accounting storage is disabled' >&2; exit 1"})
	if _, err := c.Accounted(t.Context(), 3); !errors.Is(err, ErrNoAccounting) {
		t.Errorf("got %v, want ErrNoAccounting", err)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	for stderr, want := range map[string]string{
		"sbatch: error: Batch job submission failed: Invalid account or account/partition combination specified":                         "sbatch failed: you may not use this account, or not with this partition (choose another by -cfg account=NAME, see `sacctmgr show associations user=$USER`)",
		"sbatch: error: invalid partition specified: nope\nsbatch: error: Batch job submission failed: Invalid partition name specified": "sbatch failed: there is no such partition (choose another by -cfg partition=NAME, see `sinfo`)",
		"sbatch: error: Batch job submission failed: Something new":                                                                      "sbatch failed: Batch job submission failed: Something new",
		"":                              "sbatch failed: it printed no reason",
		"x\ny  \tz\n\n":                 "sbatch failed: y z",
		strings.Repeat("é", 400) + "\n": "sbatch failed: " + strings.Repeat("é", maxText) + "…",
	} {
		if got := explain("sbatch", stderr).Error(); got != want {
			t.Errorf("%q:\ngot  %s\nwant %s", stderr, got, want)
		}
	}
	c := &Client{Environ: []string{"PATH=/nonexistent"}}
	if _, err := c.Run(t.Context(), nil, "squeue"); !errors.Is(err, backend.ErrUnavailable) || !strings.Contains(err.Error(), "squeue is not in PATH (") {
		t.Errorf("got %v, want ErrUnavailable with the command", err)
	}
	c = &Client{Offline: true}
	if _, err := c.Run(t.Context(), nil, "squeue"); !errors.Is(err, backend.ErrUnavailable) || !strings.Contains(err.Error(), "--offline") {
		t.Errorf("got %v, want ErrUnavailable with --offline", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c, _ = fakes(t, map[string]string{"squeue": "sleep 60"})
	if _, err := c.Run(ctx, nil, "squeue"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that of the context", err)
	}
}
