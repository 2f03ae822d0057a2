package observe

import "testing"

// TestStoppedByControllers: controllers that may still create pods have not seen a stop.
func TestStoppedByControllers(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"volcano_running": false, "job_running": false, "jobset_running": false,
		"volcano_cancelled": true, "job_cancelled": true, "jobset_cancelled": true,
		"volcano_ok": true, "job_ok": true, "jobset_ok": true,
		"volcano_exit3": true, "job_exit3": true, "jobset_exit3": true,
	} {
		if got := recorded(t, name).Stopped(); got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	s := recorded(t, "volcano_running")
	for phase, want := range map[string]bool{"": false, "Pending": false, "Restarting": false, "Aborting": true, "Terminating": true, "Failed": true} {
		s.Volcano.Status.State.Phase = phase
		if got := s.Stopped(); got != want {
			t.Errorf("phase %q: got %v, want %v", phase, got, want)
		}
	}
}
