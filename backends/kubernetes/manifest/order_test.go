package manifest

import (
	"fmt"
	"strings"
	"testing"

	"torchx/runtime/spec"
)

// ordered returns a role with the keys of its order.
func ordered(name string, keys map[string]any) spec.Role {
	return role(name, func(r *spec.Role) {
		r.NumReplicas = 2
		r.PortMap.Set("kv", 7000)
		r.Metadata = map[string]any{spec.OrderKey: keys}
	})
}

func on(roles ...string) map[string]any {
	d := map[string]any{}
	for i := 0; i < len(roles); i += 2 {
		d[roles[i]] = roles[i+1]
	}
	return map[string]any{"depends_on": d}
}

// TestOrder: JobSet starts each role after those for which it waits, which must come first.
func TestOrder(t *testing.T) {
	t.Parallel()
	store := ordered("store", map[string]any{"ready": map[string]any{"port": "kv", "path": "/up", "period": 2.5}})
	roles := []spec.Role{ordered("eval", on("train", "succeeded", "store", "ready")), ordered("train", on("store", "started")), store}
	for _, cfg := range []string{"", "gang=jobset"} {
		p, req := plan(t, input(t, cfg, roles...))
		set, ok := req.Objects[0].(*JobSet)
		if !ok {
			t.Fatalf("%q: got %T, want a JobSet", cfg, req.Objects[0])
		}
		var got []string
		for _, j := range set.Spec.ReplicatedJobs {
			got = append(got, fmt.Sprint(j.Name, j.DependsOn))
			probe := j.Template.Spec.Template.Spec.Containers[0].ReadinessProbe
			if j.Name != "store" && probe != nil || j.Name == "store" && (probe == nil || probe.HTTPGet.Port.IntValue() != 7000 || probe.HTTPGet.Path != "/up" || probe.PeriodSeconds != 3) {
				t.Errorf("%s: got probe %+v, want only that of store", j.Name, probe)
			}
		}
		if want := "store[] train[{store Ready}] eval[{store Ready} {train Complete}]"; strings.Join(got, " ") != want {
			t.Errorf("%q: got %s, want %s", cfg, got, want)
		}
		if text := strings.Join(p.Warnings, " "); strings.Contains(text, "depends_on") || strings.Contains(text, "ready") || !req.HasDependencies() {
			t.Errorf("%q: got warnings %q, want none about the order", cfg, text)
		}
	}
}

// TestRefusedOrder: what would start the roles together is refused in one line.
func TestRefusedOrder(t *testing.T) {
	t.Parallel()
	byLog := ordered("a", map[string]any{"ready": map[string]any{"log": "up"}})
	many := []spec.Role{ordered("z", on("a", "started", "b", "started", "c", "started", "d", "started", "e", "started", "f", "started"))}
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		many = append(many, role(name, nil))
	}
	for _, c := range []struct {
		cfg, want string
		roles     []spec.Role
	}{
		{"gang=volcano", "role b waits for role a to run, which gang=volcano cannot do: use -cfg gang=jobset", []spec.Role{role("a", nil), ordered("b", on("a", "started"))}},
		{"gang=job", "role b waits for role a to succeed, which gang=job cannot do", []spec.Role{role("a", nil), ordered("b", on("a", "succeeded"))}},
		{"", "role b waits for role a to be ready by a log line", []spec.Role{byLog, ordered("b", on("a", "ready"))}},
		{"", "role b waits for role a to be ready by a healthcheck of its image, which the kubernetes backend cannot do", []spec.Role{ordered("a", map[string]any{"ready": map[string]any{"healthcheck": true}}), ordered("b", on("a", "ready"))}},
		{"", "role z waits for 6 jobs, but JobSet can wait for 5 only", many},
	} {
		_, err := Planner{}.Plan(t.Context(), input(t, c.cfg, c.roles...))
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want %q", c.cfg, err, c.want)
		}
	}
	_, req := plan(t, input(t, "", role("a", nil), ordered("b", on("a", "started"))))
	p, _ := plan(t, input(t, "", role("a", nil), ordered("b", on("a", "started"))))
	if err := req.ResolveForm(p, []Form{FormVolcano, FormJob}); err == nil || !strings.Contains(err.Error(), "has no JobSet, which depends_on needs: install JobSet 0.8 or later") {
		t.Errorf("without JobSet: got %v, want what to install", err)
	}
}
