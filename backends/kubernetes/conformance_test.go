package kubernetes

import (
	"context"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd/api"

	"torchx/backends/kubernetes/manifest"
	"torchx/runtime/backend"
	"torchx/test/backendtest"
	"torchx/test/clustertest"
)

// TestConformance runs the suite of all backends on a real cluster, in every form.
func TestConformance(t *testing.T) {
	t.Parallel()
	cluster := clustertest.Need(t)
	for _, gang := range manifest.Forms {
		t.Run(string(gang), func(t *testing.T) {
			t.Parallel()
			backendtest.Run(t, func(t *testing.T) backendtest.Harness { return harness(t, cluster, gang) })
		})
	}
}

// harness returns a harness with a new namespace, the default one of its kubeconfig.
func harness(t *testing.T, cluster *clustertest.Cluster, gang manifest.Form) backendtest.Harness {
	namespace, home := cluster.Namespace(t), t.TempDir()
	kubeconfig := cluster.Write(t, func(_ *api.Cluster, _ *api.AuthInfo, context *api.Context) { context.Namespace = namespace })
	open := func(t *testing.T) backend.Backend {
		b, err := New(Config{
			Home: home, Exe: "/no/such", Version: "test", Environ: []string{"KUBECONFIG=" + kubeconfig},
			Settings: func(context.Context, string) (backend.Config, error) {
				return backend.Config{"namespace": namespace}, nil
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = b.Close() })
		return b
	}
	return backendtest.Harness{
		Backend: open(t), Programs: backendtest.Shell{}, Image: clustertest.Image, Caps: capabilities(gang),
		Cfg: map[string]string{"namespace": namespace, "gang": string(gang)}, Reopen: open, Timeout: 4 * time.Minute,
		ForceTimeout: 20 * time.Second, // pods have 30 s
	}
}

// capabilities returns those of a form, each missing one with its reason.
func capabilities(gang manifest.Form) backendtest.Caps {
	caps := backendtest.AllCaps()
	caps.Streams = false                         // a kubelet keeps one log per container; servers that split it are rare (PodLogsQuerySplitStreams, alpha)
	caps.AnyID = false                           // names have only lower-case letters, digits and '-'
	caps.StartErrors = false                     // an app counts as submitted once its objects exist; nodes start its program later
	caps.CompleteLogs = false                    // the unread log of a deleted pod is lost; a gap notice reports it
	caps.Attempts = gang != manifest.FormVolcano // Volcano restarts jobs and tasks, never one replica; the plan warns
	caps.FailFast = gang != manifest.FormJob     // nothing stops the Jobs of other roles; the plan warns
	return caps
}
