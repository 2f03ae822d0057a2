package manifest

import (
	"encoding/json"

	batchv1 "k8s.io/api/batch/v1"

	"torchx/runtime/spec"
)

// JobSet is a jobset.x-k8s.io/v1alpha2 JobSet without its status. The types are
// our own: those of JobSet bring along a controller's library.
type JobSet struct {
	head
	Spec JobSetSpec `json:"spec"`
}

// JobSetSpec is the spec; what plans do not set is kept as it was written.
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

// ReplicatedJob is one kind of jobs of the set.
type ReplicatedJob struct {
	Name      string                  `json:"name"`
	GroupName string                  `json:"groupName,omitempty"`
	Replicas  int32                   `json:"replicas"`
	Template  batchv1.JobTemplateSpec `json:"template"`
	DependsOn json.RawMessage         `json:"dependsOn,omitempty"`
}

// JobSetNetwork is the headless service that gives pods their names.
type JobSetNetwork struct {
	EnableDNSHostnames       *bool  `json:"enableDNSHostnames,omitempty"`
	Subdomain                string `json:"subdomain,omitempty"`
	PublishNotReadyAddresses *bool  `json:"publishNotReadyAddresses,omitempty"`
}

// FailurePolicy says what a failed job does to the set; without a rule that fits
// all jobs are made again, MaxRestarts times.
type FailurePolicy struct {
	MaxRestarts     int32         `json:"maxRestarts,omitempty"`
	Rules           []FailureRule `json:"rules,omitempty"`
	RestartStrategy string        `json:"restartStrategy,omitempty"`
}

// FailureRule is a rule for some jobs.
type FailureRule struct {
	Name                 string   `json:"name"`
	Action               string   `json:"action"`
	OnJobFailureReasons  []string `json:"onJobFailureReasons,omitempty"`
	TargetReplicatedJobs []string `json:"targetReplicatedJobs,omitempty"`
}

// jobSet is one set with a replicated job for each unit.
func (b *builder) jobSet(units []unit) []Object {
	app, yes := b.in.App, true
	set := &JobSet{head: b.head(typeJobSet, b.names.app)}
	set.Spec = JobSetSpec{
		Network:    &JobSetNetwork{EnableDNSHostnames: &yes, Subdomain: b.names.app, PublishNotReadyAddresses: &yes},
		TTLSeconds: b.options.ttl,
	}
	var final []string // jobs whose failure is the set's
	for _, u := range units {
		job := ReplicatedJob{Name: u.name, Replicas: 1}
		job.Template.Labels = b.objectLabels()
		job.Template.Spec = b.jobSpec(u)
		set.Spec.ReplicatedJobs = append(set.Spec.ReplicatedJobs, job)
		if retryAs(app, &app.Roles[u.role], FormJobSet) != spec.RetryApplication {
			final = append(final, u.name)
		}
	}
	if n := restarts(app, FormJobSet); n > 0 {
		set.Spec.FailurePolicy = &FailurePolicy{MaxRestarts: int32(n)}
		if len(final) > 0 {
			set.Spec.FailurePolicy.Rules = []FailureRule{{Name: "notRetried", Action: "FailJobSet", TargetReplicatedJobs: final}}
		}
	}
	return []Object{set}
}
