package manifest

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"torchx/backends/kubernetes/label"
	"torchx/runtime/spec"
)

// adopt returns the id of the app that a request is for: namespace and name of its
// main object, or with gang=job, where that is named after its role too, the main
// object's instance label. What was named after the app before somebody changed
// that is renamed, so that a copy does not pass for what it was copied from. What
// somebody chose stays.
func (r *Request) adopt() (id string) {
	main := r.Objects[0].Meta()
	name := main.Name
	if r.Form() == FormJob {
		name = main.Labels[label.Instance]
	}
	id = AppID(main.Namespace, name)
	for _, o := range r.Objects {
		old := o.Meta().Labels[label.Instance]
		for _, t := range Templates(o) {
			old = t.Labels[label.Instance]
			adoptPods(t.Template, old, name, id)
		}
		rename(&o.Meta().Name, old, name)
		setInstance(o.Meta(), name)
		switch o := o.(type) {
		case *Service:
			if _, ok := o.Spec.Selector[label.Instance]; ok {
				o.Spec.Selector[label.Instance] = name
			}
		case *JobSet:
			if o.Spec.Network != nil {
				rename(&o.Spec.Network.Subdomain, old, name)
			}
			for i := range o.Spec.ReplicatedJobs {
				setInstance(&o.Spec.ReplicatedJobs[i].Template.ObjectMeta, name)
			}
		}
	}
	return id
}

// adoptPods gives pods what follows from the app's name.
func adoptPods(t *Template, old, name, id string) {
	setInstance(&t.ObjectMeta, name)
	rename(&t.Spec.Subdomain, old, name)
	for _, list := range [][]corev1.Container{t.Spec.InitContainers, t.Spec.Containers} {
		for i := range list {
			for n := range list[i].Env {
				e := &list[i].Env[n]
				switch {
				case e.ValueFrom != nil:
				case e.Name == spec.JobIDVariable:
					e.Value = Handle(id)
				case e.Name == spec.Rank0HostVariable:
					if host, ok := strings.CutSuffix(e.Value, "."+old); ok {
						rename(&host, old, name)
						e.Value = host + "." + name
					}
				}
			}
		}
	}
}

// rename puts the app's new name into a name that begins with the old one.
func rename(s *string, old, name string) {
	if rest, ok := strings.CutPrefix(*s, old); ok && old != "" && (rest == "" || rest[0] == '-') {
		*s = name + rest
	}
}

func setInstance(meta *metav1.ObjectMeta, name string) {
	if meta.Labels == nil {
		meta.Labels = map[string]string{}
	}
	meta.Labels[label.Instance] = name
}
