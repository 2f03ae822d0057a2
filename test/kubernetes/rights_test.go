//go:build unix

package kubernetes

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"torchx/runtime/spec"
)

// as returns the home with the commands of another user, who begins without rights.
func (h *home) as() *home {
	h.Helper()
	user := *h
	user.env = append(append([]string{}, h.env...), "KUBECONFIG="+h.cluster.Account(h.T, h.namespace))
	return &user
}

// jobsOnly are the rules of a user who may submit Jobs and see nothing else.
const jobsOnly = `{apiGroups: [batch], resources: [jobs], verbs: [get, list, watch, create, patch, delete]},
{apiGroups: [""], resources: [services], verbs: [create, patch]}`

// TestRights: users with the rights that clusters usually give can use their apps, from the
// submission to the removal.
func TestRights(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cfg, rules   string
		clusterRoles []string
		hidden       bool // they may not see pods
	}{
		"admin of a namespace": {cfg: "gang=job", clusterRoles: []string{"admin"}},
		"jobs only":            {cfg: "gang=job", rules: jobsOnly, hidden: true},
		"user of Kueue":        {cfg: "gang=job," + kueued, clusterRoles: []string{"kueue-batch-user-role", "edit"}},
		"only user of Kueue":   {cfg: "gang=jobset," + kueued, clusterRoles: []string{"kueue-batch-user-role"}, hidden: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			user := h.as()
			if c.rules != "" {
				h.cluster.Create(t, h.namespace, "{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: user}, rules: ["+c.rules+"]}")
				h.cluster.Bind(t, h.namespace, "Role", "user")
			}
			for _, role := range c.clusterRoles {
				h.cluster.Bind(t, h.namespace, "ClusterRole", role)
			}
			user.live(h, c.cfg, c.hidden)
		})
	}
}

// TestDoctorRole: the roles that doctor prints suffice for everything, and then satisfy doctor.
func TestDoctorRole(t *testing.T) {
	t.Parallel()
	for _, cfg := range []string{"gang=volcano", "gang=job", "gang=jobset", "gang=job," + kueued, "gang=jobset," + kueued} {
		t.Run(cfg, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			user := h.as()
			roles := user.rights(cfg)
			if roles == "" {
				t.Fatal("got no role for a user without rights")
			}
			for doc := range strings.SplitSeq(roles, "---\n") {
				// The test's ClusterRole has a name of its own: other tests create one, too.
				if strings.Contains(doc, "kind: ClusterRole") {
					h.cluster.Create(t, "", strings.Replace(doc, "name: torchx", "name: "+h.namespace, 1))
					h.cluster.BindEverywhere(t, h.namespace, h.namespace)
					continue
				}
				h.cluster.Create(t, h.namespace, doc)
				h.cluster.Bind(t, h.namespace, "Role", "torchx")
			}
			h.eventually("that the API server knows all rights", func() bool { return user.rights(cfg) == "" })
			user.live(h, cfg, false)
		})
	}
}

// TestStopRights: a user who may not stop an app gets the missing right, and the app goes on. The
// right to delete it suffices for delete -f.
func TestStopRights(t *testing.T) {
	t.Parallel()
	for gang, c := range map[string]struct{ rules, missing string }{
		"volcano": {`{apiGroups: [batch.volcano.sh], resources: [jobs], verbs: ["*"]}`, "may not create commands.bus.volcano.sh"},
		"job":     {`{apiGroups: [batch], resources: [jobs], verbs: [get, list, create, delete]}, {apiGroups: [""], resources: [services], verbs: [create, patch]}`, "may not patch jobs.batch"},
	} {
		t.Run(gang, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			user := *h
			user.env = append(append([]string{}, h.env...), "KUBECONFIG="+h.cluster.User(t, h.namespace, c.rules+`, {apiGroups: [""], resources: [pods], verbs: [get, list]}`))
			handle := user.start("gang="+gang+",reserved_millicpu=1000", "--script", "trap exit TERM; sleep 1000 & wait")
			user.eventually("the app runs", func() bool { return user.status(handle).State == spec.Running })
			if r := user.torchx("log", handle); r.code != 1 || !strings.Contains(r.stderr, "may not get pods/log") || strings.Contains(r.stderr, `\n`) {
				t.Errorf("log: got %+v, want the missing right in one line", r)
			}
			if r := user.torchx("cancel", handle); r.code != 1 || !strings.Contains(r.stderr, c.missing) || !strings.Contains(r.stderr, "torchx delete -f "+handle) {
				t.Errorf("cancel: got %+v, want %q", r, c.missing)
			}
			if s := h.status(handle); s.State != spec.Running || s.Msg != "" {
				t.Errorf("got %s: %s, want RUNNING as before", s.State, s.Msg)
			}
			if r := user.torchx("delete", "-f", handle); r.code != 0 || len(h.objects(gang)) != 0 || len(h.cluster.Pods(t, h.namespace, "")) != 0 {
				t.Errorf("delete: got %+v, want nothing left", r)
			}
		})
	}
}

// rights returns the roles that doctor prints, "" if the user has all rights.
func (h *home) rights(cfg string) string {
	h.Helper()
	r := h.torchx("doctor", "-b", "kubernetes", "-cfg", "namespace="+h.namespace+","+cfg, "--json")
	var sections []struct {
		Checks []struct{ Name, Level, Message, Manifest string }
	}
	if err := json.Unmarshal([]byte(r.stdout), &sections); err != nil {
		h.Fatalf("doctor: %v %+v", err, r)
	}
	for _, s := range sections {
		for _, c := range s.Checks {
			if c.Name == "rights" {
				if (c.Level == "ok") != (c.Manifest == "") {
					h.Errorf("got %+v, want a manifest only with missing rights", c)
				}
				return c.Manifest
			}
		}
	}
	h.Fatalf("got %+v, want a check of rights", r)
	return ""
}

// live runs each command on apps of a user.
func (h *home) live(admin *home, cfg string, hidden bool) {
	h.Helper()
	want := func(ok bool, what string, r result) {
		h.Helper()
		if !ok {
			h.Errorf("%s: got code %d and\n%s%s", what, r.code, r.stdout, r.stderr)
		}
	}
	if strings.Contains(cfg, "kueue") {
		admin.queueOf("300m") // enough for one app
		// With a queue of this name, Kueue lets no job leave its queue for none.
		admin.cluster.Create(h.T, h.namespace, "{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: default}, spec: {clusterQueue: "+h.namespace+"}}")
	} else {
		cfg += ",reserved_millicpu=900"
	}
	args := []string{"--num_replicas", "2", "--cpu", "1", "--script", "trap 'exit 143' TERM; echo begins; sleep 1000 & wait"}
	handle := h.start(cfg, args...)
	h.eventually("the app runs", func() bool { return h.status(handle).State == spec.Running })
	r := h.torchx("list", "-b", "kubernetes", "-cfg", "namespace="+h.namespace)
	want(r.code == 0 && strings.Contains(r.stdout, handle) && strings.Count(r.stderr, "\n") <= 2, "list", r)
	if hidden {
		r = h.torchx("log", handle)
		want(r.code == 1 && strings.Contains(r.stderr, "may not list pods"), "log", r)
	} else {
		h.eventually("each replica's line", func() bool { return strings.Count(h.torchx("log", handle).stdout, "begins") == 2 })
	}
	h.inspect(handle, hidden, want)
	if strings.Contains(cfg, "kueue") {
		waiting := h.start(cfg, args...)
		r = h.torchx("cancel", "--wait", waiting)
		want(r.code == 0 && h.status(waiting).State == spec.Cancelled, "cancel of an app in the queue", r)
		r = h.torchx("delete", waiting)
		want(r.code == 0, "delete of an app in the queue", r)
	}
	r = h.torchx("wait", "--timeout", "1", handle)
	want(r.code == 124, "wait", r)
	r = h.torchx("cancel", "--wait", handle)
	want(r.code == 0, "cancel", r)
	if s := h.status(handle); s.State != spec.Cancelled {
		h.Errorf("got %s: %s, want CANCELLED", s.State, s.Msg)
	}
	// Under Kueue, there is room for the second app only if the first one gives its quota back.
	second := h.start(cfg, args...)
	h.eventually("the second app runs", func() bool { return h.status(second).State == spec.Running })
	if s := h.status(handle); s.State != spec.Cancelled {
		h.Errorf("got %s: %s after the start of another app, want CANCELLED", s.State, s.Msg)
	}
	r = h.torchx("delete", handle)
	want(r.code == 0, "delete", r)
	r = h.torchx("delete", "-f", second)
	want(r.code == 0, "delete -f", r)
	r = h.torchx("list", "-b", "kubernetes", "-cfg", "namespace="+h.namespace)
	want(r.code == 0 && strings.Count(r.stdout, "\n") == 1, "list of no apps", r)
	gang := strings.TrimPrefix(strings.Split(cfg, ",")[0], "gang=")
	admin.eventually("nothing is left of the apps", func() bool {
		return len(admin.objects(gang)) == 0 && len(admin.cluster.Pods(h.T, h.namespace, "")) == 0
	})
	ended := h.start(cfg, "--script", "exit 3")
	r = h.torchx("wait", ended)
	want(r.code == 3 || hidden && r.code == 1, "wait for a failure", r)
	r = h.torchx("rerun", ended)
	want(r.code == 0, "rerun", r)
	r = h.torchx("attach", strings.TrimSpace(r.stdout))
	want(r.code == 3 || hidden && r.code == 1, "attach", r)
	r = h.torchx("prune", "--all", "-f")
	want(r.code == 0 && len(admin.objects(gang)) == 0, "prune", r)
}

// inspect runs the commands that show a running app, or reach into it.
func (h *home) inspect(handle string, hidden bool, want func(ok bool, what string, r result)) {
	h.Helper()
	for _, args := range [][]string{{"status", handle}, {"describe", handle}, {"top", "--once"}, {"events", handle}} {
		r := h.torchx(args...)
		want(r.code == 0 && strings.Count(r.stderr, "\n") <= 2, args[0], r)
	}
	file := h.work + "/copied"
	for _, args := range [][]string{
		{"exec", handle + "/r/0", "--", "sh", "-c", "echo found > /tmp/a"}, {"cp", handle + "/r/0:/tmp/a", file},
	} {
		r := h.torchx(args...)
		want(r.code == 0 && !hidden || r.code == 1 && hidden && strings.Contains(r.stderr, "may not list pods"), args[0], r)
	}
	if hidden {
		return
	}
	if data, err := os.ReadFile(file); string(data) != "found\n" {
		h.Errorf("cp: got %q, %v, want what exec wrote", data, err)
	}
	r := h.torchx("exec", handle+"/r/0", "--", "sh", "-c", "mkdir /tmp/www; echo open > /tmp/www/index.html; httpd -p 7000 -h /tmp/www")
	want(r.code == 0, "exec of a server", r)
	_, address, errs := h.forward(handle+"/r/0", 7000)
	page, err := http.Get("http://" + address)
	if err != nil {
		h.Fatalf("port-forward: %v %s", err, errs)
	}
	defer page.Body.Close()
	if body, err := io.ReadAll(page.Body); string(body) != "open\n" {
		h.Errorf("port-forward: got %q, %v, want the page", body, err)
	}
}
