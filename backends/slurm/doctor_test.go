//go:build unix

package slurm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"torchx/backends/slurm/folder"
	"torchx/runtime/backend"
	"torchx/runtime/safefile"
	"torchx/runtime/spec"
	"torchx/test/slurmtest"
)

// TestDoctorOfCluster: each check passes on a healthy cluster, names what is wrong with options,
// and a dead controller.
func TestDoctorOfCluster(t *testing.T) {
	t.Parallel()
	slurmtest.Need(t)
	checks := func(cfg backend.Config, environ []string) (levels map[string]backend.Level, text string) {
		b, err := New(Config{Home: t.TempDir(), Environ: environ, Settings: func(context.Context, string) (backend.Config, error) { return cfg, nil }})
		if err != nil {
			t.Fatal(err)
		}
		levels = map[string]backend.Level{}
		for _, c := range b.Doctor(t.Context()) {
			levels[c.Name] = c.Level
			text += fmt.Sprintf("%s %s: %s (%s)\n", c.Level, c.Name, c.Text, c.Fix)
		}
		return levels, text
	}
	levels, text := checks(backend.Config{}, nil)
	for _, name := range []string{commandsCheck, controllerCheck, versionCheck, partitionCheck, accountCheck} {
		if levels[name] != backend.LevelOK {
			t.Errorf("%s: got %s, want ok:\n%s", name, levels[name], text)
		}
	}
	if (levels[accountingCheck] == backend.LevelOK) != slurmtest.HasAccounting() {
		t.Errorf("accounting: got %s:\n%s", levels[accountingCheck], text)
	}
	for cfg, name := range map[string]string{"partition=nope": partitionCheck, "partition=shut": partitionCheck, "account=nope": accountCheck} {
		key, value, _ := strings.Cut(cfg, "=")
		if levels, text := checks(backend.Config{key: value}, nil); levels[name] != backend.LevelFailure && (name != accountCheck || slurmtest.HasAccounting()) {
			t.Errorf("%s: got %s, want a failure:\n%s", cfg, levels[name], text)
		}
	}
	if levels, text := checks(backend.Config{}, deadCluster(t)); levels[controllerCheck] != backend.LevelFailure || !strings.Contains(text, "DOWN") {
		t.Errorf("dead controller: got %s, want a failure:\n%s", levels[controllerCheck], text)
	}
	if levels, text := checks(backend.Config{}, []string{"PATH=/nonexistent"}); levels[commandsCheck] != backend.LevelFailure || len(levels) != 1 {
		t.Errorf("no commands: got %s, want only that failure", text)
	}
}

// deadCluster returns an environment with a configuration of the cluster whose controller does
// not run.
func deadCluster(t *testing.T) []string {
	t.Helper()
	data, err := os.ReadFile(os.Getenv("SLURM_CONF"))
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, "SlurmctldPort=") {
			line = "SlurmctldPort=1\n"
		}
		text.WriteString(line)
	}
	path := filepath.Join(t.TempDir(), "slurm.conf")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return append(os.Environ(), "SLURM_CONF="+path)
}

// TestDeadController: nothing is taken for an empty queue, and nothing is half submitted.
func TestDeadController(t *testing.T) {
	t.Parallel()
	slurmtest.Need(t)
	home := t.TempDir()
	alive := newBackend(t, home)
	id := idOf(t, "dead")
	submit(t, alive, id, "partition=shut", "exit 0", 1)
	b, err := New(Config{Home: home, Environ: deadCluster(t)})
	if err != nil {
		t.Fatal(err)
	}
	if s, err := b.Describe(t.Context(), id); !errors.Is(err, backend.ErrUnavailable) || strings.Contains(err.Error(), "\n") {
		t.Errorf("describe: got %+v, %v, want ErrUnavailable in one line", s, err)
	}
	if _, err := b.List(t.Context()); !errors.Is(err, backend.ErrUnavailable) {
		t.Errorf("list: got %v, want ErrUnavailable", err)
	}
	if _, err := b.Logs(t.Context(), id, spec.Replica{Role: "r"}, backend.LogOptions{Tail: -1}); err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, backend.ErrUnavailable) {
		t.Errorf("log: got %v, want an empty one", err)
	}
	if err := b.Cancel(t.Context(), id, backend.CancelOptions{}); !errors.Is(err, backend.ErrUnavailable) || strings.Contains(err.Error(), "\n") {
		t.Errorf("cancel: got %v, want ErrUnavailable in one line", err)
	}
	if s := describe(t, alive, id); s.State != spec.Pending || strings.Contains(s.Msg, "cancel") {
		t.Errorf("after a cancel in vain: got %s with %q, want it to wait as before", s.State, s.Msg)
	}
	refused := idOf(t, "dead")
	if err := submitted(t, b, refused, "nomem=true", "exit 0", 1); !errors.Is(err, backend.ErrUnavailable) || strings.Contains(err.Error(), "\n") {
		t.Errorf("submit: got %v, want ErrUnavailable in one line", err)
	}
	if folder.Folder(filepath.Join(home, homeFolder, safefile.Escape(refused))).Exists() {
		t.Error("submit: the folder of the app is left")
	}
}
