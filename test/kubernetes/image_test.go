//go:build unix

package kubernetes

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"torchx/test/enginetest"
)

// forwardVariable makes this program forward connections, see clustertest.Forward. Its value
// is the address and the socket.
const forwardVariable = "TORCHX_TEST_FORWARD"

// TestWorkspace: an image with the folder is built and pushed to image_repo, and the node
// runs it. A changed file makes another image.
func TestWorkspace(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	engine := enginetest.Need(t, enginetest.Options{})
	host, socket := h.cluster.Registry(t)
	reach(t, engine, host, socket)
	h.env = append(h.env, "DOCKER_HOST="+engine.Host)
	for _, gang := range forms {
		text := "this is " + gang
		if err := os.WriteFile(filepath.Join(h.work, "hello.txt"), []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		r := h.torchx("run", "--log", "-b", "kubernetes", "-cfg", "namespace="+h.namespace+",gang="+gang+",image_repo="+host+"/team/x",
			"--workspace", h.work, "utils.sh", "--image", enginetest.Image, "--", "cat", "hello.txt")
		if r.code != 0 || !strings.Contains(r.stderr, text) {
			t.Errorf("%s: got %+v, want r.code == 0 and Contains(r.stderr, text)", gang, r)
		}
		for _, p := range h.cluster.Pods(t, h.namespace, "app.kubernetes.io/instance="+instance(strings.TrimSpace(r.stdout))) {
			if image := p.Spec.Containers[0].Image; !strings.HasPrefix(image, host+"/team/x:") || p.Status.ContainerStatuses[0].ImageID == "" {
				t.Errorf("%s: got image %s in pod %s, want the pushed one", gang, image, p.Name)
			}
		}
	}
}

// reach lets an engine with its own network push to the registry.
func reach(t *testing.T, engine *enginetest.Engine, host, socket string) {
	t.Helper()
	if !engine.IsSeparate() {
		return
	}
	cmd := engine.InNetwork(os.Args[0])
	cmd.Env = append(os.Environ(), forwardVariable+"="+host+" "+socket)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
}
