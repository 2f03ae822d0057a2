package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"torchx/backends/kubernetes/kube"
)

// Object is one object of a plan: a *VolcanoJob, *JobSet, *Job, *Service, or a *Foreign
// that the user added.
type Object interface {
	// Type returns the object's apiVersion and kind.
	Type() metav1.TypeMeta
	// Meta returns the object's metadata, which callers may change.
	Meta() *metav1.ObjectMeta
}

// Typed is an object of a plan: it has no status.
type Typed[Spec any] struct {
	kube.Object
	Spec Spec `json:"spec"`
}

type (
	// VolcanoJob is a batch.volcano.sh/v1alpha1 Job.
	VolcanoJob = Typed[kube.VolcanoSpec]
	// JobSet is a jobset.x-k8s.io/v1alpha2 JobSet.
	JobSet = Typed[kube.JobSetSpec]
	// Job is a batch/v1 Job.
	Job = Typed[batchv1.JobSpec]
	// Service is a v1 Service.
	Service = Typed[corev1.ServiceSpec]
)

// Types of the objects of plans.
var (
	TypeVolcano = metav1.TypeMeta{APIVersion: "batch.volcano.sh/v1alpha1", Kind: "Job"}
	typeJobSet  = metav1.TypeMeta{APIVersion: "jobset.x-k8s.io/v1alpha2", Kind: "JobSet"}
	typeJob     = metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"}
	typeService = metav1.TypeMeta{APIVersion: "v1", Kind: "Service"}
)

// Foreign is an object of any other type. Its fields, except the metadata, are kept as
// written.
type Foreign struct {
	kube.Object
	fields map[string]json.RawMessage
}

// MarshalJSON returns the fields that were read, with the current metadata.
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
	if err := json.Unmarshal(data, &f.Object); err != nil {
		return err
	}
	return json.Unmarshal(data, &f.fields)
}

// head returns the type and metadata of an object of the plan.
func (b *builder) head(kind metav1.TypeMeta, name string) kube.Object {
	meta := metav1.ObjectMeta{
		Name: name, Namespace: b.options.Namespace,
		Labels: b.objectLabels(), Annotations: maps.Clone(b.options.annotations),
	}
	if b.options.kueueQueue != "" && kind != typeService {
		meta.Labels[kube.LabelKueue] = b.options.kueueQueue
		if b.options.kueuePriority != "" {
			meta.Labels[kube.LabelKueuePriority] = b.options.kueuePriority
		}
	}
	return kube.Object{TypeMeta: kind, ObjectMeta: meta}
}

// readObject decodes an object by its apiVersion and kind.
func readObject(data []byte) (Object, error) {
	if !bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		return nil, errors.New("not an object")
	}
	h := kube.Object{}
	if err := json.Unmarshal(data, &h); err != nil {
		return nil, decodeError(err)
	}
	var o Object = &Foreign{}
	switch h.TypeMeta {
	case TypeVolcano:
		o = &VolcanoJob{}
	case typeJobSet:
		o = &JobSet{}
	case typeJob:
		o = &Job{}
	case typeService:
		o = &Service{}
	default:
		if h.APIVersion == "" || h.Kind == "" {
			return nil, errors.New("apiVersion or kind is missing")
		}
	}
	return o, decodeStrict(data, o)
}

// Template is a pod template.
type Template = corev1.PodTemplateSpec

// PodSet is a pod template and the number of its replicas.
type PodSet struct {
	Name string // of the task or job
	*Template
	Replicas int
}

// PodSets returns the pod templates of an object.
func PodSets(o Object) []PodSet {
	switch o := o.(type) {
	case *VolcanoJob:
		return VolcanoPods(&o.Spec)
	case *JobSet:
		return JobSetPods(&o.Spec)
	case *Job:
		return []PodSet{JobPods(o.Name, &o.Spec)}
	}
	return nil
}

// VolcanoPods returns the pod templates of a Volcano Job.
func VolcanoPods(s *kube.VolcanoSpec) (all []PodSet) {
	for i := range s.Tasks {
		t := &s.Tasks[i]
		all = append(all, PodSet{t.Name, &t.Template, int(t.Replicas)})
	}
	return all
}

// JobSetPods returns the pod templates of a JobSet.
func JobSetPods(s *kube.JobSetSpec) (all []PodSet) {
	for i := range s.ReplicatedJobs {
		j := &s.ReplicatedJobs[i]
		p := JobPods(j.Name, &j.Template.Spec)
		p.Replicas *= int(j.Replicas)
		all = append(all, p)
	}
	return all
}

// JobPods returns the pod template of a Job.
func JobPods(name string, s *batchv1.JobSpec) PodSet {
	return PodSet{name, &s.Template, max(1, int(ptr.Deref(s.Completions, 0)))}
}

// decodeStrict decodes JSON and refuses unknown fields.
func decodeStrict(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return decodeError(d.Decode(into))
}

// decodeError rewrites an error of encoding/json in terms of JSON instead of Go.
func decodeError(err error) error {
	var kind *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &kind):
		return fmt.Errorf("%s cannot be a JSON %s", kind.Field, kind.Value)
	}
	return errors.New(strings.TrimPrefix(err.Error(), "json: "))
}
