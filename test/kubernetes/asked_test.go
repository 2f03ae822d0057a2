//go:build unix

package kubernetes

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"torchx/runtime/spec"
	"torchx/test/clustertest"
	"torchx/test/homedir"
)

// TestTTY: `run --tty` runs a program on a terminal in every form and ends with its exit code; the
// log has what the terminal showed.
func TestTTY(t *testing.T) {
	t.Parallel()
	for _, gang := range forms {
		t.Run(gang, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			args := h.runArgs("reserved_millicpu=1000,gang="+gang, "--script", "exec sh")
			cmd := h.command(append([]string{"run", "--tty"}, args[1:]...)...)
			cmd.Stdin = strings.NewReader("tty; stty size\nexit 5\n")
			r := h.finish(cmd)
			if r.code != 5 || !strings.HasPrefix(r.stdout, "kubernetes://") || strings.Count(r.stderr, "/dev/pts/0\r\n24 80\r\n") != 1 || !strings.Contains(r.stderr, "FAILED: exit code 5") {
				t.Errorf("got %+v, want exit code 5 and the output once", r)
			}
			if log := h.torchx("log", strings.TrimSpace(r.stdout)); !strings.Contains(log.stdout, "r/0 24 80\n") {
				t.Errorf("got log %+v, want the size of the terminal", log)
			}
		})
	}
	h := newHome(t)
	args := h.runArgs("", "--num_replicas", "2")
	if r := h.torchx(append([]string{"run", "--tty"}, args[1:]...)...); r.code != 2 || strings.Count(r.stderr, "\n") != 1 || !strings.Contains(r.stderr, "requires an app of one replica, this one has 2") {
		t.Errorf("two replicas: got %+v, want one line and exit code 2", r)
	}
}

// TestEnvFrom: the entries of Secrets and ConfigMaps are variables in every form, the user's own
// override them, and a missing one is found before anything is created.
func TestEnvFrom(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.cluster.Create(t, h.namespace, `{apiVersion: v1, kind: Secret, metadata: {name: keys}, stringData: {TOKEN: hidden, SEED: "1"}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: train.env}, data: {LR: "0.1"}}`)
	for _, gang := range forms {
		args := h.runArgs("env_from=secret:keys;configmap:train.env,reserved_millicpu=1000,gang="+gang, "--script", "echo $TOKEN $SEED $LR")
		r := h.torchx(append([]string{"run", "--log", "--env", "SEED=2"}, args[1:]...)...)
		if r.code != 0 || !strings.Contains(r.stderr, "r/0 hidden 2 0.1\n") {
			t.Errorf("%s: got %+v, want the values", gang, r)
		}
	}
	for text, what := range map[string]string{"secret:nosuch": "secret nosuch", "configmap:nosuch": "configmap nosuch"} {
		r := h.run("env_from=" + text)
		if want := "namespace " + h.namespace + " has no " + what; r.code != spec.ExitNotStarted || strings.Count(r.stderr, "\n") != 1 || !strings.Contains(r.stderr, want) {
			t.Errorf("%s: got %+v, want one line with %q", text, r, want)
		}
	}
	// Users who may not read Secrets submit all the same.
	user := h.cluster.User(t, h.namespace, `{apiGroups: [""], resources: [pods, services], verbs: ["*"]}, {apiGroups: [batch], resources: [jobs], verbs: ["*"]}`)
	cmd := h.command(h.runArgs("gang=job,env_from=secret:nosuch")...)
	cmd.Env = append(cmd.Env, "KUBECONFIG="+user)
	r := h.finish(cmd)
	if r.code != 0 {
		t.Fatalf("without the right to read Secrets: got %+v, want exit code 0", r)
	}
	h.eventually("the reason of the wait", func() bool {
		return strings.Contains(h.status(strings.TrimSpace(r.stdout)).Msg, `secret "nosuch" not found`)
	})
}

// TestForwardRights: without the right, the first connection ends port-forward with one line that
// names it.
func TestForwardRights(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	handle := h.start("gang=job", "--script", "sleep 1000")
	h.eventually("the app runs", func() bool { return h.status(handle).State == spec.Running })
	user := *h
	user.env = append(append([]string{}, h.env...), "TORCHX_HOME="+homedir.New(t), "KUBECONFIG="+h.cluster.User(t, h.namespace,
		`{apiGroups: ["", batch], resources: [pods, services, jobs], verbs: [get, list, watch]}`))
	cmd, address, errs := user.forward(handle, 7000)
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = cmd.Wait() // its exit code is below
	if cmd.ProcessState.ExitCode() != 1 || !strings.Contains(errs.String(), "may not create pods/portforward") || strings.Count(errs.String(), "torchx: error: ") != 1 {
		t.Errorf("got %d, %s, want exit code 1 and one line with the right", cmd.ProcessState.ExitCode(), errs.String())
	}
}

// forward begins port-forward to a port of a replica. It returns its address here.
func (h *home) forward(handle string, port int) (cmd *exec.Cmd, address string, errs *bytes.Buffer) {
	h.Helper()
	cmd, errs = h.command("port-forward", handle, fmt.Sprint(":", port)), &bytes.Buffer{}
	cmd.Stderr = errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		h.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		h.Fatal(err)
	}
	h.Cleanup(func() { _, _ = cmd.Process.Kill(), cmd.Wait() }) // fail if it has ended
	address, err = bufio.NewReader(out).ReadString('\n')
	if err != nil {
		h.Fatal(err)
	}
	return cmd, strings.TrimSpace(address), errs
}

const orderComponent = `
def app(image):
    """Roles that start one after the other

    Args:
        image (str): image of the containers
    """
    def role(name, script, **kw):
        return specs.Role(name = name, image = image, entrypoint = "sh", args = ["-c", script], **kw)
    return specs.AppDef(name = "order", roles = [
        role("eval", "true", depends_on = {"train": "succeeded"}),
        role("train", "wget -q -O- http://$$TORCHX_STORE:7000/ | grep open", depends_on = {"store": "ready"},
             env = {"TORCHX_STORE": "$${app_id}-store-0-0.$${app_id}"}),
        role("store", "mkdir /www; echo open > /www/index.html; until [ -e /tmp/go ]; do sleep 0.1; done; httpd -p 7000 -h /www; sleep 20",
             port_map = {"kv": 7000}, ready = {"port": "kv"}),
    ])
`

// TestOrder: JobSet starts roles in their order, and status says what they wait for.
func TestOrder(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	if err := os.WriteFile(filepath.Join(h.work, "o.star"), []byte(strings.ReplaceAll(orderComponent, "$${", "${")), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(cfg string) result {
		return h.torchx("run", "-b", "kubernetes", "--workspace=", "-cfg", "namespace="+h.namespace+cfg, "o.star:app", "--image", clustertest.Image)
	}
	for _, gang := range []string{"volcano", "job"} {
		if r := run(",gang=" + gang); r.code != 1 || strings.Count(r.stderr, "\n") != 1 || !strings.Contains(r.stderr, "gang="+gang+" cannot do: use -cfg gang=jobset") {
			t.Errorf("gang=%s: got %+v, want a refusal in one line", gang, r)
		}
	}
	r := run("")
	if r.code != 0 {
		t.Fatalf("got %+v, want exit code 0", r)
	}
	handle := strings.TrimSpace(r.stdout)
	h.eventually("the reasons of the waits", func() bool {
		s := h.torchx("status", handle).stdout
		return strings.Contains(s, "not ready yet (port kv)") && strings.Contains(s, "waits for role store to be ready")
	})
	if r := h.torchx("exec", handle+"/store/0", "--", "touch", "/tmp/go"); r.code != 0 {
		t.Fatalf("exec: got %+v, want exit code 0", r)
	}
	if r := h.torchx("wait", handle); r.code != 0 {
		t.Fatalf("wait: got %+v, want exit code 0", r)
	}
	if r := h.torchx("log", handle+"/train"); r.stdout != "open\n" && r.stdout != "train/0 open\n" {
		t.Errorf("log of train: got %+v, want what store serves", r)
	}
}

// TestTop: `top` and `usage` show what metrics.k8s.io of the cluster says.
func TestTop(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.serveMetrics()
	handle := h.start("gang=job", "--script", "sleep 1000")
	var apps []struct {
		Handle   string   `json:"handle"`
		CPU      *float64 `json:"cpu_percent"`
		RSS      *int64   `json:"rss_bytes"`
		Replicas []struct {
			RSS *int64 `json:"rss_bytes"`
		} `json:"replicas"`
	}
	h.eventually("the usage in top", func() bool {
		r := h.torchx("top", "--json")
		if err := json.Unmarshal([]byte(r.stdout), &apps); err != nil {
			t.Fatalf("top: %v %+v", err, r)
		}
		return len(apps) == 1 && apps[0].CPU != nil
	})
	if a := apps[0]; a.Handle != handle || *a.CPU != 150 || a.RSS == nil || *a.RSS != 64<<20 || *a.Replicas[0].RSS != 64<<20 {
		t.Errorf("got %+v, want 150 %% and 64 MiB", a)
	}
	if r := h.torchx("top", "--once"); !strings.Contains(r.stdout, "150") {
		t.Errorf("got %+v, want the usage in the table", r)
	}
}

// serveMetrics serves metrics.k8s.io for the pods of the namespace through the cluster's API
// server, as metrics-server does.
func (h *home) serveMetrics() {
	h.Helper()
	const path = "/apis/metrics.k8s.io/v1beta1"
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		answer := map[string]any{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "metrics.k8s.io/v1beta1", "resources": []any{}}
		if r.URL.Path == path+"/namespaces/"+h.namespace+"/pods" {
			items := []any{}
			for _, p := range h.cluster.Pods(h.T, h.namespace, r.URL.Query().Get("labelSelector")) {
				items = append(items, map[string]any{
					"metadata":   map[string]any{"name": p.Name, "namespace": p.Namespace},
					"containers": []any{map[string]any{"name": "r", "usage": map[string]string{"cpu": "1500m", "memory": "64Mi"}}},
				})
			}
			answer = map[string]any{"kind": "PodMetricsList", "apiVersion": "metrics.k8s.io/v1beta1", "metadata": map[string]any{}, "items": items}
		}
		_ = json.NewEncoder(w).Encode(answer) // the client sees a failure
	}))
	h.Cleanup(server.Close)
	at, err := url.Parse(server.URL)
	if err != nil {
		h.Fatal(err)
	}
	h.cluster.Create(h.T, h.namespace, `{apiVersion: v1, kind: Service, metadata: {name: metrics}, spec: {type: ExternalName, externalName: localhost}}`)
	h.cluster.Create(h.T, "", fmt.Sprintf(`{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: v1beta1.metrics.k8s.io},
 spec: {group: metrics.k8s.io, version: v1beta1, insecureSkipTLSVerify: true, groupPriorityMinimum: 100, versionPriority: 100,
  service: {namespace: %s, name: metrics, port: %s}}}`, h.namespace, at.Port()))
}
