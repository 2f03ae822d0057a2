package kube

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Labels of every object and pod of an app; they are those of TorchX.
const (
	LabelVersion   = "torchx.pytorch.org/version"
	LabelAppName   = "torchx.pytorch.org/app-name"
	LabelRoleIndex = "torchx.pytorch.org/role-index" // from 0, decimal; pods only
	LabelRole      = "torchx.pytorch.org/role-name"  // pods only
	LabelReplica   = "torchx.pytorch.org/replica-id" // from 0, decimal; not on a template of several replicas

	LabelName      = "app.kubernetes.io/name"       // of the app
	LabelManagedBy = "app.kubernetes.io/managed-by" // Manager
	LabelInstance  = "app.kubernetes.io/instance"   // name of the app within its namespace

	// Manager is the value of LabelManagedBy.
	Manager = "torchx.pytorch.org"

	// LabelKueue is the label with the name of a Job's or JobSet's Kueue queue.
	LabelKueue = "kueue.x-k8s.io/queue-name"
	// LabelKueuePriority is the label with the name of a Job's or JobSet's Kueue priority class.
	LabelKueuePriority = "kueue.x-k8s.io/priority-class"
	// LabelKueueJobUID is the label of a Kueue Workload with the UID of its Job or JobSet.
	LabelKueueJobUID = "kueue.x-k8s.io/job-uid"
	// LabelKueueWorkload is the label of a Job or JobSet with the name of a Workload that another
	// client makes for it.
	LabelKueueWorkload = "kueue.x-k8s.io/prebuilt-workload-name"
	// LabelKueueTimeLimit is the label with how long a Job or JobSet may run, in seconds.
	LabelKueueTimeLimit = "kueue.x-k8s.io/max-exec-time-seconds"
)

// Annotations that torchx sets on the main object of an app.
const (
	// AnnotationCancelled holds the time at which the app was canceled, RFC 3339.
	AnnotationCancelled = "torchx.pytorch.org/cancelled"
	// AnnotationCancelReason holds why it was canceled, if that is known.
	AnnotationCancelReason = "torchx.pytorch.org/cancel-reason"
	// AnnotationCancelFailed is there if it was canceled because it could not start.
	AnnotationCancelFailed = "torchx.pytorch.org/cancel-failed"
	// AnnotationApp holds the submission (manifest.Record): JSON, or its gzip in base64.
	AnnotationApp = "torchx.pytorch.org/app"
	// AnnotationSubmission is the same random text on all objects of one submission.
	AnnotationSubmission = "torchx.pytorch.org/submission"
)

// Labels and annotations that controllers add to pods.
const (
	// AnnotationCompletionIndex is the annotation (and label) with the index of a pod of an
	// Indexed Job.
	AnnotationCompletionIndex = "batch.kubernetes.io/job-completion-index"
	// LabelJobName is the label with the name of a pod's batch/v1 Job.
	LabelJobName = "batch.kubernetes.io/job-name"
	// LabelJobSetName is the label of pods and Jobs with the name of their JobSet.
	LabelJobSetName = "jobset.sigs.k8s.io/jobset-name"
	// LabelJobSetRestart is the label of pods and Jobs with the number of restarts of the JobSet
	// before them.
	LabelJobSetRestart = "jobset.sigs.k8s.io/restart-attempt"
	// LabelVolcanoJob is the label (and annotation) with the name of a pod's Volcano Job.
	LabelVolcanoJob = "volcano.sh/job-name"
	// AnnotationVolcanoTask is the annotation (and label) with the task of a pod.
	AnnotationVolcanoTask = "volcano.sh/task-spec"
	// AnnotationVolcanoIndex is the annotation (and label) with the index of a pod in its task.
	AnnotationVolcanoIndex = "volcano.sh/task-index"
	// AnnotationVolcanoRetry is the annotation with the number of restarts of the Volcano Job before the
	// pod.
	AnnotationVolcanoRetry = "volcano.sh/job-retry-count"
)

// maxLabelValue is the maximum length of a label's value in bytes.
const maxLabelValue = 63

// HashLength is the number of hexadecimal digits in a shortened name.
const HashLength = 8

// AppSelector returns the selector of all objects and pods of an app.
func AppSelector(app string) string {
	return LabelManagedBy + "=" + Manager + "," + LabelInstance + "=" + app
}

// AppLabels returns the labels that AppSelector selects.
func AppLabels(app string) map[string]string {
	return map[string]string{LabelManagedBy: Manager, LabelInstance: app}
}

// LabelValue returns s as a valid value of a label: at most 63 letters, digits, '-', '_' and '.',
// with a letter or digit at both ends. Longer ones are shortened.
func LabelValue(s string) string {
	clean := strings.Map(func(c rune) rune {
		if alphanumeric(c) || c == '-' || c == '_' || c == '.' {
			return c
		}
		return '.'
	}, s)
	clean = strings.TrimFunc(clean, func(c rune) bool { return !alphanumeric(c) })
	return Shorten(clean, maxLabelValue, s)
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
