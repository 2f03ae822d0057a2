package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"torchx/backends/kubernetes/kube"
	"torchx/backends/kubernetes/observe"
	"torchx/backends/kubernetes/podarchive"
	"torchx/backends/logcopy"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// logCluster implements podarchive.Cluster for one app.
type logCluster struct {
	backend *Backend
	id      string
	stream  backend.Stream // "" is both
	// isPatient waits while the credentials are refused: they may be renewed.
	isPatient bool

	// found is where the app was when it was last observed. Each log is opened there: finding it
	// thousands of times would take longer than the requests.
	found atomic.Pointer[target]
}

// target finds the app for an observation.
func (c *logCluster) target(ctx context.Context) (*target, error) {
	t, err := c.backend.target(ctx, c.id)
	if err == nil {
		same := *t // observing changes t
		c.found.Store(&same)
	}
	return t, err
}

// Snapshot implements podarchive.Cluster.
func (c *logCluster) Snapshot(ctx context.Context) (*podarchive.Snapshot, error) {
	t, err := c.target(ctx)
	if err != nil {
		return nil, err
	}
	if s := c.backend.takeDescribed(c.id); s != nil {
		return s, nil
	}
	began := time.Now()
	seen, err := t.observe(ctx)
	if err != nil {
		return nil, err
	}
	s := t.snapshot(seen)
	s.Took = time.Since(began)
	return s, nil
}

// awayPause is the pause between attempts to watch an unreachable cluster; only ctx ends them.
const awayPause = 10 * time.Second

// Watch implements podarchive.Cluster.
func (c *logCluster) Watch(ctx context.Context, see func(*podarchive.Snapshot)) error {
	t, err := c.target(ctx)
	if err != nil {
		return err
	}
	var last *observe.Observation
	for {
		err := t.follow(ctx, func(seen *observe.Observation) bool {
			last = seen
			s := t.snapshot(seen)
			see(s)
			return s.Status.State.Terminal()
		})
		if err == nil {
			return t.hidden
		}
		if errors.Is(err, backend.ErrNotFound) {
			if end := c.endOf(ctx, t, last); end != nil {
				see(&podarchive.Snapshot{Status: end})
				return nil
			}
		}
		if !errors.Is(err, backend.ErrUnavailable) || apierrors.IsUnauthorized(err) && !c.isPatient {
			return err
		}
		if err := kube.Sleep(ctx, awayPause); err != nil {
			return err
		}
	}
}

// endOf returns how an app ended that the cluster no longer has, nil if that is not known.
func (c *logCluster) endOf(ctx context.Context, t *target, last *observe.Observation) *spec.Status {
	if last == nil || last.App == nil {
		return nil
	}
	s := t.status(last)
	if !c.backend.FindEnd(ctx, c.id, last.App, s) || !s.State.Terminal() {
		return nil
	}
	return s
}

// snapshot returns the runs of an app's containers.
func (t *target) snapshot(seen *observe.Observation) *podarchive.Snapshot {
	s := &podarchive.Snapshot{Status: t.status(seen), Hidden: t.hidden}
	t.observers.Notify(t.id, s.Status)
	locate := seen.Locator()
	for i := range seen.Pods {
		pod := &seen.Pods[i]
		replica, attempt, ok := locate(pod)
		if !ok {
			continue
		}
		s.Runs = append(s.Runs, runsOf(pod, podarchive.Run{
			Replica: replica, Attempt: attempt, Pod: pod.Name, UID: string(pod.UID), Node: pod.Spec.NodeName, Created: pod.CreationTimestamp.Time,
		})...)
	}
	return s
}

// runsOf returns the runs of a pod's containers whose logs the node may have.
func runsOf(pod *corev1.Pod, of podarchive.Run) (all []podarchive.Run) {
	add := func(specs []corev1.Container, list []corev1.ContainerStatus, init bool) {
		for i := range specs {
			r := of
			// A controller that names its pods may create another pod of the same name, and a
			// kubelet may start another run in the same pod.
			r.InPlace = init || pod.Spec.RestartPolicy != corev1.RestartPolicyNever
			r.Verify = pod.GenerateName == "" || r.InPlace
			if r.Name = specs[i].Name; init || i > 0 {
				r.Container = r.Name
			}
			all = append(all, containerRuns(pod, statusOf(list, specs[i].Name), r)...)
		}
	}
	add(pod.Spec.Containers, pod.Status.ContainerStatuses, false)
	add(pod.Spec.InitContainers, pod.Status.InitContainerStatuses, true)
	return all
}

func statusOf(list []corev1.ContainerStatus, name string) *corev1.ContainerStatus {
	for i := range list {
		if list[i].Name == name {
			return &list[i]
		}
	}
	return nil
}

// containerRuns returns the current run of a container and the previous one.
func containerRuns(pod *corev1.Pod, s *corev1.ContainerStatus, r podarchive.Run) []podarchive.Run {
	podEnded := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
	r.State = logcopy.Waiting
	if podEnded {
		r.State = logcopy.NeverStarted
	}
	if s == nil {
		return []podarchive.Run{r}
	}
	r.Restart = int(s.RestartCount)
	last := s.LastTerminationState.Terminated
	switch {
	case s.State.Running != nil:
		r.State = logcopy.Running
	case s.State.Terminated != nil:
		r.State = ended(s.State.Terminated)
	case last != nil: // it waits for its restart
		r.State = ended(last)
		return []podarchive.Run{r}
	}
	if last == nil || r.Restart == 0 {
		return []podarchive.Run{r}
	}
	before := r
	before.Restart, before.Previous, before.State, before.NextStarted = r.Restart-1, true, ended(last), startOf(s.State)
	return []podarchive.Run{before, r}
}

// startOf returns when a container started; zero if it has not.
func startOf(s corev1.ContainerState) time.Time {
	switch {
	case s.Running != nil:
		return s.Running.StartedAt.Time
	case s.Terminated != nil:
		return s.Terminated.StartedAt.Time
	}
	return time.Time{}
}

// ended returns the state of a terminated container; one that failed to start has no log.
func ended(s *corev1.ContainerStateTerminated) logcopy.State {
	switch {
	case s.ContainerID == "", s.Reason == "StartError", s.Reason == "ContainerCannotRun":
		return logcopy.NeverStarted
	}
	return logcopy.Ended
}

// Open implements podarchive.Cluster.
func (c *logCluster) Open(
	ctx context.Context, r podarchive.Run, o logcopy.Options,
) (io.ReadCloser, error) {
	t := c.found.Load()
	if t == nil { // another part of the program observes the app
		var err error
		if t, err = c.target(ctx); err != nil {
			return nil, err
		}
	}
	if r.InPlace && !r.Previous && (r.State == logcopy.Ended || o.AfterEOF || !o.Since.IsZero()) {
		if err := t.reported(ctx, r, o.AfterEOF); err != nil {
			return nil, c.logError(err, r)
		}
	}
	body, err := t.Stream(ctx, kube.Pods, t.namespace, r.Pod, "log", logParams(r, o, c.stream))
	if err != nil {
		return nil, c.logError(err, r)
	}
	if !r.Verify {
		return body, nil
	}
	// Check after opening the log: a pod that is checked before may be replaced meanwhile.
	pod := &corev1.Pod{}
	if err = t.Get(ctx, kube.Pods, t.namespace, r.Pod, pod); err == nil {
		err = verify(pod, r)
	}
	if err != nil {
		body.Close()
		return nil, c.logError(err, r)
	}
	return body, nil
}

var errReplaced = errors.New("the pod or its container was replaced")

const (
	// reportTime bounds the wait for a kubelet to report the end of a container. It starts the
	// next run, and sends its log, before that. endTime is longer, for a container that has
	// probably ended; the reading of a live log should not be delayed.
	reportTime  = 5 * time.Second
	endTime     = 30 * time.Second
	reportEvery = 250 * time.Millisecond
)

// reported waits until the kubelet has reported the state of a run whose log was cut off. It
// returns an error if another run has replaced the run.
func (t *target) reported(ctx context.Context, r podarchive.Run, ended bool) error {
	deadline := time.Now().Add(reportTime)
	if ended {
		deadline = time.Now().Add(endTime)
	}
	for {
		pod := &corev1.Pod{}
		err := t.Get(ctx, kube.Pods, t.namespace, r.Pod, pod)
		if err == nil {
			err = verify(pod, r)
		}
		if err != nil {
			return err
		}
		s := statusOf(append(pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses...), r.Name)
		if s == nil || !replaceable(pod, s) || time.Now().After(deadline) {
			return nil
		}
		if err := kube.Sleep(ctx, reportEvery); err != nil {
			return err
		}
	}
}

// replaceable reports whether the next run of a container may have started unreported.
func replaceable(pod *corev1.Pod, s *corev1.ContainerStatus) bool {
	switch end := s.State.Terminated; {
	case s.State.Running != nil:
		return true
	case end == nil, pod.Status.Phase == corev1.PodSucceeded, pod.Status.Phase == corev1.PodFailed:
		return false
	default:
		return end.ExitCode != 0 || pod.Spec.RestartPolicy == corev1.RestartPolicyAlways
	}
}

func verify(pod *corev1.Pod, r podarchive.Run) error {
	if string(pod.UID) != r.UID {
		return errReplaced
	}
	s := statusOf(append(pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses...), r.Name)
	restart := r.Restart
	if r.Previous {
		restart++
	}
	if s != nil && int(s.RestartCount) != restart {
		return errReplaced
	}
	return nil
}

func logParams(r podarchive.Run, o logcopy.Options, stream backend.Stream) map[string]string {
	p := map[string]string{"timestamps": "true", "container": r.Name}
	if o.Follow {
		p["follow"] = "true"
	}
	if r.Previous {
		p["previous"] = "true"
	}
	if !o.Since.IsZero() {
		p["sinceTime"] = o.Since.UTC().Format(time.RFC3339)
	}
	if stream != "" {
		p["stream"] = apiStream(stream)
	}
	if o.Tail > 0 && stream == "" { // the server refuses both; the last lines are in all lines
		p["tailLines"] = strconv.FormatInt(o.Tail, 10)
	}
	return p
}

// logError classifies a failure for the archive; any other may be temporary.
func (c *logCluster) logError(err error, r podarchive.Run) error {
	switch {
	case errors.Is(err, kube.ErrForbidden), apierrors.IsUnauthorized(err) && !c.isPatient:
		return classed{err, logcopy.ErrRefused}
	case errors.Is(err, backend.ErrNotFound):
		return logcopy.ErrGone
	case apierrors.IsBadRequest(err) && strings.Contains(err.Error(), "waiting to start"):
		return logcopy.ErrNotStarted
	case errors.Is(err, backend.ErrUnavailable):
		return awayError(err, r)
	}
	return err
}

// awayError tells a node that does not answer from a cluster that does not. The server quotes its
// request to the node: `Get "https://10.0.0.1:10250/containerLogs/…": dial tcp …`.
func awayError(err error, r podarchive.Run) error {
	var answer apierrors.APIStatus
	if !errors.As(err, &answer) {
		return classed{err, podarchive.ErrServerAway}
	}
	text := answer.Status().Message
	if _, why, ok := strings.Cut(text, `": `); ok && strings.Contains(text, "/containerLogs/") {
		return classed{fmt.Errorf("node %s does not send logs (see `kubectl describe node %[1]s`): %s", r.Node, why), podarchive.ErrNodeAway}
	}
	if answer.Status().Code == http.StatusInternalServerError {
		return err // of this log
	}
	return classed{err, podarchive.ErrServerAway}
}
