package manifest

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"torchx/backends/kubernetes/kube"
	"torchx/runtime/spec"
)

// vector is a call of a function of TorchX and its result.
type vector struct {
	In  []json.RawMessage `json:"in"`
	Out json.RawMessage   `json:"out"`
}

func vectors(t *testing.T, name string) []vector {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Rows []vector }
	decode(t, data, &file)
	if len(file.Rows) == 0 {
		t.Fatalf("no rows in %s", name)
	}
	return file.Rows
}

// TestResourceVectors: limits and requests are those of TorchX, except that the default reserve of
// memory is at most a tenth.
func TestResourceVectors(t *testing.T) {
	t.Parallel()
	for _, v := range vectors(t, "k8s_resources") {
		r, o := spec.NullResource(), Options{}
		for i, into := range []any{&r.CPU, &r.GPU, &r.MemMB, &r.Devices, &o.reservedCPU, &o.reservedMem, &o.efa} {
			decode(t, v.In[i], into)
		}
		var got, want map[string]any
		decode(t, asJSON(t, o.resources(r)), &got)
		decode(t, v.Out, &want)
		if o.reservedMem == defaultReservedMem && r.MemMB > 0 {
			want["requests"].(map[string]any)["memory"] = fmt.Sprintf("%dM", r.MemMB-min(defaultReservedMem, r.MemMB/10))
		}
		compare(t, string(asJSON(t, v.In)), tidy(t, "", got), tidy(t, "", want))
	}
}

// TestLabelVectors: labels are those of TorchX, except values that Kubernetes refuses ([BUG]
// fact 121) and values that TorchX cut.
func TestLabelVectors(t *testing.T) {
	t.Parallel()
	for _, v := range vectors(t, "k8s_pod_labels") {
		var name, role string
		decode(t, v.In[0], &name)
		decode(t, v.In[1], &role)
		want := map[string]string{}
		decode(t, v.Out, &want)
		for key, text := range map[string]string{kube.LabelAppName: name, kube.LabelName: name, kube.LabelRole: role} {
			theirs := want[key]
			if strings.Trim(theirs, "._-") != theirs || len(text) > maxName {
				continue
			}
			if got := kube.LabelValue(text); got != theirs {
				t.Errorf("%s of %q is %q, want %q", key, text, got, theirs)
			}
		}
	}
}
