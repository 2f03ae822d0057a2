package manifest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"torchx/runtime/spec"
)

// deadlinesText returns the deadlines of a request: "pod 60, job 3600, fails".
func deadlinesText(r *Request) string {
	var parts []string
	for _, p := range r.PodSets() {
		if p.Spec.ActiveDeadlineSeconds != nil {
			parts = append(parts, fmt.Sprintf("pod %d", *p.Spec.ActiveDeadlineSeconds))
		}
	}
	switch o := r.Objects[0].(type) {
	case *Job:
		if o.Spec.ActiveDeadlineSeconds != nil {
			parts = append(parts, fmt.Sprintf("job %d", *o.Spec.ActiveDeadlineSeconds))
		}
	case *JobSet:
		for _, j := range o.Spec.ReplicatedJobs {
			if j.Template.Spec.ActiveDeadlineSeconds != nil {
				parts = append(parts, fmt.Sprintf("job %d", *j.Template.Spec.ActiveDeadlineSeconds))
			}
		}
		if p := o.Spec.FailurePolicy; p != nil && len(p.Rules) > 0 && p.Rules[0].Name == failOnDeadline.Name {
			parts = append(parts, "fails")
		}
	}
	return strings.Join(parts, ", ")
}

func TestDeadlines(t *testing.T) {
	t.Parallel()
	own := func(retries int, metadata map[string]any) func(*spec.Role) {
		return func(r *spec.Role) {
			r.MaxRetries = retries
			if metadata != nil {
				r.Metadata = map[string]any{spec.OrderKey: metadata}
			}
		}
	}
	limit, again := map[string]any{"timeout": 59.5}, map[string]any{"timeout": "1m", "retry_on_timeout": true}
	for _, test := range []struct {
		name string
		app  time.Duration
		role func(*spec.Role)
		want map[Form]string
		warn []Form
	}{
		{"none", 0, own(1, nil), map[Form]string{FormVolcano: "", FormJobSet: "", FormJob: ""}, nil},
		{"app", 2 * time.Hour, own(0, nil), map[Form]string{FormVolcano: "pod 7200", FormJobSet: "pod 7200", FormJob: "pod 7200"}, nil},
		{"role", 0, own(0, limit), map[Form]string{FormVolcano: "pod 60", FormJobSet: "pod 60", FormJob: "pod 60"}, nil},
		{"both", time.Hour, own(0, limit), map[Form]string{FormVolcano: "pod 60", FormJobSet: "pod 60", FormJob: "pod 60"}, nil},
		{"app, retried", time.Hour, own(3, nil), map[Form]string{FormVolcano: "pod 3600", FormJobSet: "job 3600, fails", FormJob: "job 3600"}, []Form{FormVolcano}},
		{"role, retried", 0, own(3, limit), map[Form]string{FormVolcano: "pod 60", FormJobSet: "job 60, fails", FormJob: "pod 60"}, []Form{FormVolcano, FormJob}},
		{"role, retried on request", 0, own(3, again), map[Form]string{FormVolcano: "pod 60", FormJobSet: "pod 60", FormJob: "pod 60"}, nil},
		{"both, retried on request", time.Hour, own(3, again), map[Form]string{FormVolcano: "pod 60", FormJobSet: "pod 60, job 3600, fails", FormJob: "pod 60, job 3600"}, []Form{FormVolcano}},
	} {
		for form, want := range test.want {
			in := input(t, "gang="+string(form), role("r", test.role))
			if test.app > 0 {
				in.App.SetTimeout(test.app)
			}
			p, r := plan(t, in)
			if got := deadlinesText(r); got != want {
				t.Errorf("%s, %s: got %q, want %q", test.name, form, got, want)
			}
			warned := strings.Contains(strings.Join(p.Warnings, "\n"), "after its time limit")
			wantWarning := strings.Contains(fmt.Sprint(test.warn), string(form)+" ") || strings.HasSuffix(fmt.Sprint(test.warn), string(form)+"]")
			if warned != wantWarning {
				t.Errorf("%s, %s: got warnings %q, want one: %v", test.name, form, p.Warnings, wantWarning)
			}
		}
	}
}

// submit --timeout changes the deadlines of a saved plan; without it they stay as edited.
func TestLoadDeadlines(t *testing.T) {
	t.Parallel()
	for _, form := range Forms {
		in := input(t, "gang="+string(form), role("r", func(r *spec.Role) { r.MaxRetries = 1 }))
		in.App.SetTimeout(time.Hour)
		_, planned := plan(t, in)
		raw, err := json.Marshal(planned)
		if err != nil {
			t.Fatal(err)
		}
		in.App.SetTimeout(2 * time.Hour)
		for _, changed := range []bool{false, true} {
			in.NewTimeout = changed
			p, err := Planner{}.Load(t.Context(), in, raw)
			if err != nil {
				t.Fatal(err)
			}
			want := deadlinesText(planned)
			if changed {
				want = strings.ReplaceAll(want, "3600", "7200")
			}
			if got := deadlinesText(p.Request.(*Request)); got != want {
				t.Errorf("%s, changed %v: got %q, want %q", form, changed, got, want)
			}
		}
	}
}
