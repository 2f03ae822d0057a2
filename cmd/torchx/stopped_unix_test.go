//go:build unix

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"torchx/runtime/agent"
)

// agentOf returns the process id of an app's agent.
func agentOf(t *testing.T, b agent.Bundle) int {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(b.Dir, "agent.lock"))
	must(t, err)
	var holder struct{ PID int }
	must(t, json.Unmarshal(data, &holder))
	return holder.PID
}

// TestStoppedAgent: a command that waits for an app continues its stopped agent.
func TestStoppedAgent(t *testing.T) {
	t.Parallel()
	tests := []struct {
		command []string
		line    string // of the replica
		code    int
		want    string // on stderr
	}{
		{[]string{"cancel", "--wait"}, "sleep 600", 0, "CANCELLED"},
		{[]string{"delete", "-f"}, "sleep 600", 0, "deleted local://"},
		{[]string{"wait"}, "until [ -e go ]; do sleep 0.05; done", 0, "SUCCEEDED"},
		{[]string{"log", "-t"}, "until [ -e go ]; do sleep 0.05; done; echo done", 0, ""},
		{[]string{"attach"}, "until [ -e go ]; do sleep 0.05; done; echo done", 0, "SUCCEEDED"},
	}
	for _, test := range tests {
		t.Run(test.command[0], func(t *testing.T) {
			t.Parallel()
			dir := caseDir(t)
			r := bounded(t, dir, "run", "-d", "utils.sh", "--", "sh", "-c", test.line)
			handle := strings.TrimSpace(r.out)
			must(t, syscall.Kill(agentOf(t, agent.BundleAt(filepath.Join(dir, "home"), filepath.Base(handle))), syscall.SIGSTOP))
			must(t, os.WriteFile(filepath.Join(dir, "go"), nil, 0o600))
			r = bounded(t, dir, append(test.command, handle)...)
			if r.code != test.code || !strings.Contains(r.err, test.want) {
				t.Errorf("got exit code %d, %q, want %d with %q", r.code, r.err, test.code, test.want)
			}
			bounded(t, dir, "cancel", "--wait", "--force", handle)
		})
	}
}
