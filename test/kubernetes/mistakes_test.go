//go:build unix

package kubernetes

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd/api"

	"torchx/runtime/spec"
)

// errorLine returns the command's error, which must be one line.
func (h *home) errorLine(r result) string {
	h.Helper()
	var found []string
	for line := range strings.Lines(r.stderr) {
		if text, ok := strings.CutPrefix(line, "torchx: error: "); ok {
			found = append(found, strings.TrimSpace(text))
		}
	}
	if len(found) != 1 {
		h.Errorf("got %+v, want one line with an error", r)
		return ""
	}
	return found[0]
}

// refused checks that a command fails with one line and leaves no objects. If the cluster
// refuses the app, it is in the history.
func (h *home) refused(what string, r result, want string) {
	h.Helper()
	code := 125
	if !strings.HasPrefix(r.stdout, "kubernetes://") { // the plan itself is wrong
		code = 1
	}
	if line := h.errorLine(r); r.code != code || !regexp.MustCompile(want).MatchString(line) {
		h.Errorf("%s: got exit code %d, stdout %q, error %q, want %q", what, r.code, r.stdout, line, want)
	}
	for _, kind := range [][2]string{{"batch/v1", "Job"}, {"batch.volcano.sh/v1alpha1", "Job"}, {"jobset.x-k8s.io/v1alpha2", "JobSet"}, {"v1", "Service"}} {
		list, err := h.cluster.Of(h.namespace, kind[0], kind[1]).List(h.Context(), metav1.ListOptions{})
		if err != nil {
			h.Fatal(err)
		}
		for _, o := range list.Items {
			h.Errorf("%s: got the %s %s, want no objects", what, kind[1], o.GetName())
		}
	}
}

// TestRefused: apps that the cluster would refuse, or accept and never run, are refused
// before their submission.
func TestRefused(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	for _, test := range []struct {
		what, cfg, want string
		args            []string
	}{
		{"namespace", "namespace=no-such", `has no namespace no-such: .*-cfg namespace=NAME`, nil},
		{"queue", "gang=volcano,queue=no-such", `queue.* no-such|no-such.* not found`, nil},
		{"priority class of a job", "gang=volcano,priority_class=no-such", `has no priority class no-such: .*-cfg priority_class=NAME`, nil},
		{"priority class of pods", "gang=jobset,priority_class=no-such", `PriorityClass with name no-such`, nil},
		{"account", "gang=job,service_account=no-such", `serviceaccount "no-such" not found`, nil},
		{"account, volcano", "gang=volcano,service_account=no-such", `serviceaccount "no-such" not found`, nil},
		{"overlay, offline", "", `overlay of role r: container \S+ mounts volume "no-such"`, []string{"--overlay", `{"spec": {"containers": [{"name": "more", "image": "x", "volumeMounts": [{"name": "no-such", "mountPath": "/x"}]}]}}`}},
		{"overlay, cluster", "", `hostname`, []string{"--overlay", `{"spec": {"hostname": "NOT A NAME"}}`}},
	} {
		h.refused(test.what, h.run(test.cfg, test.args...), test.want)
	}
}

// TestQuota: a quota that is exceeded is reported, and no pod starts.
func TestQuota(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.cluster.Create(t, h.namespace, `{apiVersion: v1, kind: ResourceQuota, metadata: {name: small}, spec: {hard: {pods: "0"}}}`)
	h.eventually("the quota is in force", func() bool {
		q, err := h.cluster.Of(h.namespace, "v1", "ResourceQuota").Get(h.Context(), "small", metav1.GetOptions{})
		return err == nil && q.Object["status"] != nil && len(q.Object["status"].(map[string]any)) > 0
	})
	for _, gang := range forms {
		r := h.run("gang=" + gang)
		if r.code == 0 { // accepted: the status shows it
			handle := strings.TrimSpace(r.stdout)
			h.eventually(gang+": the quota in the status", func() bool { return strings.Contains(h.status(handle).Msg, "quota") })
			continue
		}
		h.refused(gang, r, `quota`)
	}
}

// TestAccess: without a kubeconfig, a server, valid credentials or rights, each command fails
// with one line that explains it.
func TestAccess(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	handle := h.start("gang=job", "--script", "true")
	for what, test := range map[string]struct{ kubeconfig, want string }{
		"no file":     {"/no/such", `kubeconfig /no/such not found \(set by \$KUBECONFIG\)`},
		"unreachable": {h.cluster.Write(t, func(c *api.Cluster, _ *api.AuthInfo, _ *api.Context) { c.Server = "https://127.0.0.1:1" }), `127\.0\.0\.1:1 is not reachable, nothing listens`},
		"expired":     {h.cluster.Write(t, func(_ *api.Cluster, u *api.AuthInfo, _ *api.Context) { *u = api.AuthInfo{Token: "expired"} }), `does not accept the credentials`},
		"forbidden":   {h.cluster.User(t, h.namespace, ""), `may not \w+ .* in namespace ` + h.namespace},
	} {
		env := h.env
		h.env = append(env[:len(env):len(env)], "KUBECONFIG="+test.kubeconfig)
		for _, args := range [][]string{h.runArgs("gang=job"), {"list", "-b", "kubernetes", "-cfg", "namespace=" + h.namespace}} {
			code := 1
			if what != "no file" && args[0] == "run" { // the app is in the history
				code = 125
			}
			r := h.torchx(args...)
			if what == "forbidden" && args[0] == "list" { // what may not be listed is left out
				if r.code != 0 || !strings.Contains(r.stderr, "you may not list jobs.batch.volcano.sh, jobsets.jobset.x-k8s.io, jobs.batch, so their apps are missing") || !strings.Contains(r.stdout, handle) {
					t.Errorf("forbidden: list: got %+v, want the recorded app and a warning", r)
				}
				continue
			}
			if line := h.errorLine(r); r.code != code || !regexp.MustCompile(test.want).MatchString(line) {
				t.Errorf("%s: %s: got exit code %d, %q, want %q", what, args[0], r.code, line, test.want)
			}
		}
		h.env = env
	}
	// torchx remembers the kubeconfig of the app.
	h.env = append(h.env, "KUBECONFIG=/no/such")
	if r := h.torchx("wait", handle); r.code != 0 {
		t.Errorf("wait: %+v, want r.code == 0", r)
	}
}

// TestHandles: the error for a handle without a namespace shows a complete one.
func TestHandles(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	for _, command := range []string{"status", "log", "cancel", "delete", "describe"} {
		r := h.torchx(command, "kubernetes://torchx/app-x")
		if line := h.errorLine(r); r.code != 1 || !strings.Contains(line, "kubernetes://torchx/default:app-x") {
			t.Errorf(`%s: exit code %d, %q, want r.code == 1 and Contains(line, "kubernetes://torchx/default:app-x")`, command, r.code, line)
		}
	}
}

// TestWaits: in every form, status and wait show what a pending app waits for.
func TestWaits(t *testing.T) {
	t.Parallel()
	for _, gang := range forms {
		t.Run(gang, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			for what, test := range map[string]struct {
				args  []string
				words []string
			}{
				"image": {[]string{"--image", "example.invalid/no/such:1"}, []string{"example.invalid/no/such:1"}},
				"node":  {[]string{"--cpu", "1000"}, []string{"cpu"}},
				"label": {[]string{"--overlay", `{"spec": {"nodeSelector": {"no": "such"}}}`}, []string{"selector"}},
			} {
				handle := h.start("gang="+gang, test.args...)
				explained := h.explains(handle)
				var last status
				h.eventually(what+" in the status", func() bool {
					last = h.status(handle)
					for _, w := range test.words {
						if !strings.Contains(last.Msg, w) {
							return false
						}
					}
					return last.State == spec.Pending && !strings.Contains(last.Msg, "\n")
				})
				t.Logf("%s: %s", what, last.Msg)
				h.eventually(what+" on the screen of wait", explained)
				if r := h.torchx("cancel", handle, "--wait"); r.code != 0 || h.status(handle).State != spec.Cancelled {
					t.Errorf("%s: cancel: %+v, then %+v, want r.code == 0 and h.status(handle).State == spec.Cancelled", what, r, h.status(handle))
				}
			}
		})
	}
}

// explains runs `wait` in the background, and returns a function that reports whether it has
// printed why the app is pending.
func (h *home) explains(handle string) func() bool {
	h.Helper()
	screen, err := os.Create(filepath.Join(h.TempDir(), "screen"))
	if err != nil {
		h.Fatal(err)
	}
	cmd := h.command("wait", handle)
	cmd.Stderr = screen
	if err := cmd.Start(); err != nil {
		h.Fatal(err)
	}
	h.Cleanup(func() { _, _, _ = cmd.Process.Kill(), cmd.Wait(), screen.Close() })
	return func() bool {
		text, err := os.ReadFile(screen.Name())
		return err == nil && strings.Contains(string(text), handle+" is PENDING: ")
	}
}

// TestEnds: the exit code of `run --wait` is that of the app.
func TestEnds(t *testing.T) {
	t.Parallel()
	for _, gang := range forms {
		t.Run(gang, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			for what, test := range map[string]struct {
				args []string
				code int
			}{
				"no program": {[]string{"--entrypoint", "/no/such"}, 127},
				"a code":     {[]string{"--script", "exit 41"}, 41},
				"a signal":   {[]string{"--script", "sh -c 'kill -9 $$'; exit $?"}, 137},
			} {
				args := append([]string{"run", "--wait"}, h.runArgs("gang="+gang, test.args...)[1:]...)
				if r := h.torchx(args...); r.code != test.code {
					t.Errorf("%s: %+v, want code %d", what, r, test.code)
				}
			}
		})
	}
}

// TestDeletedByHand: if another client deletes the job, wait ends, and the history keeps the
// app.
func TestDeletedByHand(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	handle := h.start("gang=job", "--script", "sleep 1000")
	h.eventually("its pod runs", func() bool { return h.phases()["Running"] > 0 })
	waiting, reading := h.background("wait", handle), h.background("log", "-t", handle)
	jobs := h.cluster.Of(h.namespace, "batch/v1", "Job")
	policy := metav1.DeletePropagationBackground
	if err := jobs.DeleteCollection(h.Context(), metav1.DeleteOptions{PropagationPolicy: &policy}, metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	if r := h.wait(waiting.cmd, waiting.out, waiting.errs); r.code == 0 || r.stderr == "" {
		t.Errorf(`wait: %+v, want r.code != 0 and r.stderr != ""`, r)
	}
	h.wait(reading.cmd, reading.out, reading.errs)
	if r := h.torchx("status", handle); strings.Contains(r.stdout, "State: RUNNING") {
		t.Errorf(`status: %+v, want !Contains(r.stdout, "State: RUNNING")`, r)
	}
	if r := h.torchx("list", "--json"); !strings.Contains(r.stdout, handle) {
		t.Errorf("list: %+v, want Contains(r.stdout, handle)", r)
	}
	if r := h.torchx("delete", handle); r.code != 0 {
		t.Errorf("delete: %+v, want r.code == 0", r)
	}
}
