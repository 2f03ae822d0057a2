package kube

import "strings"

// Resource is a kind of objects as the server's paths name it.
type Resource struct {
	Group, Version string // Group "" is the core one
	Name           string // plural
}

// Resources that apps are made of or waited for.
var (
	Pods            = Resource{"", "v1", "pods"}
	Events          = Resource{"", "v1", "events"}
	Services        = Resource{"", "v1", "services"}
	Nodes           = Resource{"", "v1", "nodes"}
	Namespaces      = Resource{"", "v1", "namespaces"}
	ServiceAccounts = Resource{"", "v1", "serviceaccounts"}
	ResourceQuotas  = Resource{"", "v1", "resourcequotas"}
	Jobs            = Resource{"batch", "v1", "jobs"}
	PriorityClasses = Resource{"scheduling.k8s.io", "v1", "priorityclasses"}
	VolcanoJobs     = Resource{"batch.volcano.sh", "v1alpha1", "jobs"}
	VolcanoCommands = Resource{"bus.volcano.sh", "v1alpha1", "commands"}
	VolcanoQueues   = Resource{"scheduling.volcano.sh", "v1beta1", "queues"}
	PodGroups       = Resource{"scheduling.volcano.sh", "v1beta1", "podgroups"}
	JobSets         = Resource{"jobset.x-k8s.io", "v1alpha2", "jobsets"}
)

// String is the resource as kubectl writes it: jobs.batch.volcano.sh.
func (r Resource) String() string {
	if r.Group == "" {
		return r.Name
	}
	return r.Name + "." + r.Group
}

// path is where objects are; namespace "" is all, name "" the collection.
func (r Resource) path(namespace, name string) []string {
	path := []string{"/apis", r.Group, r.Version}
	if r.Group == "" {
		path = []string{"/api", r.Version}
	}
	if namespace != "" {
		path = append(path, "namespaces", namespace)
	}
	path = append(path, r.Name)
	if name != "" {
		path = append(path, name)
	}
	return path
}

// Of finds the resource of a kind. Kinds that are not built in get the plural of
// the language: the server answers 404 where that is wrong.
func Of(apiVersion, kind string) Resource {
	group, version, ok := strings.Cut(apiVersion, "/")
	if !ok {
		group, version = "", apiVersion
	}
	name := strings.ToLower(kind)
	switch {
	case strings.HasSuffix(name, "y") && !strings.HasSuffix(name, "ey"):
		name = strings.TrimSuffix(name, "y") + "ies"
	case strings.HasSuffix(name, "s"), strings.HasSuffix(name, "x"), strings.HasSuffix(name, "ch"):
		name += "es"
	default:
		name += "s"
	}
	return Resource{group, version, name}
}
