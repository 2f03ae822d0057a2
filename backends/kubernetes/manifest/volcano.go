package manifest

import (
	"encoding/json"

	"torchx/runtime/spec"
)

// VolcanoJob is a Job of Volcano (volcano.sh/apis, batch/v1alpha1) without its
// status. The types are our own: those of Volcano bring along all of its client.
type VolcanoJob struct {
	head
	Spec VolcanoSpec `json:"spec"`
}

// VolcanoSpec is the spec; what plans do not set is kept as it was written.
type VolcanoSpec struct {
	SchedulerName     string              `json:"schedulerName,omitempty"`
	Queue             string              `json:"queue,omitempty"`
	MinAvailable      *int32              `json:"minAvailable,omitempty"`
	MinSuccess        *int32              `json:"minSuccess,omitempty"`
	Tasks             []VolcanoTask       `json:"tasks"`
	Policies          []LifecyclePolicy   `json:"policies,omitempty"`
	Plugins           map[string][]string `json:"plugins,omitempty"`
	MaxRetry          int32               `json:"maxRetry"` // attempts, the first included
	TTLSeconds        *int32              `json:"ttlSecondsAfterFinished,omitempty"`
	PriorityClassName string              `json:"priorityClassName,omitempty"`
	Volumes           json.RawMessage     `json:"volumes,omitempty"`
	RunningEstimate   json.RawMessage     `json:"runningEstimate,omitempty"`
	NetworkTopology   json.RawMessage     `json:"networkTopology,omitempty"`
}

// VolcanoTask is one kind of pods of the job.
type VolcanoTask struct {
	Replicas       int32             `json:"replicas"`
	MinAvailable   *int32            `json:"minAvailable,omitempty"` // nil: all
	Name           string            `json:"name"`
	Template       Template          `json:"template"`
	Policies       []LifecyclePolicy `json:"policies,omitempty"`
	MaxRetry       int32             `json:"maxRetry,omitempty"`
	TopologyPolicy string            `json:"topologyPolicy,omitempty"`
	DependsOn      json.RawMessage   `json:"dependsOn,omitempty"`
	Partition      json.RawMessage   `json:"partitionPolicy,omitempty"`
}

// LifecyclePolicy says what happens to the job after an event of a pod.
type LifecyclePolicy struct {
	Action   string          `json:"action,omitempty"`
	Event    string          `json:"event,omitempty"`
	Events   []string        `json:"events,omitempty"`
	ExitCode *int32          `json:"exitCode,omitempty"`
	Timeout  json.RawMessage `json:"timeout,omitempty"`
}

// restart starts the whole job again; as in TorchX.
var restart = []LifecyclePolicy{{Event: "PodEvicted", Action: "RestartJob"}, {Event: "PodFailed", Action: "RestartJob"}}

// terminate stops the whole job for good.
var terminate = []LifecyclePolicy{{Event: "PodFailed", Action: "TerminateJob"}}

// volcano is one job with a task for each replica.
func (b *builder) volcano(units []unit) []Object {
	o, app := b.options, b.in.App
	job := &VolcanoJob{head: b.head(TypeVolcano, b.names.app)}
	job.Spec = VolcanoSpec{
		SchedulerName: "volcano", Queue: o.Queue, PriorityClassName: o.priorityClass, TTLSeconds: o.ttl,
		// svc gives pods names, before they are ready too: rank 0 is not ready before others have come.
		Plugins: map[string][]string{"svc": {"--publish-not-ready-addresses"}, "env": {}},
		// Volcano counts attempts, and takes 0 for its default of 3.
		MaxRetry: int32(restarts(app, FormVolcano)) + 1,
		Tasks:    make([]VolcanoTask, 0, len(units)), // each holds a whole pod
	}
	whole := o.failFast && !elastic(app)
	if whole {
		job.Spec.Policies = terminate
	}
	for _, u := range units {
		role := &app.Roles[u.role]
		task := VolcanoTask{Replicas: 1, Name: u.name, Template: *u.Template}
		if role.MinReplicas != nil {
			needed := int32(0)
			if u.replica < *role.MinReplicas {
				needed = 1
			}
			task.MinAvailable = &needed
		}
		if role.MaxRetries > 0 {
			task.MaxRetry = int32(role.MaxRetries) + 1
		}
		switch {
		case retryAs(app, role, FormVolcano) == spec.RetryApplication:
			task.Policies = restart
		case o.failFast && !whole && Required(role) == role.NumReplicas:
			task.Policies = terminate // of the other roles some replicas may fail
		}
		job.Spec.Tasks = append(job.Spec.Tasks, task)
	}
	return []Object{job}
}

// elastic tells whether a role can do with fewer replicas than it has.
func elastic(app *spec.App) bool {
	for i := range app.Roles {
		if Required(&app.Roles[i]) < app.Roles[i].NumReplicas {
			return true
		}
	}
	return false
}
