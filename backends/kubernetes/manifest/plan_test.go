package manifest

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"torchx/backends/kubernetes/kube"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// role returns a role with few fields set.
func role(name string, change func(*spec.Role)) spec.Role {
	r := spec.NewRole(name, "bb:1")
	r.Entrypoint = "true"
	r.Env.Set(spec.JobIDVariable, "kubernetes://torchx/${app_id}")
	if change != nil {
		change(&r)
	}
	return r
}

func replicas(n int) func(*spec.Role) { return func(r *spec.Role) { r.NumReplicas = n } }

// input plans roles as app a-x1 with the options of cfg, "" for none.
func input(t testing.TB, cfg string, roles ...spec.Role) backend.PlanInput {
	t.Helper()
	layer, err := backend.CfgLayer(cfg)
	if err != nil {
		t.Fatal(err)
	}
	resolved, unknown, err := backend.Resolve(Planner{}.Options(), layer)
	if err != nil || len(unknown) > 0 {
		t.Fatal(err, unknown)
	}
	return backend.PlanInput{ID: "a-x1", App: &spec.App{Name: "a", Roles: roles}, Cfg: resolved, Cwd: "/cwd"}
}

func plan(t testing.TB, in backend.PlanInput) (*backend.Plan, *Request) {
	t.Helper()
	p, err := Planner{Version: "1"}.Plan(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return p, p.Request.(*Request)
}

// pods returns the pod templates of all objects.
func pods(r *Request) (all []*Template) {
	for _, o := range r.Objects {
		for _, t := range PodSets(o) {
			all = append(all, t.Template)
		}
	}
	return all
}

func env(t *Template) map[string]string {
	all := map[string]string{}
	for _, e := range t.Spec.Containers[0].Env {
		all[e.Name] = e.Value
		if e.ValueFrom != nil {
			all[e.Name] = "field " + e.ValueFrom.FieldRef.FieldPath
		}
	}
	return all
}

// TestForms plans the same app in every form.
func TestForms(t *testing.T) {
	t.Parallel()
	roles := func() []spec.Role {
		return []spec.Role{role("w", func(r *spec.Role) {
			r.NumReplicas = 3
			r.Args = []string{"$HOME", "$$(x) ${replica_id} ${rank0_env}", "$$${replica_id}"}
			r.Env.Set("ID", "n${replica_id}")
		}), role("ps", nil)}
	}
	for f, want := range map[Form]struct {
		objects string
		id      string // of args[2] in the first template
		host    string // of rank 0, for role ps
	}{
		FormVolcano: {"Job a-x1", "$$(x) 0 " + spec.Rank0HostVariable, ""},
		FormJobSet:  {"JobSet a-x1", "$$(x) $(TORCHX_REPLICA_ID) " + spec.Rank0HostVariable, "a-x1-w-0-0.a-x1"},
		FormJob:     {"Job a-x1-w,Job a-x1-ps,Service a-x1", "$$(x) $(TORCHX_REPLICA_ID) " + spec.Rank0HostVariable, "a-x1-w-0.a-x1"},
	} {
		p, req := plan(t, input(t, "namespace=ns,priority_class=pc,service_account=sa,gang="+string(f), roles()...))
		var objects []string
		for _, o := range req.Objects {
			objects = append(objects, o.Type().Kind+" "+o.Meta().Name)
			if o.Meta().Namespace != "ns" || o.Meta().Labels[kube.LabelInstance] != "a-x1" {
				t.Errorf(`%s: metadata %v, want o.Meta().Namespace == "ns" and o.Meta().Labels[kube.LabelInstance] == "a-x1"`, f, o.Meta())
			}
		}
		if got := strings.Join(objects, ","); got != want.objects || p.ID != "ns:a-x1" {
			t.Errorf("%s: got objects %s of app %s, want %s", f, got, p.ID, want.objects)
		}
		all := pods(req)
		command := all[0].Spec.Containers[0].Command
		if command[1] != "$HOME" || command[2] != want.id {
			t.Errorf(`%s: command %q, want command[1] == "$HOME" and command[2] == want.id`, f, command)
		}
		first, last := env(all[0]), env(all[len(all)-1])
		if last[spec.Rank0HostVariable] != want.host {
			t.Errorf("%s: got rank 0 on host %q, want %q", f, last[spec.Rank0HostVariable], want.host)
		}
		for _, e := range []map[string]string{first, last} {
			if e[spec.JobIDVariable] != "kubernetes://torchx/ns:a-x1" {
				t.Errorf("%s: got job ID %s, want a handle", f, e[spec.JobIDVariable])
			}
		}
		if f != FormVolcano {
			if got := all[0].Spec.Containers[0].Env[0].Name; got != indexVariable {
				t.Errorf("%s: got first variable %s, want %s", f, got, indexVariable)
			}
			if command[3] != "$$$(TORCHX_REPLICA_ID)" || first["ID"] != "n$(TORCHX_REPLICA_ID)" || first[spec.Rank0HostVariable] != want.host {
				t.Errorf(`%s: command %q, env %v, want command[3] == "$$$(TORCHX_REPLICA_ID)" and first["ID"] == "n$(TORCHX_REPLICA_ID)" and first[spec.Rank0HostVariable] == want.host`, f, command, first)
			}
		}
		if all[0].Spec.ServiceAccountName != "sa" || (all[0].Spec.PriorityClassName == "pc") != (f != FormVolcano) {
			t.Errorf(`%s: service account %s, priority class %s, want all[0].Spec.ServiceAccountName == "sa" and (all[0].Spec.PriorityClassName == "pc") == (f != FormVolcano)`, f, all[0].Spec.ServiceAccountName, all[0].Spec.PriorityClassName)
		}
	}
}

// TestLiteral: the kubelet turns the result of literal back into the text.
func TestLiteral(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "a", "$", "$$", "$$$", "$HOME", "$(A)", "$$(A)", "$$$(A)", "$(", "a$", "$(A)$(B)", "$" + index, "$$" + index, index + "$", index} {
		want := strings.ReplaceAll(text, index, "7")
		if got := kubelet(literal(text), map[string]string{"A": "wrong", "B": "wrong", indexVariable: "7"}); got != want {
			t.Errorf("literal(%q) = %q: the kubelet expands it to %q, want %q", text, literal(text), got, want)
		}
	}
}

// kubelet expands text as k8s.io/kubernetes/third_party/forked/golang/expansion does.
func kubelet(text string, vars map[string]string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '$' || i+1 == len(text) {
			b.WriteByte(text[i])
			continue
		}
		i++
		end := strings.IndexByte(text[i:], ')')
		switch {
		case text[i] == '$':
			b.WriteByte('$')
		case text[i] == '(' && end > 0:
			if v, ok := vars[text[i+1:i+end]]; ok {
				b.WriteString(v)
			} else {
				b.WriteString("$" + text[i:i+end+1])
			}
			i += end
		default:
			b.WriteString("$" + text[i:i+1])
		}
	}
	return b.String()
}

func TestNames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("l", 70)
	for _, test := range []struct {
		id    string
		roles []string
		size  int
	}{
		{"a-x1", []string{"w"}, 1},
		{"9a-x1", []string{"9w", "_", "ü"}, 2},
		{"", []string{"-"}, 1},
		{long + "-x1", []string{"w"}, 1},
		{"a-x1", []string{long + "1", long + "2"}, 1000},
		{long + "-x1", []string{long + "1", long + "2", "W-", "w", "W.", "w-0"}, 100000},
	} {
		app := &spec.App{}
		for _, r := range test.roles {
			app.Roles = append(app.Roles, role(r, replicas(test.size)))
		}
		n := newNames(test.id, app)
		if problems := validation.IsDNS1035Label(n.app); len(problems) > 0 {
			t.Errorf("got %q: %q: %s, want len(problems) == 0", test.id, n.app, problems[0])
		}
		seen := map[string]bool{}
		for i := range test.roles {
			last := n.replica(i, test.size-1)
			for _, name := range []string{
				fmt.Sprintf("%s-%s-0", n.app, last), // volcano
				fmt.Sprintf("%s-%s-0-%d-abcde", n.app, n.roles[i], test.size-1),
			} {
				if problems := validation.IsDNS1123Label(name); len(problems) > 0 {
					t.Errorf("got %q: %q: %s, want len(problems) == 0", test.id, name, problems[0])
				}
			}
			if seen[n.roles[i]] {
				t.Errorf("%q: got name %s for two roles", test.id, n.roles[i])
			}
			seen[n.roles[i]] = true
		}
	}
	if a, b := newNames(long+"1", &spec.App{}), newNames(long+"2", &spec.App{}); a.app == b.app {
		t.Errorf("got name %s for two apps", a.app)
	}
	taken := map[string]bool{}
	for _, name := range []string{"http", "HTTP", "8080", "a--b", long, long + "2", "_"} {
		if got := portName(name, taken); len(validation.IsValidPortName(got)) > 0 {
			t.Errorf("port %s: %q, want len(validation.IsValidPortName(got)) == 0", name, got)
		}
	}
	if len(taken) != 7 {
		t.Errorf("ports %v, want len(taken) == 7", taken)
	}
	for _, text := range []string{"", "-_9app", long, "Role A", "ü", strings.Repeat("-", 70) + "a"} {
		if got := kube.LabelValue(text); len(validation.IsValidLabelValue(got)) > 0 {
			t.Errorf("label %q: %q, want len(validation.IsValidLabelValue(got)) == 0", text, got)
		}
	}
}

func TestRetries(t *testing.T) {
	t.Parallel()
	retry := func(policy spec.RetryPolicy, n, size int) func(*spec.Role) {
		return func(r *spec.Role) { r.RetryPolicy, r.MaxRetries, r.NumReplicas = policy, n, size }
	}
	roles := []spec.Role{role("a", retry(spec.RetryApplication, 3, 2)), role("b", retry(spec.RetryReplica, 2, 2)), role("c", replicas(2))}
	_, req := plan(t, input(t, "gang=jobset", roles...))
	set := req.Objects[0].(*JobSet).Spec
	if set.FailurePolicy.MaxRestarts != 3 || !slices.Equal(set.FailurePolicy.Rules[1].TargetReplicatedJobs, []string{"b", "c"}) {
		t.Errorf(`failure policy %+v, want set.FailurePolicy.MaxRestarts == 3 and slices.Equal(set.FailurePolicy.Rules[1].TargetReplicatedJobs, []string{"b", "c"})`, set.FailurePolicy)
	}
	if s := set.ReplicatedJobs[1].Template.Spec; ptr.Deref(s.BackoffLimitPerIndex, 0) != 2 || ptr.Deref(s.MaxFailedIndexes, 0) != 0 || s.BackoffLimit != nil {
		t.Errorf("role b %s, want ptr.Deref(s.BackoffLimitPerIndex, 0) == 2 and ptr.Deref(s.MaxFailedIndexes, 0) == 0 and s.BackoffLimit == nil", asJSON2(t, s))
	}
	if s := set.ReplicatedJobs[2].Template.Spec; s.BackoffLimit == nil || *s.BackoffLimit != 0 || s.BackoffLimitPerIndex != nil {
		t.Errorf("role c %s, want s.BackoffLimit != nil and *s.BackoffLimit == 0 and s.BackoffLimitPerIndex == nil", asJSON2(t, s))
	}
	for _, test := range []struct {
		cfg   string
		roles []spec.Role
		want  string // in the warnings
	}{
		{"gang=volcano", roles, "gang=volcano does not support these retry policies and ignores them: role b (REPLICA): use -cfg gang=jobset"},
		{"gang=job", roles, "role a (APPLICATION): use -cfg gang=jobset"},
		{"gang=jobset", roles, ""},
		{"gang=volcano", []spec.Role{role("a", retry(spec.RetryRole, 1, 2)), role("b", nil)}, "role a (ROLE): no other gang can retry them"},
		{"gang=volcano", []spec.Role{role("a", retry(spec.RetryRole, 1, 2))}, ""},
		{"gang=job", []spec.Role{role("a", retry(spec.RetryApplication, 1, 1))}, ""},
		{"gang=job", []spec.Role{role("a", retry(spec.RetryRole, 1, 1)), role("b", nil)}, ""},
	} {
		p, _ := plan(t, input(t, test.cfg, test.roles...))
		if text := strings.Join(p.Warnings, "\n"); test.want == "" && strings.Contains(text, "retry") || !strings.Contains(text, test.want) {
			t.Errorf("%s: warnings %q, want %q", test.cfg, text, test.want)
		}
	}
	o := Options{gang: FormAuto}
	app := &spec.App{Roles: roles}
	for want, installed := range map[Form][]Form{FormVolcano: nil, FormJobSet: {FormVolcano, FormJobSet}, FormJob: {}} {
		if got := choose(app, o, installed); got != want {
			t.Errorf("got %s for gang=auto with %v installed, want %s", got, installed, want)
		}
	}
	o.kueueQueue = "q"
	if got := choose(app, o, nil); got != FormJobSet {
		t.Errorf("got %s for gang=auto with Kueue, want %s", got, FormJobSet)
	}
}

func asJSON2(t *testing.T, v any) string { return string(asJSON(t, v)) }

func TestElastic(t *testing.T) {
	t.Parallel()
	two := 2
	r := role("w", func(r *spec.Role) { r.NumReplicas, r.MinReplicas = 5, &two })
	_, req := plan(t, input(t, "gang=job", r))
	if s := req.Objects[0].(*Job).Spec; ptr.Deref(s.BackoffLimitPerIndex, 0) != 0 || ptr.Deref(s.MaxFailedIndexes, 0) != 3 {
		t.Errorf("job %s, want ptr.Deref(s.BackoffLimitPerIndex, 0) == 0 and ptr.Deref(s.MaxFailedIndexes, 0) == 3", asJSON2(t, s))
	}
	_, req = plan(t, input(t, "gang=job,fail_fast=false", r))
	if s := req.Objects[0].(*Job).Spec; s.BackoffLimitPerIndex == nil || s.MaxFailedIndexes != nil {
		t.Errorf("job %s, want s.BackoffLimitPerIndex != nil and s.MaxFailedIndexes == nil", asJSON2(t, s))
	}
}

func TestOptionsInPlan(t *testing.T) {
	t.Parallel()
	r := role("w", func(r *spec.Role) {
		r.Mounts = []spec.Mount{{Type: spec.MountDevice, Src: "/dev/null", Dst: "/dev/x", Permissions: "r"}}
		r.Env.Set("IP", "[FIELD_PATH]status.podIP")
		r.NumReplicas = 2
		r.Resource.Capabilities["strange"] = 1
		r.Metadata[spec.OrderKey] = map[string]any{"ready": map[string]any{"log": "x"}}
	})
	p, req := plan(t, input(t, "gang=job,node_selector=disk:ssd,tolerations='a=b:NoSchedule;c',image_pull_secrets=s1;s2,image_pull_policy=Never,"+
		"host_network=true,ttl_seconds=60,labels=team:x,annotations=note:y,kueue_queue=kq", r))
	pod, c := pods(req)[0], pods(req)[0].Spec.Containers[0]
	for what, ok := range map[string]bool{
		"selector":    pod.Spec.NodeSelector["disk"] == "ssd",
		"tolerations": slices.Equal(pod.Spec.Tolerations, []corev1.Toleration{{Key: "a", Operator: "Equal", Value: "b", Effect: "NoSchedule"}, {Key: "c", Operator: "Exists"}}),
		"secrets":     len(pod.Spec.ImagePullSecrets) == 2 && pod.Spec.ImagePullSecrets[1].Name == "s2",
		"pull policy": c.ImagePullPolicy == "Never",
		"network":     pod.Spec.HostNetwork && pod.Spec.DNSPolicy == "ClusterFirstWithHostNet",
		"ttl":         ptr.Deref(req.Objects[0].(*Job).Spec.TTLSecondsAfterFinished, 0) == 60,
		"labels":      pod.Labels["team"] == "x" && req.Objects[1].Meta().Labels["team"] == "x",
		"annotations": pod.Annotations["note"] == "y" && req.Objects[0].Meta().Annotations["note"] == "y",
		"kueue":       req.Objects[0].Meta().Labels[kube.LabelKueue] == "kq" && req.Objects[1].Meta().Labels[kube.LabelKueue] == "",
		"privileged":  *c.SecurityContext.Privileged && c.VolumeMounts[1].ReadOnly,
		"field":       env(pod)["IP"] == "field status.podIP",
		"service":     req.Objects[1].(*Service).Spec.ClusterIP == "None",
	} {
		if !ok {
			t.Errorf("got a request without the %s of the options: %s", what, asJSON(t, req))
		}
	}
	text := strings.Join(p.Warnings, "\n")
	for _, want := range []string{"ignores: capability strange, ready", "makes its container privileged", "takes the host: hostNetwork, privileged", "gang=job does not start all replicas together"} {
		if strings.Count(text, want) != 1 {
			t.Errorf("warnings %q, want %q once", text, want)
		}
	}
}

func TestBadInput(t *testing.T) {
	t.Parallel()
	for _, cfg := range []string{
		"namespace=A", "reserved_memmb=-1", "efa_device_count=-1", "ttl_seconds=-1", "gang=volcano,kueue_queue=q",
		"labels=a b:c", "node_selector=a:b c", "annotations=a b:c", "tolerations=a:Never", "tolerations=:NoExecute",
	} {
		_, err := Planner{}.Plan(t.Context(), input(t, cfg, role("w", nil)))
		if !errors.Is(err, backend.ErrInvalidOption) || strings.Contains(err.Error(), "\n") {
			t.Errorf(`%s: got %v, want errors.Is(err, backend.ErrInvalidOption) and !Contains(err.Error(), "\n")`, cfg, err)
		}
	}
	for want, change := range map[string]func(*spec.Role){
		"from 1 to 65535":                func(r *spec.Role) { r.PortMap.Set("p", 70000) },
		"must be absolute":               func(r *spec.Role) { r.Mounts = []spec.Mount{{Type: spec.MountBind, Src: "x", Dst: "/x"}} },
		"set -cfg image_repo=REPOSITORY": func(r *spec.Role) { r.Image = "sha256:abc" },
	} {
		_, err := Planner{}.Plan(t.Context(), input(t, "", role("w", change)))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

func TestImages(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.py"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	in := input(t, "image_repo=reg:5000/x", role("w", nil), role("v", func(r *spec.Role) { r.Image = "sha256:abc" }))
	in.Workspace, in.WorkspaceWhy = dir, "because"
	p, req := plan(t, in)
	images := []string{pods(req)[0].Spec.Containers[0].Image, pods(req)[1].Spec.Containers[0].Image}
	if images[1] != "reg:5000/x:abc" || len(req.ImagesToPush) != 2 || req.ImagesToPush["sha256:abc"] != (PushedImage{"reg:5000/x", "abc"}) {
		t.Errorf(`images %q, push %v, want images[1] == "reg:5000/x:abc" and len(req.ImagesToPush) == 2 and req.ImagesToPush["sha256:abc"] == (PushedImage{"reg:5000/x", "abc"})`, images, req.ImagesToPush)
	}
	for local, to := range req.ImagesToPush {
		if local != "sha256:abc" && (to.String() != images[0] || !strings.HasSuffix(local, to[1])) {
			t.Errorf("image %s is pushed to %s, want %s", local, to, images[0])
		}
	}
	if env(pods(req)[0])[imageVariable] != images[0] || p.App.Roles[0].Workspace.Projects[0].Key != dir || in.App.Roles[0].Workspace != nil {
		t.Errorf("app %s, given %s, want env(pods(req)[0])[imageVariable] == images[0] and p.App.Roles[0].Workspace.Projects[0].Key == dir and in.App.Roles[0].Workspace == nil", asJSON(t, p.App), asJSON(t, in.App))
	}
	in = input(t, "", role("w", nil))
	in.Workspace, in.WorkspaceWhy = dir, "because"
	p, req = plan(t, in)
	if text := strings.Join(p.Notes, "\n"); strings.Count(text, "the workspace is ignored") != 1 || len(req.ImagesToPush) != 0 || p.App.Roles[0].Workspace != nil {
		t.Errorf(`notes %q, push %v, want Count(text, "the workspace is ignored") == 1 and len(req.ImagesToPush) == 0 and p.App.Roles[0].Workspace == nil`, p.Notes, req.ImagesToPush)
	}
}

// BenchmarkPlan plans 1,000 replicas, in overlay/job with a Job for each.
func BenchmarkPlan(b *testing.B) {
	for _, name := range []string{"volcano", "jobset", "job", "overlay/volcano", "overlay/job"} {
		b.Run(name, func(b *testing.B) {
			in := input(b, "gang="+filepath.Base(name), role("w", func(r *spec.Role) {
				r.NumReplicas = 1000
				if filepath.Dir(name) == "overlay" {
					r.Metadata = marked(map[string]any{"spec": map[string]any{"nodeName": "n${replica_id}"}})
				}
				r.Args = []string{"-c", "echo ${app_id} ${replica_id}"}
				r.Env.Set("ID", "${replica_id}")
			}))
			for b.Loop() {
				plan(b, in)
			}
		})
	}
}

// TestSidecarIsRefused: an app with a sidecar would never end on a cluster.
func TestSidecarIsRefused(t *testing.T) {
	t.Parallel()
	store := role("store", func(r *spec.Role) {
		r.Metadata = map[string]any{spec.OrderKey: map[string]any{"sidecar": true}}
	})
	for _, form := range Forms {
		in := input(t, "gang="+string(form), role("train", nil), store)
		_, err := Planner{}.Plan(t.Context(), in)
		if want := "role store is a sidecar, which the kubernetes backend cannot stop"; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an error with %q", form, err, want)
		}
	}
}

// TestMaxParallel is the parallelism of a Job; a Volcano Job cannot have it, and says so.
func TestMaxParallel(t *testing.T) {
	t.Parallel()
	train := role("train", func(r *spec.Role) {
		r.NumReplicas, r.Metadata = 10, map[string]any{spec.OrderKey: map[string]any{"max_parallel": 4}}
	})
	for _, form := range Forms {
		p, err := Planner{}.Plan(t.Context(), input(t, "gang="+string(form), train))
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(p.Request)
		isLimited := strings.Contains(string(text), `"completions":10`) && strings.Contains(string(text), `"parallelism":4`)
		isSaid := strings.Contains(strings.Join(p.Warnings, "\n"), "ignores its max_parallel")
		if err != nil || isLimited == (form == FormVolcano) || isSaid != (form == FormVolcano) {
			t.Errorf("%s: limited %v, said %v (%v), want a limit, or a warning for Volcano", form, isLimited, isSaid, err)
		}
	}
}
