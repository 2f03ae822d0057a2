//go:build unix

package kubernetes

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"torchx/runtime/spec"
)

// patchStatus sets fields of the status of an object; namespace is "" for nodes.
func (h *home) patchStatus(namespace, kind, name string, status map[string]any) {
	h.Helper()
	data, err := json.Marshal(map[string]any{"status": status})
	if err == nil {
		_, err = h.cluster.Of(namespace, "v1", kind).Patch(context.Background(), name, types.MergePatchType, data, metav1.PatchOptions{}, "status")
	}
	if err != nil {
		h.Fatal(err)
	}
}

// conditions are those of a node or a pod that is ready.
func conditions(kinds ...string) (list []map[string]any) {
	for _, kind := range kinds {
		list = append(list, map[string]any{"type": kind, "status": "True", "lastTransitionTime": time.Now().UTC().Format(time.RFC3339)})
	}
	return list
}

// runs makes a pod of a node without a kubelet seem to run.
func (h *home) runs(pod *corev1.Pod) {
	h.Helper()
	now := time.Now().UTC().Format(time.RFC3339)
	c := &pod.Spec.Containers[0]
	h.patchStatus(h.namespace, "Pod", pod.Name, map[string]any{
		"phase": "Running", "startTime": now, "conditions": conditions("Ready", "ContainersReady", "PodScheduled"),
		"containerStatuses": []any{map[string]any{
			"name": c.Name, "image": c.Image, "imageID": "", "ready": true, "restartCount": 0,
			"state": map[string]any{"running": map[string]any{"startedAt": now}},
		}},
	})
}

// begin starts a command, with messages in a file.
func (h *home) begin(file string, args ...string) *exec.Cmd {
	h.Helper()
	f, err := os.Create(file)
	if err != nil {
		h.Fatal(err)
	}
	defer f.Close()
	cmd := h.command(args...)
	cmd.Stderr = f
	if err := cmd.Start(); err != nil {
		h.Fatal(err)
	}
	return cmd
}

// says waits until a file has a text.
func (h *home) says(file, text string) {
	h.Helper()
	h.eventually(text, func() bool {
		data, err := os.ReadFile(file)
		return err == nil && strings.Contains(string(data), text)
	})
}

// TestLostNode: status, log, cancel and delete name a node that does not answer, as soon as the
// cluster has noticed, in 50 s; `delete -f` gives up its pods after their grace period. The node has
// no kubelet.
func TestLostNode(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	node := "lost-" + h.namespace
	h.cluster.Create(t, "", fmt.Sprintf("{apiVersion: v1, kind: Node, metadata: {name: %s}, spec: {taints: [{key: lost, effect: NoSchedule}]}}", node))
	size := map[string]any{"cpu": "4", "memory": "4Gi", "pods": "10"}
	h.patchStatus("", "Node", node, map[string]any{
		"conditions": conditions("Ready"), "capacity": size, "allocatable": size,
		"addresses":       []any{map[string]any{"type": "InternalIP", "address": "127.0.0.1"}},
		"daemonEndpoints": map[string]any{"kubeletEndpoint": map[string]any{"Port": 1}}, // nothing listens there
	})
	pods := func() []corev1.Pod { return h.cluster.Pods(t, h.namespace, "") }
	t.Cleanup(func() { // the namespace ends only without the pods of the node
		for _, p := range pods() {
			_ = h.cluster.Of(h.namespace, "v1", "Pod").Delete(context.Background(), p.Name, metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))})
		}
	})
	var handles []string
	for _, gang := range slices.Concat(forms, forms) { // the first are canceled, the others deleted
		overlay := fmt.Sprintf(`{"spec": {"nodeName": %q, "tolerations": [{"operator": "Exists"}]}}`, node)
		handles = append(handles, h.start("gang="+gang, "--overlay", overlay))
	}
	h.eventually("the pods", func() bool { return len(pods()) == len(handles) })
	for _, p := range pods() {
		h.runs(&p)
	}
	h.cluster.Eventually(t, "the cluster has noticed that the node is lost", func(context.Context) (bool, error) {
		return !slices.ContainsFunc(pods(), func(p corev1.Pod) bool {
			return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue })
		}), nil
	})
	text := "replica r/0: its node " + node + " is not ready"
	var deletions []*exec.Cmd
	for i, handle := range handles[len(forms):] {
		if r := h.torchx("log", "-n", "1", handle); r.code != 1 || strings.Count(r.stderr, "\n") != 1 || !strings.Contains(r.stderr, "r/0: node "+node+" does not send logs") {
			t.Errorf("log: got %+v, want one line with the node, and code 1", r)
		}
		deletions = append(deletions, h.begin(filepath.Join(h.dir, fmt.Sprint("deletion-", i)), "delete", "-f", handle))
	}
	for _, handle := range handles[:len(forms)] {
		if s := h.status(handle); s.State != spec.Running || s.Msg != text {
			t.Errorf("got %s: %s, want RUNNING: %s", s.State, s.Msg, text)
		}
		said := filepath.Join(h.dir, "said")
		waiting := h.begin(said, "cancel", "--wait", handle)
		h.says(said, text)
		if r := h.torchx("cancel", "--force", handle); r.code != 0 {
			t.Errorf("cancel --force: got %+v, want code 0", r)
		}
		if r := h.wait(waiting, &bytes.Buffer{}, &bytes.Buffer{}); r.code != 0 {
			t.Errorf("cancel --wait: got %+v, want code 0", r)
		}
		s := h.status(handle)
		if r := s.Roles[0].Replicas[0]; s.State != spec.Cancelled || r.Node != node || r.Pod == "" {
			t.Errorf("got %s and %+v, want CANCELLED with the names of pod and node, which are gone", s.State, r)
		}
	}
	for i, deletion := range deletions {
		h.says(filepath.Join(h.dir, fmt.Sprint("deletion-", i)), text)
		if r := h.wait(deletion, &bytes.Buffer{}, &bytes.Buffer{}); r.code != 0 {
			t.Errorf("delete -f: got %+v, want code 0", r)
		}
	}
}
