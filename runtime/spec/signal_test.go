package spec

import "testing"

// TestSignals: signals by the exit codes that shells give them.
func TestSignals(t *testing.T) {
	t.Parallel()
	for code, want := range map[int]string{0: "", 1: "", 128: "", 137: "SIGKILL", 143: "SIGTERM", 139: "SIGSEGV", 159: "SIGSYS", 162: "SIG34", 192: "SIG64", 193: "", 255: ""} {
		if got := SignalName(code); got != want {
			t.Errorf("SignalName(%d) = %q, want %q", code, got, want)
		}
	}
}
