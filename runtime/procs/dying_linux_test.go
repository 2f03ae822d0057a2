package procs

import (
	"os"
	"os/exec"
	"testing"
)

func TestDying(t *testing.T) {
	t.Parallel()
	if Dying(os.Getpid()) {
		t.Error("this process is not dying")
	}
	cmd := exec.Command("sleep", "600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if Dying(cmd.Process.Pid) {
		t.Error("a new process is not dying")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	// At once, and for as long as anything of it is left.
	if !Dying(cmd.Process.Pid) {
		t.Error("a killed process is dying")
	}
	_ = cmd.Wait() // it was killed
	if !Dying(cmd.Process.Pid) {
		t.Error("a process that is gone has died")
	}
}
