//go:build unix

package kubernetes

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd/api"

	"torchx/runtime/spec"
	"torchx/test/clustertest"
)

// TestCredentialsRenewed: an app with archive=true outlives its credentials and the address of its
// cluster. When a login has written the kubeconfig anew, its agent goes on, and no line is lost.
func TestCredentialsRenewed(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.cluster.Bind(t, h.namespace, "ClusterRole", "admin")
	file := filepath.Join(t.TempDir(), "kubeconfig")
	h.env = append(h.env, "KUBECONFIG="+file)
	before := h.login(file)
	handle := h.start("gang=job,archive=true", "--script", fortyLines+"; exit 3")
	h.eventually("the first lines", func() bool { return h.copied("line 5\n") })
	h.logout()
	h.eventually("refused credentials", func() bool {
		return strings.Contains(h.torchx("status", handle).stderr, "does not accept the credentials")
	})
	before.Cut() // else the log would go on in the stream that is open
	seen := before.Accepted()
	if err := before.Restore(); err != nil {
		t.Fatal(err)
	}
	h.eventually("an attempt of the agent", func() bool { return before.Accepted() > seen })
	before.Cut()
	h.login(file)
	h.archivedAll(handle)
}

// TestSilentConnections: connections that neither end nor send anything, as after the sleep of a
// laptop, are given up: no line is lost.
func TestSilentConnections(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	tunnel := h.cluster.Tunnel(t)
	h.env = append(h.env, "KUBECONFIG="+h.cluster.Write(t, func(c *api.Cluster, _ *api.AuthInfo, _ *api.Context) { tunnel.Through(c) }))
	handle := h.start("gang=job,archive=true", "--script", fortyLines+"; exit 3")
	waiting, reading := h.background("wait", handle), h.command("log", "-t", handle)
	printed, err := os.Create(filepath.Join(t.TempDir(), "printed"))
	if err != nil {
		t.Fatal(err)
	}
	defer printed.Close()
	reading.Stdout = printed
	if err := reading.Start(); err != nil {
		t.Fatal(err)
	}
	h.says(printed.Name(), "line 5\n")
	h.eventually("the first lines", func() bool { return h.copied("line 5\n") })
	tunnel.Silence()
	if r := h.wait(waiting.cmd, waiting.out, waiting.errs); r.code != 3 {
		t.Errorf("wait: %+v, want r.code == 3", r)
	}
	h.wait(reading, &bytes.Buffer{}, &bytes.Buffer{})
	text, err := os.ReadFile(printed.Name())
	if err != nil {
		t.Fatal(err)
	}
	complete(t, "log -t", string(text), 1, 40, 0)
	h.archivedAll(handle)
}

// login makes a new account, and writes a kubeconfig for it with an address of its own.
func (h *home) login(file string) *clustertest.Tunnel {
	h.Helper()
	token, tunnel := h.cluster.Token(h.T, h.namespace), h.cluster.Tunnel(h.T)
	h.cluster.Rewrite(h.T, file, func(c *api.Cluster, user *api.AuthInfo, context *api.Context) {
		*user, context.Namespace = api.AuthInfo{Token: token}, h.namespace
		tunnel.Through(c)
	})
	return tunnel
}

// logout deletes the account, whose rights the next one of its name has.
func (h *home) logout() {
	h.Helper()
	err := h.cluster.Of(h.namespace, "v1", "ServiceAccount").Delete(h.Context(), "user", metav1.DeleteOptions{})
	if err != nil {
		h.Fatal(err)
	}
}

// copied reports whether the log of r/0 in the archive has a text.
func (h *home) copied(text string) bool {
	h.Helper()
	return strings.Contains(h.archived(filepath.Join("replicas", "r", "0", "0", "stdout.log")), text)
}

// archivedAll waits for the agent of an app that prints fortyLines and fails with code 3 to be done,
// and compares the archive.
func (h *home) archivedAll(handle string) {
	h.Helper()
	h.eventually("the end in the archive", func() bool { return strings.Contains(h.archived("archive.json"), `"done":true`) })
	if s := h.status(handle); s.State != spec.Failed || s.ExitCode == nil || *s.ExitCode != 3 {
		h.Errorf("got %+v, want FAILED with code 3", s)
	}
	var want strings.Builder
	for i := range 40 {
		fmt.Fprintf(&want, "line %d\n", i+1)
	}
	if got := h.archived(filepath.Join("replicas", "r", "0", "0", "stdout.log")); got != want.String() {
		h.Errorf("the archive has %q, want all 40 lines", got)
	}
}
