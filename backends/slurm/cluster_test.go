//go:build unix

package slurm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"torchx/backends/slurm/folder"
	"torchx/runtime/backend"
	"torchx/runtime/safefile"
	"torchx/runtime/spec"
	"torchx/test/homedir"
	"torchx/test/slurmtest"
)

// submitted submits an app of one role with n replicas of a shell script.
func submitted(t *testing.T, b *Backend, id, cfg, text string, n int) error {
	t.Helper()
	role := spec.NewRole("r", "")
	role.Entrypoint, role.Args, role.NumReplicas = "sh", []string{"-c", text}, n
	layer, err := backend.CfgLayer(cfg)
	if err != nil {
		t.Fatal(err)
	}
	options, _, err := backend.Resolve(b.Options(), layer)
	if err != nil {
		t.Fatal(err)
	}
	p, err := b.Plan(t.Context(), backend.PlanInput{ID: id, App: &spec.App{Name: "x", Roles: []spec.Role{role}, Metadata: map[string]any{}}, Cfg: options, Cwd: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	err = b.Submit(t.Context(), p)
	t.Cleanup(func() { _ = b.Cancel(context.Background(), id, backend.CancelOptions{Force: true}) }) //nolint:usetesting // that of the test has ended
	return err
}

func submit(t *testing.T, b *Backend, id, cfg, text string, n int) {
	t.Helper()
	if err := submitted(t, b, id, cfg, text, n); err != nil {
		t.Fatal(err)
	}
}

func describe(t *testing.T, b *Backend, id string) *spec.Status {
	t.Helper()
	s, err := b.Describe(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// wait waits for the end of an app.
func wait(t *testing.T, b *Backend, id string) *spec.Status {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	s, err := b.Wait(ctx, id)
	if err != nil {
		t.Fatalf("wait for %s: %v", id, err)
	}
	return s
}

// idOf returns an app ID that no other test has.
func idOf(t *testing.T, name string) string {
	t.Helper()
	return fmt.Sprintf("%s-%d", name, time.Now().UnixNano())
}

// TestOtherLogin: another login node, with another home, sees the whole app, its log included,
// and ends it.
func TestOtherLogin(t *testing.T) {
	t.Parallel()
	slurmtest.Need(t)
	a, b := newBackend(t, homedir.New(t)), newBackend(t, homedir.New(t))
	id := idOf(t, "login")
	submit(t, a, id, "grace_period=2", "echo up; sleep 300", 2)
	slurmtest.Eventually(t, "both replicas run", func() bool {
		s := describe(t, b, id)
		return s.State == spec.Running && s.Roles[0].Replicas[0].State == spec.Running && s.Roles[0].Replicas[1].State == spec.Running
	})
	if s, err := b.Submission(t.Context(), id); err != nil || s.Partial || s.App.Roles[0].NumReplicas != 2 {
		t.Errorf("submission: got %+v, %v, want the whole app", s, err)
	}
	r, err := b.Logs(t.Context(), id, spec.Replica{Role: "r", ID: 1}, backend.LogOptions{Tail: -1, Follow: true})
	if err != nil {
		t.Fatal(err)
	}
	if block, err := r.Next(t.Context()); string(block.Data) != "up\n" {
		t.Errorf("log: got %q, %v, want the line of the replica", block.Data, err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if item := listed(t, b, id); item == nil || !item.Foreign || item.State != spec.Running {
		t.Errorf("list: got %+v, want the running app of another home", item)
	}
	if err := b.Cancel(t.Context(), id, backend.CancelOptions{}); err != nil {
		t.Fatal(err)
	}
	if s := wait(t, a, id); s.State != spec.Cancelled || *s.ExitCode != spec.ExitCancelled {
		t.Errorf("got %s with code %d, want CANCELLED with 130", s.State, *s.ExitCode)
	}
	if err := a.Delete(t.Context(), id, backend.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, x := range []*Backend{a, b} {
		if _, err := x.Describe(t.Context(), id); !errors.Is(err, backend.ErrNotFound) || listed(t, x, id) != nil {
			t.Errorf("after delete: got %v, listed %+v, want it gone although Slurm knows the job", err, listed(t, x, id))
		}
	}
}

func listed(t *testing.T, b *Backend, id string) *backend.View {
	t.Helper()
	all, err := b.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range all {
		if all[i].ID == id {
			return &all[i]
		}
	}
	return nil
}

// TestForeign: jobs of TorchX and of other programs are told as far as Slurm knows them.
func TestForeign(t *testing.T) {
	t.Parallel()
	slurmtest.Need(t)
	b := newBackend(t, homedir.New(t))
	path := filepath.Join(t.TempDir(), "torchx-sbatch.sh")
	text := "#!/bin/bash\n#SBATCH --job-name=trainer-0 --output=/dev/null\n#SBATCH hetjob\n#SBATCH --job-name=trainer-1\nsleep 300\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	id := slurmtest.Output(t, "sbatch", "--parsable", path)
	t.Cleanup(func() { slurmtest.Output(t, "scancel", "--quiet", id) })
	failed := slurmtest.Output(t, "sbatch", "--parsable", "--output=/dev/null", "--wrap=exit 3")
	slurmtest.Eventually(t, "TorchX's job runs", func() bool { return describe(t, b, id).State == spec.Running })
	if s := describe(t, b, id); len(s.Roles) != 1 || s.Roles[0].Role != "trainer" || len(s.Roles[0].Replicas) != 2 || s.Roles[0].Replicas[1].Hostname == "" {
		t.Errorf("got %+v, want two replicas of trainer on their nodes", s.Roles)
	}
	if s, err := b.Submission(t.Context(), id); err != nil || !s.Partial || s.App.Roles[0].NumReplicas != 2 || s.App.Roles[0].Entrypoint != path {
		t.Errorf("submission: got %+v, %v, want a partial one", s, err)
	}
	if item := listed(t, b, id); item == nil || !item.Foreign || item.Name != "trainer" {
		t.Errorf("list: got %+v, want trainer", item)
	}
	if s := wait(t, b, failed); s.State != spec.Failed || *s.ExitCode != 3 || s.FirstFailure == nil {
		t.Errorf("got %s with %+v, want exit code 3", s.State, s.FirstFailure)
	}
	if err := b.Cancel(t.Context(), id, backend.CancelOptions{}); err != nil {
		t.Fatal(err)
	}
	if s := wait(t, b, id); s.State != spec.Cancelled {
		t.Errorf("got %s, want CANCELLED", s.State)
	}
	if err := b.Delete(t.Context(), id, backend.DeleteOptions{}); !errors.Is(err, backend.ErrUnsupported) {
		t.Errorf("delete: got %v, want ErrUnsupported", err)
	}
	for _, unknown := range []string{"99999999", "no-such-app"} {
		if _, err := b.Describe(t.Context(), unknown); !errors.Is(err, backend.ErrNotFound) {
			t.Errorf("%s: got %v, want ErrNotFound", unknown, err)
		}
	}
}

// TestWaits: what an app waits for is told in words, and it can be canceled before it starts.
func TestWaits(t *testing.T) {
	t.Parallel()
	slurmtest.Need(t)
	b := newBackend(t, homedir.New(t))
	for cfg, want := range map[string]string{
		"partition=shut":             "waits: partition shut is down (see `sinfo`, and choose another by -cfg partition=NAME)",
		"sbatch=--hold":              "waits: it is held (release it by `scontrol release ",
		"sbatch='--begin=now+1hour'": "waits: its earliest start time has not come (",
	} {
		id := idOf(t, "waits")
		submit(t, b, id, cfg, "exit 0", 1)
		slurmtest.Eventually(t, cfg+": "+want, func() bool {
			s := describe(t, b, id)
			return s.State == spec.Pending && strings.HasPrefix(s.Msg, want)
		})
		if err := b.Cancel(t.Context(), id, backend.CancelOptions{}); err != nil {
			t.Fatal(err)
		}
		if s := wait(t, b, id); s.State != spec.Cancelled || s.StartedAt != nil {
			t.Errorf("%s: got %s, started %v, want CANCELLED before its start", cfg, s.State, s.StartedAt)
		}
	}
}

// TestRefused: what Slurm refuses ends in one line with the remedy, and leaves nothing.
func TestRefused(t *testing.T) {
	t.Parallel()
	slurmtest.Need(t)
	home := homedir.New(t)
	b := newBackend(t, home)
	cases := map[string]string{
		"partition=nope":       "there is no such partition (choose another by -cfg partition=NAME, see `sinfo`)",
		"constraint=nope":      "no node has this feature (choose another by -cfg constraint=FEATURE,",
		"time=nonsense":        "the time limit is not one of Slurm's forms (write minutes,",
		"sbatch='--mem=9999G'": "no node of the partition has so much memory (ask for less",
	}
	if slurmtest.HasAccounting() {
		cases["account=nope"] = "you may not use this account, or not with this partition (choose another by -cfg account=NAME,"
		cases["qos=nope"] = "you may not use this QOS (choose another by -cfg qos=NAME,"
	}
	for cfg, want := range cases {
		id := idOf(t, "refused")
		err := submitted(t, b, id, cfg, "exit 0", 1)
		var start *backend.StartError
		if !errors.As(err, &start) || start.Code != spec.ExitNotStarted || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want one line with %q", cfg, err, want)
		}
		if _, err := os.Stat(filepath.Join(home, homeFolder, id)); err == nil {
			t.Errorf("%s: the folder of the app is left", cfg)
		}
	}
}

// TestEndedOutside: scancel and a time limit of Slurm end an app, and it says who and why.
func TestEndedOutside(t *testing.T) {
	t.Parallel()
	slurmtest.Need(t)
	b := newBackend(t, homedir.New(t))
	late, stopped := idOf(t, "late"), idOf(t, "stopped")
	submit(t, b, late, "partition=short,time=1", "sleep 300", 1)
	submit(t, b, stopped, "requeue=false", "sleep 300", 2)
	slurmtest.Eventually(t, "the app runs", func() bool { return describe(t, b, stopped).State == spec.Running })
	slurmtest.Output(t, "scancel", "--name="+stopped)
	if s := wait(t, b, stopped); s.State != spec.Cancelled || *s.ExitCode != spec.ExitCancelled {
		t.Errorf("scancel: got %s with code %d and %q, want CANCELLED", s.State, *s.ExitCode, s.Msg)
	}
	s := wait(t, b, late)
	if s.State != spec.Failed || *s.ExitCode != spec.ExitDeadline || !strings.Contains(s.Msg, "its time limit of 1m was reached (ask for more by -cfg time=TIME)") {
		t.Errorf("time limit: got %s with code %d and %q, want FAILED with 124", s.State, *s.ExitCode, s.Msg)
	}
}

// TestForgottenJob: an app whose job Slurm has forgotten is not believed to run.
func TestForgottenJob(t *testing.T) {
	t.Parallel()
	slurmtest.Need(t)
	home := homedir.New(t)
	b := newBackend(t, home)
	id := idOf(t, "forgotten")
	submit(t, b, id, "partition=shut", "exit 0", 1)
	f := folder.Folder(filepath.Join(home, homeFolder, safefile.Escape(id)))
	job, _ := f.Job()
	if err := f.SetJob(87654321); err != nil {
		t.Fatal(err)
	}
	s := describe(t, b, id)
	if s.State != spec.Failed || *s.ExitCode != spec.ExitNotStarted || !strings.Contains(s.Msg, "Slurm no longer knows job 87654321") {
		t.Errorf("got %s with %q, want that its result is unknown", s.State, s.Msg)
	}
	if strings.Contains(s.Msg, "no accounting") == slurmtest.HasAccounting() {
		t.Errorf("got %q, want it to say whether the cluster has accounting", s.Msg)
	}
	if err := f.SetJob(job); err != nil {
		t.Fatal(err)
	}
}

// counted returns an environment in which each call of a command is a line of a file.
func counted(t *testing.T, name string) (environ []string, calls func() int) {
	t.Helper()
	dir := t.TempDir()
	real, err := exec.LookPath(name)
	if err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(dir, "calls")
	write := exec.CommandContext(t.Context(), "sh", "-c", `cat >"$1" && chmod +x "$1"`, "sh", filepath.Join(dir, name))
	write.Stdin = strings.NewReader(fmt.Sprintf("#!/bin/sh\necho call >>%q\nexec %q \"$@\"\n", log, real))
	if out, err := write.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	environ = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
	return environ, func() int {
		data, _ := os.ReadFile(log) // missing: no call
		return strings.Count(string(data), "\n")
	}
}

// TestOneCall: the status of an app needs one call of squeue, and that of many needs no more.
func TestOneCall(t *testing.T) {
	t.Parallel()
	slurmtest.Need(t)
	home := homedir.New(t)
	b := newBackend(t, home)
	ids := make([]string, 6)
	for i := range ids {
		ids[i] = idOf(t, "many")
		submit(t, b, ids[i], "partition=shut", "exit 0", 1)
	}
	environ, calls := counted(t, "squeue")
	c, err := New(Config{Home: home, Environ: environ})
	if err != nil {
		t.Fatal(err)
	}
	c.queue.age = time.Hour // a slow machine needs more than the usual age for six apps
	for _, id := range ids {
		if s := describe(t, c, id); s.State != spec.Pending {
			t.Errorf("got %s, want PENDING", s.State)
		}
	}
	if listed(t, c, ids[0]) == nil {
		t.Error("the list lacks an app")
	}
	if n := calls(); n != 1 {
		t.Errorf("got %d calls of squeue, want 1", n)
	}
}
