package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"torchx/cmd/internal/program"
	"torchx/runtime/backend"
	"torchx/test/homedir"
)

// TestDoctorFindsDeadApps: an app whose agent was killed is a warning until the fix that
// doctor names is applied.
func TestDoctorFindsDeadApps(t *testing.T) {
	t.Parallel()
	dir := homedir.New(t)
	r := torchx(t, dir, nil, "", "run", "-d", "utils.sh", "sleep", "300")
	if r.code != program.ExitOK {
		t.Fatalf("%+v", r)
	}
	handle := strings.TrimSpace(r.out)
	id := handle[strings.LastIndexByte(handle, '/')+1:]
	t.Cleanup(func() { torchx(t, dir, nil, "", "delete", "-f", id) })
	if c := deadApps(t, dir); c.Level != backend.LevelOK {
		t.Errorf("a live app: %+v", c)
	}
	data, err := os.ReadFile(filepath.Join(dir, "home", "apps", id, "agent.lock"))
	must(t, err)
	var holder struct{ PID int }
	must(t, json.Unmarshal(data, &holder))
	must(t, syscall.Kill(holder.PID, syscall.SIGKILL))
	c := deadApps(t, dir)
	for started := time.Now(); c.Level == backend.LevelOK && time.Since(started) < 20*time.Second; c = deadApps(t, dir) {
	}
	if c.Level != backend.LevelWarning || !strings.Contains(c.Message, id) || !strings.Contains(c.Fix, "torchx list") {
		t.Errorf("a dead app: %+v", c)
	}
	if r := torchx(t, dir, nil, "", "list"); !strings.Contains(r.out, "FAILED") {
		t.Errorf("%+v", r)
	}
	if c := deadApps(t, dir); c.Level != backend.LevelOK {
		t.Errorf("after the fix: %+v", c)
	}
}

// doctorCheck is a check of `doctor --json`.
type doctorCheck struct {
	Name, Message, Fix string
	Level              backend.Level
}

// deadApps returns doctor's check of apps whose agent died.
func deadApps(t *testing.T, dir string) doctorCheck {
	t.Helper()
	r := torchx(t, dir, nil, "", "doctor", "--json")
	var found []struct {
		Name   string
		Checks []doctorCheck
	}
	if err := json.Unmarshal([]byte(r.out), &found); err != nil || len(found) < 2 || found[0].Name != "home" || found[1].Name != "local" {
		t.Fatalf("%+v: %v", r, err)
	}
	for _, c := range found[1].Checks {
		if c.Name == "dead apps" {
			return c
		}
	}
	t.Fatalf("%+v has no such check", found[1])
	return doctorCheck{}
}
