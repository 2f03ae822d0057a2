package kube

import (
	"encoding/json"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Object is the part common to all objects: type and metadata.
type Object struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
}

// Type returns the object's apiVersion and kind.
func (o *Object) Type() metav1.TypeMeta { return o.TypeMeta }

// Meta returns the object's metadata, which callers may change.
func (o *Object) Meta() *metav1.ObjectMeta { return &o.ObjectMeta }

// VolcanoJob is a batch.volcano.sh/v1alpha1 Job (volcano.sh/apis). It is defined here because
// Volcano's types link all of its client.
type VolcanoJob struct {
	Object
	Spec   VolcanoSpec   `json:"spec"`
	Status VolcanoStatus `json:"status"`
}

// VolcanoSpec is the spec of a VolcanoJob; fields that plans do not set are kept as written.
type VolcanoSpec struct {
	SchedulerName     string              `json:"schedulerName,omitempty"`
	Queue             string              `json:"queue,omitempty"`
	MinAvailable      *int32              `json:"minAvailable,omitempty"`
	MinSuccess        *int32              `json:"minSuccess,omitempty"`
	Tasks             []VolcanoTask       `json:"tasks"`
	Policies          []VolcanoPolicy     `json:"policies,omitempty"`
	Plugins           map[string][]string `json:"plugins,omitempty"`
	MaxRetry          int32               `json:"maxRetry"` // attempts, the first included
	TTLSeconds        *int32              `json:"ttlSecondsAfterFinished,omitempty"`
	PriorityClassName string              `json:"priorityClassName,omitempty"`
	Volumes           json.RawMessage     `json:"volumes,omitempty"`
	RunningEstimate   json.RawMessage     `json:"runningEstimate,omitempty"`
	NetworkTopology   json.RawMessage     `json:"networkTopology,omitempty"`
}

// VolcanoTask is a pod template of a VolcanoJob.
type VolcanoTask struct {
	Replicas       int32                  `json:"replicas"`
	MinAvailable   *int32                 `json:"minAvailable,omitempty"` // nil: all
	Name           string                 `json:"name"`
	Template       corev1.PodTemplateSpec `json:"template"`
	Policies       []VolcanoPolicy        `json:"policies,omitempty"`
	MaxRetry       int32                  `json:"maxRetry,omitempty"`
	TopologyPolicy string                 `json:"topologyPolicy,omitempty"`
	DependsOn      json.RawMessage        `json:"dependsOn,omitempty"`
	Partition      json.RawMessage        `json:"partitionPolicy,omitempty"`
}

// VolcanoPolicy is the reaction of a VolcanoJob to an event of one of its pods.
type VolcanoPolicy struct {
	Action   string          `json:"action,omitempty"`
	Event    string          `json:"event,omitempty"`
	Events   []string        `json:"events,omitempty"`
	ExitCode *int32          `json:"exitCode,omitempty"`
	Timeout  json.RawMessage `json:"timeout,omitempty"`
}

// VolcanoStatus is the status of a VolcanoJob.
type VolcanoStatus struct {
	State struct {
		Phase              string      `json:"phase"`
		Reason             string      `json:"reason"`
		Message            string      `json:"message"`
		LastTransitionTime metav1.Time `json:"lastTransitionTime"`
	} `json:"state"`
	RetryCount  int32 `json:"retryCount"` // restarts so far, including those by commands
	Pending     int32 `json:"pending"`
	Running     int32 `json:"running"`
	Terminating int32 `json:"terminating"`
	// TaskStatusCount counts the pods of each task by phase.
	TaskStatusCount map[string]struct {
		Phase map[corev1.PodPhase]int32 `json:"phase"`
	} `json:"taskStatusCount"`
}

// VolcanoQueue is a scheduling.volcano.sh/v1beta1 Queue.
type VolcanoQueue struct {
	Object
	Status struct {
		State string `json:"state"`
	} `json:"status"`
}

// IsClosed reports whether the queue accepts no jobs.
func (q *VolcanoQueue) IsClosed() bool { return q.Status.State != "" && q.Status.State != "Open" }

// PodGroup is a scheduling.volcano.sh/v1beta1 PodGroup.
type PodGroup struct {
	Object
	Spec struct {
		Queue        string              `json:"queue"`
		MinResources corev1.ResourceList `json:"minResources"`
	} `json:"spec"`
	Status struct {
		Phase      string `json:"phase"`
		Conditions []struct {
			Type    string `json:"type"`
			Status  string `json:"status"`
			Reason  string `json:"reason"`
			Message string `json:"message"`
		} `json:"conditions"`
	} `json:"status"`
}

// JobSet is a jobset.x-k8s.io/v1alpha2 JobSet. It is defined here because JobSet's types link
// a controller library.
type JobSet struct {
	Object
	Spec   JobSetSpec `json:"spec"`
	Status struct {
		Conditions           []metav1.Condition `json:"conditions"`
		Restarts             int32              `json:"restarts"`
		CountedRestarts      int32              `json:"restartsCountTowardsMax"`
		ReplicatedJobsStatus []struct {
			Name      string `json:"name"`
			Ready     int32  `json:"ready"`
			Succeeded int32  `json:"succeeded"`
			Failed    int32  `json:"failed"`
			Active    int32  `json:"active"`
		} `json:"replicatedJobsStatus"`
	} `json:"status"`
}

// JobSetSpec is the spec of a JobSet; fields that plans do not set are kept as written.
type JobSetSpec struct {
	ReplicatedJobs []ReplicatedJob `json:"replicatedJobs"`
	Network        *JobSetNetwork  `json:"network,omitempty"`
	FailurePolicy  *FailurePolicy  `json:"failurePolicy,omitempty"`
	Suspend        *bool           `json:"suspend,omitempty"`
	TTLSeconds     *int32          `json:"ttlSecondsAfterFinished,omitempty"`
	SuccessPolicy  json.RawMessage `json:"successPolicy,omitempty"`
	StartupPolicy  json.RawMessage `json:"startupPolicy,omitempty"`
	Coordinator    json.RawMessage `json:"coordinator,omitempty"`
	ManagedBy      *string         `json:"managedBy,omitempty"`
}

// ReplicatedJob is a Job template of a JobSet.
type ReplicatedJob struct {
	Name      string                  `json:"name"`
	GroupName string                  `json:"groupName,omitempty"`
	Replicas  int32                   `json:"replicas"`
	Template  batchv1.JobTemplateSpec `json:"template"`
	DependsOn []JobDependency         `json:"dependsOn,omitempty"` // JobSet 0.8 and later
}

// JobDependency is an earlier replicated job for which another one waits.
type JobDependency struct {
	Name   string `json:"name"`
	Status string `json:"status"` // Ready or Complete
}

// JobSetNetwork is the headless service that gives pods their host names.
type JobSetNetwork struct {
	EnableDNSHostnames       *bool  `json:"enableDNSHostnames,omitempty"`
	Subdomain                string `json:"subdomain,omitempty"`
	PublishNotReadyAddresses *bool  `json:"publishNotReadyAddresses,omitempty"`
}

// FailurePolicy is the reaction of a JobSet to a failed Job: unless a rule matches, all Jobs
// are created again, at most MaxRestarts times.
type FailurePolicy struct {
	MaxRestarts     int32         `json:"maxRestarts,omitempty"`
	Rules           []FailureRule `json:"rules,omitempty"`
	RestartStrategy string        `json:"restartStrategy,omitempty"`
}

// FailureRule is a rule of a FailurePolicy for some replicated jobs.
type FailureRule struct {
	Name                 string   `json:"name"`
	Action               string   `json:"action"`
	OnJobFailureReasons  []string `json:"onJobFailureReasons,omitempty"`
	TargetReplicatedJobs []string `json:"targetReplicatedJobs,omitempty"`
}

// PodUsage is what the containers of a pod use, as metrics.k8s.io says.
type PodUsage struct {
	metav1.ObjectMeta `json:"metadata"`

	Containers []struct {
		Usage corev1.ResourceList `json:"usage"`
	} `json:"containers"`
}

// Workload is a kueue.x-k8s.io Workload: what Kueue admits for a Job or JobSet. Its fields are the
// same in all versions.
type Workload struct {
	Object
	Status struct {
		Conditions      []metav1.Condition `json:"conditions"`
		SchedulingStats struct {
			Evictions []struct {
				Reason string `json:"reason"`
				Count  int32  `json:"count"`
			} `json:"evictions"`
		} `json:"schedulingStats"`
	} `json:"status"`
}

// KueueGroup is the API group of Kueue.
const KueueGroup = "kueue.x-k8s.io"

// KueueResource returns a kind of Kueue's objects in the version that the server prefers.
// ok is false if the server has no Kueue.
func KueueResource(g Groups, name string) (r Resource, ok bool) {
	if len(g[KueueGroup]) == 0 {
		return r, false
	}
	return Resource{KueueGroup, g[KueueGroup][0], name}, true
}

// Resource is a kind of objects, as in request paths.
type Resource struct {
	Group, Version string // Group "" is the core group
	Name           string // plural
}

// Resources of apps.
var (
	Pods            = Resource{"", "v1", "pods"}
	Events          = Resource{"", "v1", "events"}
	Services        = Resource{"", "v1", "services"}
	Nodes           = Resource{"", "v1", "nodes"}
	Namespaces      = Resource{"", "v1", "namespaces"}
	ServiceAccounts = Resource{"", "v1", "serviceaccounts"}
	ResourceQuotas  = Resource{"", "v1", "resourcequotas"}
	Secrets         = Resource{"", "v1", "secrets"}
	ConfigMaps      = Resource{"", "v1", "configmaps"}
	Jobs            = Resource{"batch", "v1", "jobs"}
	Deployments     = Resource{"apps", "v1", "deployments"}
	PriorityClasses = Resource{"scheduling.k8s.io", "v1", "priorityclasses"}
	VolcanoJobs     = Resource{"batch.volcano.sh", "v1alpha1", "jobs"}
	VolcanoCommands = Resource{"bus.volcano.sh", "v1alpha1", "commands"}
	VolcanoQueues   = Resource{"scheduling.volcano.sh", "v1beta1", "queues"}
	PodGroups       = Resource{"scheduling.volcano.sh", "v1beta1", "podgroups"}
	JobSets         = Resource{"jobset.x-k8s.io", "v1alpha2", "jobsets"}
	PodMetrics      = Resource{"metrics.k8s.io", "v1beta1", "pods"}
)

// String returns the resource as kubectl writes it: jobs.batch.volcano.sh.
func (r Resource) String() string {
	if r.Group == "" {
		return r.Name
	}
	return r.Name + "." + r.Group
}

// path returns the path of an object; namespace "" is all namespaces, name "" all objects.
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

// Of returns the resource of a kind. Its name is the English plural of the kind; if that is
// wrong, the server responds with 404.
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
