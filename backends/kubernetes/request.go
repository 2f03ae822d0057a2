package kubernetes

import (
	"encoding/json"
	"maps"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"torchx/backends/kubernetes/label"
	"torchx/backends/workspace"
)

// Request is what the cluster is asked to make.
type Request struct {
	Objects      []Object               `json:"objects"` // the main one first
	ImagesToPush map[string]PushedImage `json:"images_to_push"`

	// What it was made by, and what images are built from; nil if it was read.
	builder *builder
	trees   map[string]*workspace.Tree
	bases   map[string]string
}

// Manifests are the objects, as `kubectl apply` takes them.
func (r *Request) Manifests() []any {
	all := make([]any, len(r.Objects))
	for i, o := range r.Objects {
		all[i] = o
	}
	return all
}

// PushedImage is where a local image goes: repository and tag. Containers name it so.
type PushedImage [2]string

// String is the reference that containers have.
func (p PushedImage) String() string { return p[0] + ":" + p[1] }

// Object is one object of the API: a *VolcanoJob, *JobSet, *Job, *Service, or a
// *Foreign that somebody put into a plan.
type Object interface {
	// Type is the object's apiVersion and kind.
	Type() metav1.TypeMeta
	// Meta is its metadata, which may be changed.
	Meta() *metav1.ObjectMeta
}

// head is what all objects begin with.
type head struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
}

// Type is the object's apiVersion and kind.
func (h *head) Type() metav1.TypeMeta { return h.TypeMeta }

// Meta is the object's metadata.
func (h *head) Meta() *metav1.ObjectMeta { return &h.ObjectMeta }

// Types of the objects of plans.
var (
	typeVolcano = metav1.TypeMeta{APIVersion: "batch.volcano.sh/v1alpha1", Kind: "Job"}
	typeJobSet  = metav1.TypeMeta{APIVersion: "jobset.x-k8s.io/v1alpha2", Kind: "JobSet"}
	typeJob     = metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"}
	typeService = metav1.TypeMeta{APIVersion: "v1", Kind: "Service"}
)

// Job is a batch/v1 Job without its status, which a plan does not have.
type Job struct {
	head
	Spec batchv1.JobSpec `json:"spec"`
}

// Service is a v1 Service without its status.
type Service struct {
	head
	Spec corev1.ServiceSpec `json:"spec"`
}

// Foreign is an object of any other type: all but its metadata is as it was written.
type Foreign struct {
	head
	fields map[string]json.RawMessage
}

// MarshalJSON writes what was read, with the metadata as it is now.
func (f *Foreign) MarshalJSON() ([]byte, error) {
	meta, err := json.Marshal(f.ObjectMeta)
	if err != nil {
		return nil, err
	}
	fields := maps.Clone(f.fields)
	fields["metadata"] = meta
	return json.Marshal(fields)
}

// UnmarshalJSON reads an object of any type.
func (f *Foreign) UnmarshalJSON(data []byte) error {
	if err := json.Unmarshal(data, &f.head); err != nil {
		return err
	}
	return json.Unmarshal(data, &f.fields)
}

// head begins an object of the plan.
func (b *builder) head(kind metav1.TypeMeta, name string) head {
	meta := metav1.ObjectMeta{Name: name, Namespace: b.options.namespace, Labels: b.objectLabels()}
	for k, v := range b.options.annotations {
		if meta.Annotations == nil {
			meta.Annotations = map[string]string{}
		}
		meta.Annotations[k] = v
	}
	if b.options.kueueQueue != "" && kind != typeService {
		meta.Labels[label.Kueue] = b.options.kueueQueue
	}
	return head{kind, meta}
}
