package manifest

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"torchx/backends/kubernetes/kube"
	"torchx/runtime/spec"
)

// Volcano's policies for a failed pod: restart the whole job, as TorchX does, or stop it
// for good.
var (
	evictionPolicies  = []kube.VolcanoPolicy{{Event: "PodEvicted", Action: "RestartJob"}}
	restartPolicies   = []kube.VolcanoPolicy{{Event: "PodEvicted", Action: "RestartJob"}, {Event: "PodFailed", Action: "RestartJob"}}
	terminatePolicies = []kube.VolcanoPolicy{{Event: "PodFailed", Action: "TerminateJob"}}
)

// volcano returns a Volcano Job with one task per unit.
func (b *builder) volcano(units []unit) []Object {
	o, app := b.options, b.in.App
	job := &VolcanoJob{Object: b.head(TypeVolcano, b.names.app)}
	job.Spec = kube.VolcanoSpec{
		SchedulerName: "volcano", Queue: o.Queue, PriorityClassName: o.priorityClass, TTLSeconds: o.ttl,
		// svc gives pods their host names, also before they are ready: rank 0 is not ready until
		// others join.
		Plugins: map[string][]string{servicePlugin: {"--publish-not-ready-addresses"}, "env": {}},
		// Volcano counts attempts, and treats 0 as its default of 3.
		MaxRetry: int32(appRetries(app, FormVolcano)) + 1,
		Tasks:    make([]kube.VolcanoTask, 0, len(units)), // each holds a whole pod
	}
	stopAll := o.failFast && NeedsAll(app)
	if stopAll {
		job.Spec.Policies = terminatePolicies
	}
	gang, all := gangRoles(app)
	if all {
		job.Spec.Policies = slices.Concat(evictionPolicies, job.Spec.Policies)
	}
	if len(gang) > 0 && appRetries(app, FormVolcano) == 0 {
		job.Spec.MaxRetry += maxVolcanoDisruptions
	}
	for _, u := range units {
		role := &app.Roles[u.role]
		task := kube.VolcanoTask{Replicas: int32(u.count), Name: u.name, Template: *u.Template}
		if role.MinReplicas != nil {
			// A unit of one replica must run if it is among the first minReplicas.
			task.MinAvailable = new(int32(min(u.count, max(0, *role.MinReplicas-u.replica))))
		}
		if role.MaxRetries > 0 {
			task.MaxRetry = int32(role.MaxRetries) + 1
		}
		switch {
		case retryPolicy(app, role, FormVolcano) == spec.RetryApplication:
			task.Policies = restartPolicies
		case o.failFast && !stopAll && requiredReplicas(role) == role.NumReplicas:
			task.Policies = terminatePolicies // in other roles some replicas may fail
		}
		if !all && gang[u.role] && retryPolicy(app, role, FormVolcano) != spec.RetryApplication {
			task.Policies = slices.Concat(evictionPolicies, task.Policies)
		}
		job.Spec.Tasks = append(job.Spec.Tasks, task)
	}
	if b.crowded {
		delete(job.Spec.Plugins, servicePlugin)
		return []Object{job, b.rank0Service()}
	}
	return []Object{job}
}

// rank0Service returns the service by whose name the pods of a Volcano Job find rank 0.
func (b *builder) rank0Service() *Service {
	selector := kube.AppLabels(b.names.app)
	selector[kube.AnnotationVolcanoTask], selector[kube.AnnotationVolcanoIndex] = b.first, "0"
	return &Service{Object: b.head(typeService, b.names.app), Spec: corev1.ServiceSpec{
		ClusterIP: corev1.ClusterIPNone, Selector: selector, PublishNotReadyAddresses: true,
	}}
}

// jobSet returns a JobSet with one replicated job per unit.
func (b *builder) jobSet(units []unit) []Object {
	app := b.in.App
	set := &JobSet{Object: b.head(typeJobSet, b.names.app)}
	set.Spec = kube.JobSetSpec{
		Network:    &kube.JobSetNetwork{EnableDNSHostnames: new(true), Subdomain: b.names.app, PublishNotReadyAddresses: new(true)},
		TTLSeconds: b.options.ttl,
	}
	units = b.ordered(units)
	var notRetried []string // jobs whose failure fails the set
	for _, u := range units {
		job := kube.ReplicatedJob{Name: u.name, Replicas: 1, DependsOn: b.dependencies(u, units)}
		job.Template.Labels = b.objectLabels()
		job.Template.Spec = b.jobSpec(u)
		set.Spec.ReplicatedJobs = append(set.Spec.ReplicatedJobs, job)
		if retryPolicy(app, &app.Roles[u.role], FormJobSet) != spec.RetryApplication {
			notRetried = append(notRetried, u.name)
		}
	}
	if n := appRetries(app, FormJobSet); n > 0 {
		set.Spec.FailurePolicy = &kube.FailurePolicy{MaxRestarts: int32(n)}
		if len(notRetried) > 0 {
			set.Spec.FailurePolicy.Rules = []kube.FailureRule{{Name: "notRetried", Action: "FailJobSet", TargetReplicatedJobs: notRetried}}
		}
	}
	if slices.ContainsFunc(set.Spec.ReplicatedJobs, func(j kube.ReplicatedJob) bool {
		p := j.Template.Spec.PodFailurePolicy
		return p != nil && p.Rules[0].Action == batchv1.PodFailurePolicyActionFailJob
	}) {
		if set.Spec.FailurePolicy == nil {
			set.Spec.FailurePolicy = &kube.FailurePolicy{}
		}
		set.Spec.FailurePolicy.Rules = slices.Insert(set.Spec.FailurePolicy.Rules, 0,
			restartOnDisruption)
	}
	set.Spec.FailurePolicy = failingOnDeadline(&set.Spec)
	return []Object{set}
}

// jobs returns one Indexed Job per unit, and the service that gives pods their host names.
func (b *builder) jobs(units []unit) (objects []Object) {
	for _, u := range units {
		job := &Job{Object: b.head(typeJob, b.names.app+"-"+u.name), Spec: b.jobSpec(u)}
		job.Spec.TTLSecondsAfterFinished = b.options.ttl
		objects = append(objects, job)
	}
	return append(objects, &Service{Object: b.head(typeService, b.names.app), Spec: corev1.ServiceSpec{
		ClusterIP: corev1.ClusterIPNone, Selector: kube.AppLabels(b.names.app),
		PublishNotReadyAddresses: true, // rank 0 is not ready until others join
	}})
}

// jobSpec returns an Indexed Job that runs the replicas of a unit.
func (b *builder) jobSpec(u unit) batchv1.JobSpec {
	app := b.in.App
	role := &app.Roles[u.role]
	n := int32(u.count)
	s := batchv1.JobSpec{ActiveDeadlineSeconds: b.deadlines(role).job, Completions: &n, Parallelism: parallelism(role, u), CompletionMode: new(batchv1.IndexedCompletion), Template: *u.Template}
	retries, spare := int32(0), int32(role.NumReplicas-requiredReplicas(role))
	if retryPolicy(app, role, b.form) == spec.RetryReplica {
		retries = int32(role.MaxRetries)
	}
	s.PodFailurePolicy = b.disruptionPolicy(role, &u.Spec)
	ignores := s.PodFailurePolicy != nil &&
		s.PodFailurePolicy.Rules[0].Action == batchv1.PodFailurePolicyActionIgnore
	// With a limit per index, the new pod of an index says how often it was disrupted before.
	if retries == 0 && spare == 0 && b.options.failFast && !ignores {
		s.BackoffLimit = &retries // the first failure ends the job
		return s
	}
	s.BackoffLimitPerIndex = &retries
	if b.options.failFast {
		if u.count == 1 {
			spare = 0 // the job has no other replica
		}
		s.MaxFailedIndexes = &spare
	}
	return s
}

// parallelism returns how many replicas of a unit run at the same time.
func parallelism(role *spec.Role, u unit) *int32 {
	n := u.count
	if order, err := role.Order(); err == nil && order.MaxParallel > 0 {
		n = min(n, order.MaxParallel)
	}
	return new(int32(n))
}
