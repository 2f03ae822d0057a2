// Package label defines the labels and annotations by which the objects and pods of an app
// are found on a cluster.
package label

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Labels of every object and pod of an app; they are those of TorchX.
const (
	Version   = "torchx.pytorch.org/version"
	AppName   = "torchx.pytorch.org/app-name"
	RoleIndex = "torchx.pytorch.org/role-index" // from 0, decimal; pods only
	Role      = "torchx.pytorch.org/role-name"  // pods only
	Replica   = "torchx.pytorch.org/replica-id" // from 0, decimal; not on a template of several replicas

	Name      = "app.kubernetes.io/name"       // of the app
	ManagedBy = "app.kubernetes.io/managed-by" // Manager
	Instance  = "app.kubernetes.io/instance"   // name of the app within its namespace

	// Manager is the value of ManagedBy.
	Manager = "torchx.pytorch.org"

	// Kueue is the label with the name of a Job's or JobSet's Kueue queue.
	Kueue = "kueue.x-k8s.io/queue-name"
	// KueuePriority is the label with the name of a Job's or JobSet's Kueue priority class.
	KueuePriority = "kueue.x-k8s.io/priority-class"
	// KueueJobUID is the label of a Kueue Workload with the UID of its Job or JobSet.
	KueueJobUID = "kueue.x-k8s.io/job-uid"
	// KueueWorkload is the label of a Job or JobSet with the name of a Workload that another
	// client makes for it.
	KueueWorkload = "kueue.x-k8s.io/prebuilt-workload-name"
	// KueueTimeLimit is the label with how long a Job or JobSet may run, in seconds.
	KueueTimeLimit = "kueue.x-k8s.io/max-exec-time-seconds"
)

// Annotations that torchx sets on the main object of an app.
const (
	// Cancelled holds the time at which the app was canceled, RFC 3339.
	Cancelled = "torchx.pytorch.org/cancelled"
	// CancelReason holds why it was canceled, if that is known.
	CancelReason = "torchx.pytorch.org/cancel-reason"
	// App holds the submission (manifest.Record): JSON, or its gzip in base64.
	App = "torchx.pytorch.org/app"
	// Submission is the same random text on all objects of one submission.
	Submission = "torchx.pytorch.org/submission"
)

// Labels and annotations that controllers add to pods.
const (
	// CompletionIndex is the annotation (and label) with the index of a pod of an Indexed Job.
	CompletionIndex = "batch.kubernetes.io/job-completion-index"
	// JobName is the label with the name of a pod's batch/v1 Job.
	JobName = "batch.kubernetes.io/job-name"
	// JobSetName is the label of pods and Jobs with the name of their JobSet.
	JobSetName = "jobset.sigs.k8s.io/jobset-name"
	// JobSetRestart is the label of pods and Jobs with the number of restarts of the JobSet
	// before them.
	JobSetRestart = "jobset.sigs.k8s.io/restart-attempt"
	// VolcanoJob is the label (and annotation) with the name of a pod's Volcano Job.
	VolcanoJob = "volcano.sh/job-name"
	// VolcanoTask is the annotation (and label) with the task of a pod.
	VolcanoTask = "volcano.sh/task-spec"
	// VolcanoIndex is the annotation (and label) with the index of a pod in its task.
	VolcanoIndex = "volcano.sh/task-index"
	// VolcanoRetry is the annotation with the number of restarts of the Volcano Job before the pod.
	VolcanoRetry = "volcano.sh/job-retry-count"
)

// maxValue is the maximum length of a label's value in bytes.
const maxValue = 63

// HashLength is the number of hexadecimal digits in a shortened name.
const HashLength = 8

// Selector returns the selector of all objects and pods of an app.
func Selector(app string) string {
	return ManagedBy + "=" + Manager + "," + Instance + "=" + app
}

// Match returns the labels that Selector selects.
func Match(app string) map[string]string {
	return map[string]string{ManagedBy: Manager, Instance: app}
}

// Value returns s as a valid value of a label: at most 63 letters, digits, '-', '_' and '.',
// with a letter or digit at both ends. Longer ones are shortened.
func Value(s string) string {
	clean := strings.Map(func(c rune) rune {
		if alphanumeric(c) || c == '-' || c == '_' || c == '.' {
			return c
		}
		return '.'
	}, s)
	clean = strings.TrimFunc(clean, func(c rune) bool { return !alphanumeric(c) })
	return Shorten(clean, maxValue, s)
}

// Shorten returns s if it has at most limit bytes, else its beginning and a hash of whole.
func Shorten(s string, limit int, whole string) string {
	if len(s) <= limit {
		return s
	}
	return strings.TrimRight(s[:max(0, limit-HashLength-1)], "-") + "-" + Hash(whole)
}

// Hash returns HashLength hexadecimal digits of the SHA-256 of s.
func Hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])[:HashLength]
}

func alphanumeric(c rune) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}
