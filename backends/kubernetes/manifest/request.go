package manifest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"torchx/backends/kubernetes/label"
	"torchx/backends/workspace"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
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
	TypeVolcano = metav1.TypeMeta{APIVersion: "batch.volcano.sh/v1alpha1", Kind: "Job"}
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
	meta := metav1.ObjectMeta{Name: name, Namespace: b.options.Namespace, Labels: b.objectLabels()}
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

// settle takes the form that the cluster has where nobody chose one.
func (r *Request) Settle(p *backend.Plan, has []Form) error {
	if r.builder != nil && r.builder.options.gang == FormAuto {
		b := *r.builder
		if b.form = choose(b.in.App, b.options, has); b.form != r.Form() {
			objects, err := b.build()
			if err != nil {
				return err
			}
			r.Objects = objects
		}
		for _, w := range formWarnings(b.in.App, b.form, b.options) {
			p.Progress.Tell(backend.Step{Warning: w})
		}
	}
	f := r.Form()
	if slices.Contains(has, f) {
		return nil
	}
	var names []string
	for _, h := range has {
		names = append(names, string(h))
	}
	slices.Sort(names)
	return backend.Errorf(backend.ErrUnavailable, "the cluster has no %s, which gang=%s needs: install it, or take another form (-cfg gang=auto; there is %s)",
		needs[f], f, strings.Join(names, ", "))
}

// needs is what a form needs on the cluster.
var needs = map[Form]string{FormVolcano: "Volcano", FormJobSet: "JobSet", FormJob: "Job"}

// checkImages refuses what is no image's name.
func (r *Request) CheckImages() error {
	for _, o := range r.Objects {
		for _, t := range Templates(o) {
			for _, c := range t.Spec.Containers {
				if c.Image == spec.None || c.Image == spec.Missing {
					return fmt.Errorf("container %s has no image, which every pod needs: set Role(image=...) or --image", c.Name)
				}
			}
		}
	}
	return nil
}

// ownerFirst are the objects with the one that owns the others in front: the main
// one, but with gang=job the service. A Job that its ttl_seconds delete must not take
// along the other roles'.
func (r *Request) CreationOrder() []Object {
	if r.Form() == FormJob {
		for i, o := range r.Objects {
			if _, ok := o.(*Service); ok {
				first := append([]Object{o}, r.Objects[:i]...)
				return append(first, r.Objects[i+1:]...)
			}
		}
	}
	return r.Objects
}
