package manifest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"torchx/backends/kubernetes/kube"
	"torchx/backends/workspace"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// Request holds the objects to create on the cluster.
type Request struct {
	Objects      []Object               `json:"objects"` // the main one first
	ImagesToPush map[string]PushedImage `json:"images_to_push"`

	// The builder of the request, and the sources of images; nil if the request was read.
	builder *builder
	trees   map[string]*workspace.Tree
	bases   map[string]string
}

// UnmarshalJSON reads a request and refuses unknown fields.
func (r *Request) UnmarshalJSON(data []byte) error {
	var parts struct {
		Objects      []json.RawMessage      `json:"objects"`
		ImagesToPush map[string]PushedImage `json:"images_to_push"`
	}
	if err := decodeStrict(data, &parts); err != nil {
		return err
	}
	*r = Request{ImagesToPush: parts.ImagesToPush}
	if r.ImagesToPush == nil {
		r.ImagesToPush = map[string]PushedImage{}
	}
	for i, part := range parts.Objects {
		o, err := readObject(part)
		if err != nil {
			return fmt.Errorf("objects[%d]: %w", i, err)
		}
		r.Objects = append(r.Objects, o)
	}
	return nil
}

// Manifests returns the objects as `kubectl apply` takes them.
func (r *Request) Manifests() []any {
	all := make([]any, len(r.Objects))
	for i, o := range r.Objects {
		all[i] = o
	}
	return all
}

// Form returns the form of the main object, "" if it cannot run an app.
func (r *Request) Form() Form {
	if len(r.Objects) > 0 {
		switch r.Objects[0].(type) {
		case *VolcanoJob:
			return FormVolcano
		case *JobSet:
			return FormJobSet
		case *Job:
			return FormJob
		}
	}
	return ""
}

// PodSets returns the pod templates of all objects.
func (r *Request) PodSets() (all []PodSet) {
	for _, o := range r.Objects {
		all = append(all, PodSets(o)...)
	}
	return all
}

// CreationOrder returns the objects, first the owner of the others: the main object, but with
// gang=job the service, so that a Job that ttl_seconds deletes does not delete the Jobs of
// other roles.
func (r *Request) CreationOrder() []Object {
	isService := func(o Object) bool { _, ok := o.(*Service); return ok }
	if i := slices.IndexFunc(r.Objects, isService); r.Form() == FormJob && i > 0 {
		return slices.Concat(r.Objects[i:i+1], r.Objects[:i], r.Objects[i+1:])
	}
	return r.Objects
}

// ResolveForm rebuilds the request for one of the installed forms if the plan has gang=auto.
// Errors: ErrUnavailable if the cluster cannot run the plan's form.
func (r *Request) ResolveForm(p *backend.Plan, installed []Form) error {
	if r.builder != nil && r.builder.options.gang == FormAuto {
		b := *r.builder
		if b.form = choose(b.in.App, b.options, installed); b.form != r.Form() {
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
	if slices.Contains(installed, f) {
		return nil
	}
	var names []string
	for _, i := range installed {
		names = append(names, string(i))
	}
	slices.Sort(names)
	if r.builder != nil && r.builder.options.gang == FormAuto && hasDependencies(r.builder.in.App) {
		return backend.Errorf(backend.ErrUnavailable, "the cluster has no JobSet, which depends_on needs: install JobSet 0.8 or later, or use the backend local or docker (installed: %s)", strings.Join(names, ", "))
	}
	return backend.Errorf(backend.ErrUnavailable, "the cluster has no %s, which gang=%s needs: install it, or use -cfg gang=auto (installed: %s)",
		f.Controller(), f, strings.Join(names, ", "))
}

// HasDependencies reports whether roles wait for others.
func (r *Request) HasDependencies() bool {
	set, ok := r.Objects[0].(*JobSet)
	return ok && slices.ContainsFunc(set.Spec.ReplicatedJobs, func(j kube.ReplicatedJob) bool { return len(j.DependsOn) > 0 })
}

// CheckImages refuses containers without an image.
func (r *Request) CheckImages() error {
	for _, t := range r.PodSets() {
		for _, c := range t.Spec.Containers {
			if c.Image == spec.None || c.Image == spec.Missing {
				return fmt.Errorf("container %s has no image: set Role(image=...) or --image", c.Name)
			}
		}
	}
	return nil
}

// CheckKueue refuses several Jobs in a queue of Kueue, "" for none, which would admit them one by
// one.
func (r *Request) CheckKueue(queue string) error {
	jobs := 0
	for _, o := range r.Objects {
		if _, ok := o.(*Job); ok {
			jobs++
		}
	}
	if queue == "" || jobs < 2 {
		return nil
	}
	return backend.Errorf(backend.ErrInvalidOption, "Kueue queue %s with gang=job: Kueue would admit each of the app's %d Jobs alone, so that some wait while others run: use gang=jobset", queue, jobs)
}

const (
	// storeLimit is the default limit of etcd for one request (--max-request-bytes).
	storeLimit = 3 << 19
	// taskGrowth is the number of bytes that the cluster adds to a Volcano Job per task:
	// defaults and status (1.10: about 120 and 60 bytes).
	taskGrowth = 192
	// maxVariable is Linux's limit for NAME=VALUE in bytes (MAX_ARG_STRLEN).
	maxVariable = 128 << 10
)

// CheckSize refuses an object that would be too large for etcd, a Volcano Job together with its
// status, or whose programs could not start; both would show late or never.
func (r *Request) CheckSize() error {
	for _, o := range r.Objects {
		switch o := o.(type) {
		case *VolcanoJob:
			if err := r.checkVolcanoSize(o); err != nil {
				return err
			}
		case *JobSet:
			data, err := json.Marshal(o)
			if err == nil {
				err = checkStored("JobSet", o.Name, len(data))
			}
			if err != nil {
				return err
			}
		case *Job: // which is not stored as JSON
			if err := checkStored("Job", o.Name, o.Spec.Size()); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkStored refuses an object of so many bytes if it is too large for etcd.
func checkStored(kind, name string, size int) error {
	if size <= storeLimit {
		return nil
	}
	return backend.Errorf(kube.ErrTooLarge, "%s %s takes %.1f MB, but the cluster stores objects of at most %.1f MB: shorten the arguments and variables of its roles, or pass them in files",
		kind, name, float64(size)/1e6, storeLimit/1e6)
}

func (r *Request) checkVolcanoSize(job *VolcanoJob) error {
	for i := range job.Spec.Tasks {
		t := &job.Spec.Tasks[i]
		if _, lists := job.Spec.Plugins[servicePlugin]; lists &&
			hostsBytes(job.Name, t.Name, int(t.Replicas)) > maxVariable {
			return r.ExplainTooLarge(backend.Errorf(kube.ErrTooLarge, "Volcano gives every pod a variable with the names of all %d pods of task %s, longer than the %d KiB that Linux allows",
				t.Replicas, t.Name, maxVariable>>10))
		}
	}
	data, err := json.Marshal(job)
	if err != nil {
		return err
	}
	size := len(data) + taskGrowth*len(job.Spec.Tasks)
	if size <= storeLimit {
		return nil
	}
	return r.ExplainTooLarge(backend.Errorf(kube.ErrTooLarge, "a Volcano Job of %d tasks takes %.1f MB, but the cluster stores objects of at most %.1f MB",
		len(job.Spec.Tasks), float64(size)/1e6, storeLimit/1e6))
}

// servicePlugin is Volcano's plugin that gives pods host names.
const servicePlugin = "svc"

// hostsBytes returns the length of VC_<TASK>_HOSTS=<host>,<host>…, which servicePlugin adds to
// every container; a host is <job>-<task>-<index>.<job>.
func hostsBytes(job, task string, replicas int) int {
	host := 2*len(job) + len(task) + len(strconv.Itoa(replicas)) + len("--.,")
	return len("VC__HOSTS=") + len(task) + host*replicas
}

// ExplainTooLarge adds the remedy to kube.ErrTooLarge.
func (r *Request) ExplainTooLarge(err error) error {
	if r.Form() != FormVolcano || !errors.Is(err, kube.ErrTooLarge) {
		return err
	}
	return fmt.Errorf("%w: use -cfg gang=jobset or gang=job, which have no such limit", err)
}

// Demand returns the share of all replicas together in a quota, by the names that quotas
// use (k8s.io/kubernetes/pkg/quota/v1/evaluator/core).
func (r *Request) Demand() corev1.ResourceList {
	sum := corev1.ResourceList{}
	for _, t := range r.PodSets() {
		add := func(q resource.Quantity, names ...corev1.ResourceName) {
			q = q.DeepCopy()
			q.Mul(int64(t.Replicas))
			for _, name := range names {
				total := sum[name]
				total.Add(q)
				sum[name] = total
			}
		}
		add(resource.MustParse("1"), corev1.ResourcePods, "count/pods")
		for i := range t.Spec.Containers {
			c := &t.Spec.Containers[i].Resources
			for name, q := range c.Limits {
				add(q, "limits."+name)
				if _, ok := c.Requests[name]; !ok { // a limit is a request, too
					add(q, "requests."+name, name)
				}
			}
			for name, q := range c.Requests {
				add(q, "requests."+name, name)
			}
		}
	}
	return sum
}

// torchrun lists words of commands that start torchelastic's launcher.
var torchrun = []string{"torchrun", "torch.distributed.run", "torch.distributed.launch"}

// AddErrorFiles makes programs write their error file to the path from which the kubelet
// reads the termination message, the only file that outlives a pod. It is not part of the
// plan, and does not override a path that the user chose.
func (r *Request) AddErrorFiles() {
	for _, t := range r.PodSets() {
		if len(t.Spec.Containers) > 0 {
			addErrorFile(&t.Spec.Containers[0])
		}
	}
}

// AddMetrics makes programs append their metrics to their log, unless they set the file
// themselves: no file of a pod can be read from outside.
func (r *Request) AddMetrics() {
	for _, t := range r.PodSets() {
		addMetrics(&t.Spec)
	}
}

func addMetrics(pod *corev1.PodSpec) {
	if len(pod.Containers) == 0 || pod.ShareProcessNamespace != nil && *pod.ShareProcessNamespace {
		return // process 1 would not be the program
	}
	c := &pod.Containers[0]
	if !slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool { return e.Name == spec.MetricsVariable }) {
		c.Env = append(c.Env, corev1.EnvVar{Name: spec.MetricsVariable, Value: spec.MetricsInLog})
	}
}

func addErrorFile(c *corev1.Container) {
	command := strings.Join(slices.Concat(c.Command, c.Args), " ")
	switch {
	case slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool { return e.Name == spec.ErrorFileVariable }):
	case slices.ContainsFunc(torchrun, func(word string) bool { return strings.Contains(command, word) }):
		// torchrun removes the file before it writes it, which fails on a mount, and then
		// exits with that error. The first failure is at the end of its log.
		if c.TerminationMessagePolicy == "" {
			c.TerminationMessagePolicy = corev1.TerminationMessageFallbackToLogsOnError
		}
	default:
		path := c.TerminationMessagePath
		if path == "" {
			path = corev1.TerminationMessagePathDefault
		}
		c.Env = append(c.Env, corev1.EnvVar{Name: spec.ErrorFileVariable, Value: literal(path)})
	}
}
