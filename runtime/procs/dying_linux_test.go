package procs

import (
	"os"
	"os/exec"
	"testing"
)

func TestDying(t *testing.T) {
	t.Parallel()
	if Dying(os.Getpid()) {
		t.Error("this process: got dying, want not")
	}
	cmd := exec.Command("sleep", "600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if Dying(cmd.Process.Pid) {
		t.Error("a new process: got dying, want not")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	// Immediately, and until the process is gone.
	if !Dying(cmd.Process.Pid) {
		t.Error("a killed process: got not dying, want dying")
	}
	_ = cmd.Wait() // it was killed
	if !Dying(cmd.Process.Pid) {
		t.Error("an ended process: got not dying, want dying")
	}
}
