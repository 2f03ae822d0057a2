package observe

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"torchx/backends/kubernetes/kube"
	"torchx/runtime/spec"
)

// workloadWith returns a Workload with conditions of type, status, reason and message, and with one
// eviction if reason is not "".
func workloadWith(reason string, at time.Time, conditions ...[4]string) (w kube.Workload) {
	for _, c := range conditions {
		w.Status.Conditions = append(w.Status.Conditions, metav1.Condition{
			Type: c[0], Status: metav1.ConditionStatus(c[1]), Reason: c[2], Message: c[3], LastTransitionTime: metav1.NewTime(at),
		})
	}
	if reason != "" {
		w.Status.SchedulingStats.Evictions = append(w.Status.SchedulingStats.Evictions, struct {
			Reason string `json:"reason"`
			Count  int32  `json:"count"`
		}{reason, 1})
	}
	return w
}

const preemptionMessage = "Preempted to accommodate a workload (UID: 1, JobUID: 2) due to prioritization in the ClusterQueue; preemptor path: /q; preemptee path: /q"

// TestKueueReason: the conditions of a Workload in words.
func TestKueueReason(t *testing.T) {
	t.Parallel()
	pending := func(message string) [4]string { return [4]string{quotaReserved, "False", "Pending", message} }
	for _, c := range []struct {
		of   kube.Workload
		want string
	}{
		{kube.Workload{}, "waits for Kueue to admit it from queue team"},
		{
			workloadWith("", time.Now(), pending("couldn't assign flavors to pod set r: insufficient unused quota for cpu in flavor default, 2 more needed")),
			"waits in Kueue queue team: insufficient unused quota for cpu in flavor default, 2 more needed",
		},
		{
			workloadWith("", time.Now(), pending("couldn't assign flavors to pod set r: insufficient unused quota for memory in flavor std, 770258176 more needed")),
			"waits in Kueue queue team: insufficient unused quota for memory in flavor std, 734.6 MiB more needed",
		},
		{workloadWith("", time.Now(), pending("LocalQueue team doesn't exist")), "waits in Kueue queue team: LocalQueue team does not exist"},
		{workloadWith("", time.Now(), pending("ClusterQueue q is inactive")), "waits in Kueue queue team: ClusterQueue q is inactive"},
		{
			workloadWith(preempted, time.Now(), pending("no room"), [4]string{evicted, "True", preempted, preemptionMessage}),
			"waits in Kueue queue team: no room (preempted by Kueue to accommodate a workload due to prioritization in the ClusterQueue)",
		},
	} {
		s := recorded(t, "jobset_suspended")
		s.JobSet.Labels[kube.LabelKueue] = "team"
		s.Workloads = []kube.Workload{c.of}
		if got := s.Status(); got.State != spec.Pending || got.Msg != c.want {
			t.Errorf("got %s: %s, want PENDING: %s", got.State, got.Msg, c.want)
		}
	}
}

// TestKueueDeactivated: an app that an admin deactivates says so, but not one that torchx cancels.
func TestKueueDeactivated(t *testing.T) {
	t.Parallel()
	s := recorded(t, "job_running")
	s.Jobs[0].Labels[kube.LabelKueue] = "team"
	s.Workloads = []kube.Workload{workloadWith("Deactivated", time.Now(), [4]string{evicted, "True", "Deactivated", "The workload is deactivated"})}
	for i := range s.Pods {
		s.Pods[i].DeletionTimestamp = &metav1.Time{Time: time.Now()}
	}
	if got, want := s.Status().Msg, "2 of 2 replicas are being stopped: stopped by Kueue: The workload is deactivated"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	s.Jobs[0].Annotations = map[string]string{kube.AnnotationCancelled: time.Now().Format(time.RFC3339)}
	if got, want := s.Status().Msg, "is being canceled: 2 of 2 replicas are being stopped"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestKueueAttempts: each eviction by Kueue begins another attempt; the cancellation of an app
// does not.
func TestKueueAttempts(t *testing.T) {
	t.Parallel()
	s := recorded(t, "job_running")
	s.Jobs[0].Labels[kube.LabelKueue] = "team"
	before := s.Pods[0].DeepCopy()
	before.UID, before.CreationTimestamp = "before", metav1.NewTime(s.Pods[0].CreationTimestamp.Add(-time.Minute))
	s.Gone = []corev1.Pod{*before}
	admission := s.Pods[0].CreationTimestamp.Add(-time.Second)
	s.Workloads = []kube.Workload{workloadWith(preempted, admission, [4]string{evicted, "False", quotaReserved, "Previously: " + preemptionMessage})}
	locate := s.Locator()
	_, first, _ := locate(before)
	_, second, _ := locate(&s.Pods[0])
	got := s.Status()
	if first != 0 || second != 1 || got.NumRestarts != 1 || got.Roles[0].Replicas[0].Attempt != 1 || len(got.Past) != 1 || got.Past[0].State != spec.Cancelled {
		t.Errorf("got attempts %d and %d, %+v, want 0 and 1 with one restart", first, second, got)
	}
	want := "r/0: preempted by Kueue to accommodate a workload due to prioritization in the ClusterQueue: restarting the app"
	if len(got.Restarts) != 1 || got.Restarts[0].String() != want {
		t.Errorf("got restarts %v, want %q", got.Restarts, want)
	}
	s.Workloads = []kube.Workload{workloadWith("Deactivated", admission, [4]string{evicted, "True", "Deactivated", "The workload is deactivated"})}
	if got := s.Status(); got.NumRestarts != 0 || got.Roles[0].Replicas[0].Attempt != 0 {
		t.Errorf("deactivated: got %+v, want no restart", got)
	}
}

// TestKueueAttemptsOfDeactivated: a cancellation deactivates the app, which does not change the numbers
// of attempts: logs are copied by them.
func TestKueueAttemptsOfDeactivated(t *testing.T) {
	t.Parallel()
	const other = "PodsReadyTimeout"
	condition := func(name, status, reason, message string, seconds int) metav1.Condition {
		at := recorded(t, "job_running").Pods[0].CreationTimestamp.Add(time.Duration(seconds) * time.Second)
		return metav1.Condition{Type: name, Status: metav1.ConditionStatus(status), Reason: reason, Message: message, LastTransitionTime: metav1.NewTime(at)}
	}
	deactivation := condition(evicted, "True", deactivated, "The workload is deactivated", 20)
	for _, c := range []struct {
		name, reason string
		conditions   []metav1.Condition
		want         int // attempt of the newest pod
	}{
		{"preempted, runs again", preempted, []metav1.Condition{condition(preempted, "False", quotaReserved, "Previously: "+preemptionMessage, -1), condition(quotaReserved, "True", quotaReserved, "", -1)}, 1},
		{"preempted, ran again", preempted, []metav1.Condition{condition(preempted, "False", quotaReserved, "Previously: "+preemptionMessage, -1), condition(quotaReserved, "False", "Pending", "", 21)}, 1},
		{"preempted, waits", preempted, []metav1.Condition{condition(preempted, "True", preempted, preemptionMessage, 10), condition(quotaReserved, "False", "Pending", "", 11)}, 0},
		{"other reason, runs again", other, []metav1.Condition{condition(quotaReserved, "True", quotaReserved, "", -1)}, 1},
		{"other reason, ran again", other, []metav1.Condition{condition(quotaReserved, "False", "Pending", "", 21)}, 1},
		{"other reason, waits", other, []metav1.Condition{condition(quotaReserved, "False", "Pending", "", 11)}, 0},
	} {
		s := recorded(t, "job_running")
		s.Jobs[0].Labels[kube.LabelKueue] = "team"
		w := workloadWith(c.reason, time.Time{})
		w.Status.Conditions = append(c.conditions, deactivation)
		s.Workloads = []kube.Workload{w}
		got := s.Status()
		if got.NumRestarts != 1 || got.Roles[0].Replicas[0].Attempt != c.want || len(got.Restarts) != 1 || got.Restarts[0].Time.IsZero() {
			t.Errorf("%s: got %+v, want attempt %d after one restart", c.name, got, c.want)
		}
	}
}

// TestUnreadyNode: a node that does not answer shows as soon as the cluster marks its pods.
func TestUnreadyNode(t *testing.T) {
	t.Parallel()
	s := recorded(t, "job_running")
	for i := range s.Pods[1].Status.Conditions {
		if c := &s.Pods[1].Status.Conditions[i]; c.Type == corev1.PodReady {
			c.Status = corev1.ConditionFalse
		}
	}
	if got, want := s.Status(), "replica r/1: its node "+s.Pods[1].Spec.NodeName+" is not ready"; got.State != spec.Running || got.Msg != want {
		t.Errorf("got %s: %s, want RUNNING: %s", got.State, got.Msg, want)
	}
}
