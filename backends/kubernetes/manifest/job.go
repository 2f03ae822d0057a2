package manifest

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"torchx/backends/kubernetes/label"
	"torchx/runtime/spec"
)

// jobs are one Indexed Job for each unit, and the service that gives pods their names.
func (b *builder) jobs(units []unit) []Object {
	var objects []Object
	for _, u := range units {
		job := &Job{head: b.head(typeJob, b.names.app+"-"+u.name), Spec: b.jobSpec(u)}
		job.Spec.TTLSecondsAfterFinished = b.options.ttl
		objects = append(objects, job)
	}
	service := &Service{head: b.head(typeService, b.names.app)}
	service.Spec = corev1.ServiceSpec{
		ClusterIP: corev1.ClusterIPNone, Selector: label.Match(b.names.app),
		PublishNotReadyAddresses: true, // rank 0 is not ready before others have come
	}
	return append(objects, service)
}

// jobSpec runs a unit's replicas, all at once.
func (b *builder) jobSpec(u unit) batchv1.JobSpec {
	app := b.in.App
	role := &app.Roles[u.role]
	n, mode := int32(u.count), batchv1.IndexedCompletion
	s := batchv1.JobSpec{Completions: &n, Parallelism: &n, CompletionMode: &mode, Template: *u.Template}
	retries, lost := int32(0), int32(role.NumReplicas-Required(role))
	if retryAs(app, role, b.form) == spec.RetryReplica {
		retries = int32(role.MaxRetries)
	}
	if retries == 0 && lost == 0 && b.options.failFast {
		s.BackoffLimit = &retries // the first failure ends the job
		return s
	}
	s.BackoffLimitPerIndex = &retries
	if b.options.failFast {
		if u.count == 1 {
			lost = 0 // no other replica is in this job
		}
		s.MaxFailedIndexes = &lost
	}
	return s
}
