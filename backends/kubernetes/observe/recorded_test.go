package observe

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"torchx/runtime/spec"
)

var update = flag.Bool("update", false, "write the status texts of the recordings")

// TestRecorded: the status of apps recorded on a real cluster (Kubernetes 1.34, Volcano 1.10,
// JobSet 0.10). FORM_CASE.json is the recording, FORM_CASE.txt the expected status.
func TestRecorded(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*_*.json")
	if err != nil || len(files) < 20 {
		t.Fatalf("got %d recordings (%v), want no error and len(files) >= 20", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := filepath.Join("testdata", name+".txt")
			got := describe(recorded(t, name))
			if *update {
				if err := os.WriteFile(want, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			data, err := os.ReadFile(want)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(data) {
				t.Errorf("got\n%swant\n%s", got, data)
			}
		})
	}
}

func recorded(t *testing.T, name string) *Observation {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	s := &Observation{}
	if err := json.Unmarshal(data, s); err != nil {
		t.Fatal(err)
	}
	return s
}

// describe returns the status of an app as text, without times, which it checks.
func describe(seen *Observation) string {
	var b strings.Builder
	s := seen.Status()
	fmt.Fprintf(&b, "%v (alone %v)%s\n", s.State, seen.State(), code(s.ExitCode))
	line := func(format string, args ...any) {
		if text := strings.TrimSpace(fmt.Sprintf(format, args...)); text != "" {
			fmt.Fprintf(&b, "%s\n", text)
		}
	}
	line("%s", s.Msg)
	if s.NumRestarts > 0 {
		line("%d restarts", s.NumRestarts)
	}
	if seen.Unclear() {
		line("events are needed")
	}
	if s.StructuredErrorMsg != nil {
		line("error file %s", s.StructuredErrorMsg)
	}
	if f := s.FirstFailure; f != nil {
		line("first %s/%d", f.Role, f.ID)
	}
	for _, r := range s.Roles {
		for i := range r.Replicas {
			line("%s", describeReplica(&r.Replicas[i]))
		}
	}
	for i := range s.Past {
		line("before: %s", describeReplica(&s.Past[i]))
	}
	for _, r := range s.Restarts {
		line("%s", r)
	}
	if (s.FinishedAt != nil) != s.State.Terminal() || s.SubmittedAt == nil {
		line("WRONG: times of the app: %v, %v, %v", s.SubmittedAt, s.StartedAt, s.FinishedAt)
	}
	return b.String()
}

func describeReplica(r *spec.ReplicaStatus) string {
	text := fmt.Sprintf("%s/%d.%d %v%s", r.Role, r.ID, r.Attempt, r.State, code(r.ExitCode))
	if r.Signal != "" {
		text += " " + r.Signal
	}
	if r.Msg != "" {
		text += ": " + r.Msg
	}
	if r.FinishedAt != nil && r.StartedAt != nil && r.FinishedAt.Before(*r.StartedAt) || r.State == spec.Running && (r.StartedAt == nil || r.FinishedAt != nil) {
		text += fmt.Sprintf(" WRONG: times %v, %v", r.StartedAt, r.FinishedAt)
	}
	return text
}

func code(n *int) string {
	if n == nil {
		return ""
	}
	return fmt.Sprintf(" %d", *n)
}
