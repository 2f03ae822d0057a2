package manifest

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// TestErrorFiles: in every form the error file of a program is the file that the kubelet
// reads, unless the user chose another one or the program is torchrun.
func TestErrorFiles(t *testing.T) {
	t.Parallel()
	own := spec.NewRole("own", "i")
	own.Entrypoint, own.Env = "x", spec.Map[string]{{Key: spec.ErrorFileVariable, Value: "/nfs/e.json"}}
	plain := spec.NewRole("plain", "i")
	plain.Entrypoint, plain.NumReplicas = "x", 2
	elastic := spec.NewRole("elastic", "i")
	elastic.Entrypoint, elastic.Args = "bash", []string{"-c", "torchrun --nnodes 2 train.py"}
	want := map[string]string{"own": "/nfs/e.json", "plain": "/dev/termination-log", "elastic": ""}
	for _, gang := range Forms {
		cfg, _, err := backend.Resolve(Planner{}.Options(), backend.DefaultsLayer(map[string]string{"gang": string(gang)}, "test"))
		if err != nil {
			t.Fatal(err)
		}
		app := &spec.App{Name: "app", Roles: []spec.Role{own, plain, elastic}}
		plan, err := Planner{}.Plan(t.Context(), backend.PlanInput{ID: "app-1", App: app, Cfg: cfg, DefaultImage: "i"})
		if err != nil {
			t.Fatal(err)
		}
		req := plan.Request.(*Request)
		for range 2 { // a second time changes nothing
			req.AddErrorFiles()
		}
		for _, o := range req.Objects {
			for _, pods := range PodSets(o) {
				c := pods.Spec.Containers[0]
				role := pods.Labels["torchx.pytorch.org/role-name"]
				var files []string
				for _, e := range c.Env {
					if e.Name == spec.ErrorFileVariable {
						files = append(files, e.Value)
					}
				}
				if want[role] != "" && (len(files) != 1 || files[0] != want[role]) || want[role] == "" && files != nil {
					t.Errorf("%s: got error files %[3]q of role %[2]s, want %[4]q", gang, role, files, want[role])
				}
				if logs := c.TerminationMessagePolicy == corev1.TerminationMessageFallbackToLogsOnError; logs != (role == "elastic") {
					t.Errorf("%s: got termination message policy %q of role %s, want the logs only for elastic", gang, c.TerminationMessagePolicy, role)
				}
			}
		}
	}
}
