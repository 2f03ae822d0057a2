package observe

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"torchx/backends/kubernetes/kube"
	"torchx/runtime/spec"
)

// TestEdges: recordings with one change, for cases that a test cluster cannot produce
// reliably.
func TestEdges(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, from string
		change     func(s *Observation)
		want       string
	}{
		{"the controller says Completed, a required replica failed", "volcano_exit3", func(s *Observation) {
			s.Volcano.Status.State.Phase = "Completed"
		}, "FAILED (alone FAILED) 3\nreplica r/0 failed first with exit code 3\nfirst r/0\nr/0.0 FAILED 3\n"},
		{"pods are gone, the controller counted", "volcano_ok", noPods, "SUCCEEDED (alone SUCCEEDED) 0\nr/0.0 SUCCEEDED 0\nr/1.0 SUCCEEDED 0\n"},
		{"pods of a failed job are gone", "volcano_failfast", noPods, "FAILED (alone FAILED) 1\n" +
			"replica b/0 failed first: its pod was deleted, so its exit code is unknown\nfirst b/0\na/0.0 CANCELLED\na/1.0 CANCELLED\nb/0.0 FAILED: its pod was deleted, so its exit code is unknown\n"},
		{"its namespace is being removed", "volcano_failfast", func(s *Observation) {
			s.Pods, s.NamespaceRemoved = nil, &time.Time{}
		}, "RUNNING (alone RUNNING)\nis being removed with its namespace\na/0.0 PENDING\na/1.0 PENDING\nb/0.0 PENDING\n"},
		{"its namespace is removed after it had failed", "volcano_exit3", func(s *Observation) {
			s.NamespaceRemoved = new(time.Now())
		}, "FAILED (alone FAILED) 3\nreplica r/0 failed first with exit code 3\nfirst r/0\nr/0.0 FAILED 3\n"},
		{"pods of an Indexed Job are gone", "job_elastic", noPods, "SUCCEEDED (alone SUCCEEDED) 0\n" +
			"r/0.0 SUCCEEDED 0\nr/1.0 FAILED: its pod was deleted, so its exit code is unknown\nr/2.0 SUCCEEDED 0\n"},
		{"the user may not list the pods of an Indexed Job", "job_elastic", hidePods, "SUCCEEDED (alone SUCCEEDED) 0\n" +
			"r/0.0 SUCCEEDED 0\nr/1.0 FAILED: you may not read its pod, so its exit code is unknown\nr/2.0 SUCCEEDED 0\n"},
		{"the user may not list the pods of a failed Job", "job_exit3", hidePods, "FAILED (alone FAILED) 1\n" +
			"Job has reached the specified backoff limit; you may not list its pods, so the exit code is unknown\nr/0.0 UNKNOWN\n"},
		{"the user may not list the pods of a running Job", "job_running", hidePods, "RUNNING (alone RUNNING)\nr/0.0 UNKNOWN\nr/1.0 UNKNOWN\n"},
		{"pods of a JobSet are gone", "jobset_ok", noPods, "SUCCEEDED (alone SUCCEEDED) 0\nr/0.0 SUCCEEDED 0\nr/1.0 SUCCEEDED 0\n"},
		{"evicted by its node", "job_exit3", func(s *Observation) {
			p := &s.Pods[0].Status
			p.ContainerStatuses, p.Reason, p.Message = nil, "Evicted", "The node was low on resource: memory. "
		}, "FAILED (alone FAILED) 1\nreplica r/0 failed first: evicted by its node: The node was low on resource: memory.\nfirst r/0\nr/0.0 FAILED: evicted by its node: The node was low on resource: memory.\n"},
		{"its pod exceeded the time limit", "job_killed", func(s *Observation) {
			s.Pods[0].Status.Reason, s.Pods[0].Status.Message = "DeadlineExceeded", "Pod was active on the node longer than the specified deadline"
			s.Pods[0].Spec.ActiveDeadlineSeconds = seconds(90)
		}, "FAILED (alone FAILED) 124\nreplica r/0 failed first: deadline of 1m30s exceeded\nfirst r/0\nr/0.0 FAILED 124: deadline of 1m30s exceeded\n"},
		{"its pod exceeded the time limit of the app", "volcano_exit3", func(s *Observation) {
			s.Pods[0].Status.Reason = "DeadlineExceeded"
			s.Pods[0].Spec.ActiveDeadlineSeconds = seconds(7200)
			s.App = &spec.App{Roles: []spec.Role{spec.NewRole("r", "")}}
			s.App.SetTimeout(2 * time.Hour)
		}, "FAILED (alone FAILED) 124\ndeadline of 2h exceeded\nfirst r/0\nr/0.0 FAILED 124: deadline of 2h exceeded\n"},
		{"a Job exceeded its deadline", "job_exit3", func(s *Observation) {
			s.Jobs[0].Spec.ActiveDeadlineSeconds = seconds(7200)
			for i := range s.Jobs[0].Status.Conditions {
				s.Jobs[0].Status.Conditions[i].Reason = "DeadlineExceeded"
			}
			s.Pods = nil
		}, "FAILED (alone FAILED) 124\ndeadline of 2h exceeded\nr/0.0 CANCELLED\n"},
		{"a job of a JobSet exceeded its deadline", "jobset_exit3", func(s *Observation) {
			s.JobSet.Spec.ReplicatedJobs[0].Template.Spec.ActiveDeadlineSeconds = seconds(7200)
			s.Pods = nil
		}, "FAILED (alone FAILED) 124\ndeadline of 2h exceeded\nr/0.0 CANCELLED\n"},
		{"preempted", "job_killed", func(s *Observation) {
			s.Pods[0].Status.Conditions = append(s.Pods[0].Status.Conditions, corev1.PodCondition{Type: corev1.DisruptionTarget, Status: "True", Reason: "PreemptionByScheduler", Message: "default-scheduler: preempting to accommodate a higher priority pod"})
		}, "FAILED (alone FAILED) 137\nreplica r/0 failed first: preempted: default-scheduler: preempting to accommodate a higher priority pod\nfirst r/0\nr/0.0 FAILED 137 SIGKILL: preempted: default-scheduler: preempting to accommodate a higher priority pod\n"},
		{"its node is lost", "job_killed", func(s *Observation) {
			p := &s.Pods[0].Status
			p.ContainerStatuses[0].State.Terminated.Reason = "ContainerStatusUnknown"
			p.Conditions = append(p.Conditions, corev1.PodCondition{Type: corev1.DisruptionTarget, Status: "True", Reason: "DeletionByPodGC", Message: "PodGC: node no longer exists"})
		}, "FAILED (alone FAILED) 1\nreplica r/0 failed first: its node is lost: PodGC: node no longer exists\nfirst r/0\nr/0.0 FAILED: its node is lost: PodGC: node no longer exists\n"},
		{"a container cannot be started", "job_noentry", func(s *Observation) {
			s.Pods[0].Status.ContainerStatuses[0].State.Terminated.Message = "failed to create containerd task: error mounting \"/x\" to rootfs: no such file or directory"
		}, "FAILED (alone FAILED) 125\nreplica r/0 could not start: failed to create containerd task: error mounting \"/x\" to rootfs: no such file or directory\nfirst r/0\n" +
			"r/0.0 FAILED 125: failed to create containerd task: error mounting \"/x\" to rootfs: no such file or directory\n"},
		{"a webhook refuses the pods", "job_noaccount", func(s *Observation) {
			for i := range s.Events {
				s.Events[i].Message = "Error creating: admission webhook \"p.example.com\" denied the request: no"
			}
		}, "PENDING (alone PENDING)\nits pods cannot be created: admission webhook \"p.example.com\" denied the request: no\nevents are needed\nr/0.0 PENDING\n"},
		{"Kueue has not admitted it", "jobset_suspended", func(s *Observation) {
			s.JobSet.Labels[kube.LabelKueue] = "team"
		}, "PENDING (alone PENDING)\nwaits for Kueue to admit it from queue team\nr/0.0 PENDING\nr/1.0 PENDING\n"},
		{"it had failed before it was canceled", "volcano_exit3", func(s *Observation) {
			s.Volcano.Annotations = map[string]string{kube.AnnotationCancelled: time.Now().Format(time.RFC3339)}
		}, "FAILED (alone FAILED) 3\nreplica r/0 failed first with exit code 3\nfirst r/0\nr/0.0 FAILED 3\n"},
		{"it was canceled before it failed", "volcano_exit3", func(s *Observation) {
			s.Volcano.Annotations = map[string]string{kube.AnnotationCancelled: "2020-01-01T00:00:00Z"}
		}, "CANCELLED (alone CANCELLED) 130\ncancelled\nr/0.0 FAILED 3\n"},
		{"a pod that is being deleted still runs", "job_running", func(s *Observation) {
			s.Pods[0].DeletionTimestamp, s.Pods[0].DeletionGracePeriodSeconds = now(30), seconds(30)
		}, "RUNNING (alone RUNNING)\nreplica r/0 is being stopped\nr/0.0 RUNNING\nr/1.0 RUNNING\n"},
		{"a Job is missing", "job_running", addRole("later"), "RUNNING (alone RUNNING)\n" +
			"the Job of role later is missing: the submission was interrupted, or another client deleted it\nevents are needed\nr/0.0 RUNNING\nr/1.0 RUNNING\nlater/0.0 PENDING\n"},
		{"a Job is missing, the others succeeded", "job_ok", addRole("later"), "FAILED (alone FAILED) 1\n" +
			"the Job of role later is missing: the submission was interrupted, or another client deleted it\nr/0.0 SUCCEEDED 0\nr/1.0 SUCCEEDED 0\nlater/0.0 CANCELLED\n"},
		{"a Job may be deleted by its ttl_seconds", "job_ok", func(s *Observation) {
			addRole("sooner")(s)
			s.Jobs[0].Spec.TTLSecondsAfterFinished = new(int32)
		}, "SUCCEEDED (alone SUCCEEDED) 0\nr/0.0 SUCCEEDED 0\nr/1.0 SUCCEEDED 0\nsooner/0.0 SUCCEEDED 0\n"},
		{"a Job was deleted by its ttl_seconds after it had failed", "job_running", func(s *Observation) {
			expire(s, End{State: spec.Failed, Reason: "BackoffLimitExceeded", Msg: "Job has reached the specified backoff limit"})
		}, "RUNNING (alone RUNNING)\nr/0.0 RUNNING\nr/1.0 RUNNING\nsooner/0.0 FAILED: its pod was deleted, so its exit code is unknown\n"},
		{"a Job was deleted by its ttl_seconds, others wait", "job_toolarge", func(s *Observation) {
			expire(s, End{State: spec.Succeeded, Reason: "Completed"})
		}, "RUNNING (alone RUNNING)\n2 of 3 replicas wait: no node can run it: 0/1 nodes are available: 1 Insufficient cpu\nr/0.0 PENDING\nr/1.0 PENDING\nsooner/0.0 SUCCEEDED 0\n"},
		{"a Job was deleted by its ttl_seconds after it had failed, the others succeeded", "job_ok", func(s *Observation) {
			expire(s, End{State: spec.Failed, Reason: "BackoffLimitExceeded", Msg: "Job has reached the specified backoff limit"})
		}, "FAILED (alone FAILED) 1\nreplica sooner/0 failed first: its pod was deleted, so its exit code is unknown\nfirst sooner/0\nr/0.0 SUCCEEDED 0\nr/1.0 SUCCEEDED 0\nsooner/0.0 FAILED: its pod was deleted, so its exit code is unknown\n"},
		{"its node does not answer", "job_running", func(s *Observation) {
			taint(&s.Pods[1])
			for i := range s.Pods[1].Status.Conditions {
				if c := &s.Pods[1].Status.Conditions[i]; c.Type == corev1.PodReady {
					c.Status = corev1.ConditionFalse
				}
			}
		}, "RUNNING (alone RUNNING)\nreplica r/1: its node is lost: Taint manager: deleting due to NoExecute taint\nr/0.0 RUNNING\nr/1.0 RUNNING\n"},
		{"its node has a taint", "job_running", func(s *Observation) { taint(&s.Pods[1]) }, "RUNNING (alone RUNNING)\nreplica r/1: evicted: its node has a NoExecute taint\nr/0.0 RUNNING\nr/1.0 RUNNING\n"},
		{"a pod of a Volcano job that restarts was evicted", "volcano_running", func(s *Observation) {
			s.Volcano.Spec.Policies, s.Volcano.Spec.MaxRetry = []kube.VolcanoPolicy{{Event: "PodEvicted", Action: "RestartJob"}}, 10
			s.Volcano.Status.State.Phase = "Restarting"
			failed := s.Pods[1]
			failed.Status.Phase = corev1.PodFailed
			taint(&failed)
			s.Pods, s.Gone = s.Pods[:1], []corev1.Pod{failed}
		}, "RUNNING (alone RUNNING)\nevents are needed\nr/0.0 RUNNING\nr/1.1 PENDING: evicted: its node has a NoExecute taint\n" +
			"before: r/1.0 FAILED: evicted: its node has a NoExecute taint\nr/1: evicted: its node has a NoExecute taint: restarting the app\n"},
		{"its container restarts in its pod", "job_running", func(s *Observation) {
			c := &s.Pods[0].Status.ContainerStatuses[0]
			c.RestartCount, c.State = 2, corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: "back-off 20s"}}
			c.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: 3, StartedAt: s.Pods[0].CreationTimestamp}
		}, "RUNNING (alone RUNNING)\nreplica r/0 waits for its restart: back-off 20s\n2 restarts\nr/0.0 RUNNING\nr/1.0 RUNNING\n"},
		{"a pod was deleted, so the app failed", "job_evicted", func(s *Observation) {
			running := podOf(t, "job_running")
			running.DeletionTimestamp, running.DeletionGracePeriodSeconds = now(0), seconds(0)
			running.Labels[kube.LabelJobName] = s.Jobs[0].Name
			s.Gone = append(s.Gone, running)
		}, "FAILED (alone FAILED) 1\nreplica r/0 failed first: its pod was deleted\nfirst r/0\nr/0.0 FAILED: its pod was deleted\nr/1.0 CANCELLED\n"},
		{"only the name is known", "volcano_running", func(s *Observation) {
			s.App = nil
			for i := range s.Volcano.Spec.Tasks {
				s.Volcano.Spec.Tasks[i].Template.Labels = nil
			}
		}, "RUNNING (alone RUNNING)\nr-0/0.0 RUNNING\nr-1/0.0 RUNNING\n"},
		{"its event says that no node fits", "job_toolarge", func(s *Observation) {
			for i := range s.Pods {
				s.Pods[i].Status.Conditions = nil
				s.Events = append(s.Events, corev1.Event{
					Type: corev1.EventTypeWarning, Reason: "FailedScheduling", InvolvedObject: corev1.ObjectReference{UID: s.Pods[i].UID},
					Message: "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.",
				})
			}
		}, "PENDING (alone RUNNING)\nwaits: no node can run it: 0/1 nodes are available: 1 Insufficient cpu\nevents are needed\nr/0.0 PENDING\nr/1.0 PENDING\n"},
		{"its event says that the program is missing", "job_toolarge", func(s *Observation) {
			s.Events = nil
			for i := range s.Pods {
				s.Pods[i].Status.Conditions = nil
				s.Events = append(s.Events, corev1.Event{
					Type: corev1.EventTypeWarning, Reason: "Failed", InvolvedObject: corev1.ObjectReference{UID: s.Pods[i].UID},
					Message: `Error: failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: exec: "python3": executable file not found in $PATH: unknown`,
				})
			}
		}, "PENDING (alone RUNNING)\nwaits: entry point python3: executable file not found in $PATH\nevents are needed\nr/0.0 PENDING\nr/1.0 PENDING\n"},
		{"an unknown phase of Volcano", "volcano_running", func(s *Observation) { s.Volcano.Status.State.Phase = "Dancing" }, "RUNNING (alone RUNNING)\nr/0.0 RUNNING\nr/1.0 RUNNING\n"},
		{"too large for any node", "volcano_toolarge", func(s *Observation) {
			node := s.Nodes[0]
			for range 99 {
				s.Nodes = append(s.Nodes, node)
			}
		}, "PENDING (alone PENDING)\nwaits: a replica of role r needs cpu 63, but the largest node has 2\nevents are needed\nr/0.0 PENDING\nr/1.0 PENDING\n"},
		{"parts of a CPU", "volcano_toolarge", func(s *Observation) {
			s.PodGroups[0].Spec.MinResources[corev1.ResourceCPU] = resource.MustParse("7600m")
		}, "PENDING (alone PENDING)\nwaits: all replicas together need cpu 7.6, but the only node has 2\nevents are needed\nr/0.0 PENDING\nr/1.0 PENDING\n"},
		{
			"too large for the free resources", "volcano_toolarge", func(s *Observation) { s.Nodes = nil },
			"PENDING (alone PENDING)\nwaits in queue default until all replicas fit together (cpu 126)\nevents are needed\nr/0.0 PENDING\nr/1.0 PENDING\n",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := recorded(t, test.from)
			test.change(s)
			if got := describe(s); got != test.want {
				t.Errorf("got\n%swant\n%s", got, test.want)
			}
		})
	}
}

// expire adds a role of one replica whose Job ttl_seconds has deleted.
func expire(s *Observation, e End) {
	addRole("sooner")(s)
	s.Jobs[0].Spec.TTLSecondsAfterFinished = new(int32)
	s.Expired = map[int]End{len(s.App.Roles) - 1: e}
}

// taint makes a pod one that a taint of its node ends.
func taint(pod *corev1.Pod) {
	pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = now(30), seconds(30)
	pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{
		Type: corev1.DisruptionTarget, Status: "True", Reason: "DeletionByTaintManager", Message: "Taint manager: deleting due to NoExecute taint",
	})
}

// podOf returns the first pod of a recording.
func podOf(t *testing.T, name string) corev1.Pod {
	t.Helper()
	return recorded(t, name).Pods[0]
}

func noPods(s *Observation) { s.Pods = nil }

func now(grace int) *metav1.Time {
	return &metav1.Time{Time: time.Now().Add(time.Duration(grace) * time.Second)}
}

func seconds(n int64) *int64 { return new(n) }

// TestStopped tells pods that were stopped by their deletion from pods that failed before.
func TestStopped(t *testing.T) {
	t.Parallel()
	requested := time.Date(2026, 11, 21, 12, 0, 10, 0, time.UTC)
	for _, test := range []struct {
		name   string
		ended  int // seconds after the request
		grace  int64
		signal bool
		want   bool
	}{
		{"long before", -5, 30, false, false},
		{"by a signal long before, without a grace period", -5, 0, true, false},
		{"in the same second, by itself", 0, 30, false, false},
		{"in the same second, by a signal", 0, 0, true, true},
		{"by a signal, with a clock difference", -2, 30, true, true},
		{"after it", 3, 30, false, true},
	} {
		pod := &corev1.Pod{}
		pod.DeletionTimestamp = &metav1.Time{Time: requested.Add(time.Duration(test.grace) * time.Second)}
		pod.DeletionGracePeriodSeconds = &test.grace
		end := metav1.Time{Time: requested.Add(time.Duration(test.ended) * time.Second)}
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{FinishedAt: end}}}}
		if got := wasStopped(pod, test.signal); got != test.want {
			t.Errorf("%s: got %v, want %v", test.name, got, test.want)
		}
	}
}

// TestErrorFile: a program's error file, whole, cut by the kubelet, or in torchrun's log.
func TestErrorFile(t *testing.T) {
	t.Parallel()
	stack := "Traceback (most recent call last):\n" + strings.Repeat("  File \"train.py\", line 7, in é\n", 200) + "ValueError: boom \"x\"\n"
	long, err := json.Marshal(map[string]any{"message": map[string]any{"message": "ValueError: boom", "extraInfo": map[string]any{"py_callstack": stack, "timestamp": "1700000000"}}})
	if err != nil {
		t.Fatal(err)
	}
	cut := string(long[len(long)-maxMessage:])
	torch := "noise\n====\ntrain.py FAILED\n----\nFailures:\n  <NO_OTHER_FAILURES>\n----\n" + rootCauseHead + `
[0]:
  time      : 2026-11-21_17:00:00
  host      : r-0
  rank      : 1 (local_rank: 1)
  exitcode  : 3 (pid: 41)
  error_file: /tmp/x/error.json
  traceback : Traceback (most recent call last):
    File "train.py", line 9, in main
      raise ValueError("a: b")
  ValueError: a: b

============================================================
`
	for _, test := range []struct{ name, text, message, stamp string }{
		{"flat", `{"message": "boom", "errorCode": 3}`, "", ""},
		{"cut", cut, `ValueError: boom "x"`, "1700000000"},
		{"torchrun", torch, "ValueError: a: b", "1795280400"},
	} {
		got := errorFile(test.text)
		if got == nil || !json.Valid(got) {
			t.Errorf("%s: got %s, want got != nil and json.Valid(got)", test.name, got)
			continue
		}
		var r report
		if test.message == "" {
			if string(got) != test.text {
				t.Errorf("%s: got %s, want string(got) == test.text", test.name, got)
			}
		} else if err := json.Unmarshal(got, &r); err != nil || r.Message.Message != test.message || r.Message.ExtraInfo.Timestamp != test.stamp {
			t.Errorf("%s: got %v %+v, want no error and r.Message.Message == test.message and r.Message.ExtraInfo.Timestamp == test.stamp", test.name, err, r)
		}
	}
	for _, text := range []string{"", "killed", "{not json", rootCauseHead, strings.Repeat("x", maxMessage), `"` + strings.Repeat("x", maxMessage)} {
		if got := errorFile(text); got != nil {
			t.Errorf("%.20q: got error file %s, want none", text, got)
		}
	}
}

// TestIndexes parses the lists of indexes of a Job's status.
func TestIndexes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"": "", "0": "0", "1,3-5": "1345", "7-": "", "a,2": "2", "0-9999999999": "0123456789"} {
		got := ""
		for i := range 10 {
			if indexes(text).has(i) {
				got += string(rune('0' + i))
			}
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// TestLocator finds the replica and attempt of pods.
func TestLocator(t *testing.T) {
	t.Parallel()
	for name, attempts := range map[string]int{"job_retried": 2, "jobset_retried": 2, "volcano_retried": 2, "jobset_elastic": 0} {
		s := recorded(t, name)
		locate := s.Locator()
		latest := 0
		for i := range s.Pods {
			r, attempt, ok := locate(&s.Pods[i])
			if !ok || r.Role != "r" {
				t.Errorf("%s: got %+v, %v for pod %s, want role r", name, r, ok, s.Pods[i].Name)
			}
			latest = max(latest, attempt)
		}
		if latest != attempts {
			t.Errorf("%s: got latest attempt %d, want %d", name, latest, attempts)
		}
		if _, _, ok := locate(&corev1.Pod{}); ok {
			t.Errorf("%s: got a replica for a pod without labels, want none", name)
		}
	}
}

// TestRolesFromApp: names and required replicas of roles are those of the submitted app.
func TestRolesFromApp(t *testing.T) {
	t.Parallel()
	role := spec.NewRole("Röle", "i")
	role.NumReplicas = 2
	n, mode := int32(2), batchv1.IndexedCompletion
	job := batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "j"}}
	job.Spec = batchv1.JobSpec{Completions: &n, CompletionMode: &mode}
	job.Spec.Template.Labels = map[string]string{kube.LabelRole: "R.le", kube.LabelRoleIndex: "0"}
	s := (&Observation{App: &spec.App{Roles: []spec.Role{role}}, Jobs: []batchv1.Job{job}}).Status()
	if len(s.Roles) != 1 || s.Roles[0].Role != "Röle" || len(s.Roles[0].Replicas) != 2 {
		t.Errorf(`roles %+v, want len(s.Roles) == 1 and s.Roles[0].Role == "Röle" and len(s.Roles[0].Replicas) == 2`, s.Roles)
	}
}

// addRole adds a role to the app that was submitted.
func addRole(role string) func(s *Observation) {
	return func(s *Observation) { s.App.Roles = append(s.App.Roles, spec.NewRole(role, "image")) }
}

// hidePods makes s what a user sees who may not list pods.
func hidePods(s *Observation) { s.Pods, s.Gone, s.PodsHidden = nil, nil, true }
