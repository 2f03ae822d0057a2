package kube

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Object is what is read of an object whose kind does not matter.
type Object struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
}

// VolcanoJob is what is read of a batch.volcano.sh/v1alpha1 Job (volcano.sh/apis).
type VolcanoJob struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Queue        string          `json:"queue"`
		MinAvailable int32           `json:"minAvailable"`
		MaxRetry     int32           `json:"maxRetry"` // attempts, the first included
		Tasks        []VolcanoTask   `json:"tasks"`
		Policies     []VolcanoPolicy `json:"policies"`
	} `json:"spec"`
	Status VolcanoStatus `json:"status"`
}

// VolcanoTask is one kind of pods of a VolcanoJob.
type VolcanoTask struct {
	Name         string                 `json:"name"`
	Replicas     int32                  `json:"replicas"`
	MinAvailable *int32                 `json:"minAvailable"`
	Template     corev1.PodTemplateSpec `json:"template"`
	Policies     []VolcanoPolicy        `json:"policies"`
}

// VolcanoPolicy says what happens after an event of a pod.
type VolcanoPolicy struct {
	Action string   `json:"action"`
	Event  string   `json:"event"`
	Events []string `json:"events"`
}

// VolcanoStatus is how a VolcanoJob is doing.
type VolcanoStatus struct {
	State struct {
		Phase              string      `json:"phase"`
		Reason             string      `json:"reason"`
		Message            string      `json:"message"`
		LastTransitionTime metav1.Time `json:"lastTransitionTime"`
	} `json:"state"`
	Version      int32 `json:"version"`    // goes up with each restart
	RetryCount   int32 `json:"retryCount"` // restarts that happened, those of commands included
	MinAvailable int32 `json:"minAvailable"`
	Pending      int32 `json:"pending"`
	Running      int32 `json:"running"`
	Succeeded    int32 `json:"succeeded"`
	Failed       int32 `json:"failed"`
	Terminating  int32 `json:"terminating"`
	Unknown      int32 `json:"unknown"`
	// TaskStatusCount counts the pods of each task.
	TaskStatusCount map[string]struct {
		Phase map[corev1.PodPhase]int32 `json:"phase"`
	} `json:"taskStatusCount"`
	Conditions []struct {
		Status             string       `json:"status"`
		LastTransitionTime *metav1.Time `json:"lastTransitionTime"`
	} `json:"conditions"`
}

// VolcanoQueue is what is read of a scheduling.volcano.sh/v1beta1 Queue.
type VolcanoQueue struct {
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Capability corev1.ResourceList `json:"capability"`
	} `json:"spec"`
	Status struct {
		State string `json:"state"`
	} `json:"status"`
}

// PodGroup is what is read of a scheduling.volcano.sh/v1beta1 PodGroup.
type PodGroup struct {
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		MinMember     int32               `json:"minMember"`
		MinTaskMember map[string]int32    `json:"minTaskMember"`
		Queue         string              `json:"queue"`
		MinResources  corev1.ResourceList `json:"minResources"`
	} `json:"spec"`
	Status struct {
		Phase      string `json:"phase"`
		Conditions []struct {
			Type               string      `json:"type"`
			Status             string      `json:"status"`
			Reason             string      `json:"reason"`
			Message            string      `json:"message"`
			LastTransitionTime metav1.Time `json:"lastTransitionTime"`
		} `json:"conditions"`
		Running   int32 `json:"running"`
		Succeeded int32 `json:"succeeded"`
		Failed    int32 `json:"failed"`
	} `json:"status"`
}

// JobSet is what is read of a jobset.x-k8s.io/v1alpha2 JobSet.
type JobSet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Suspend        *bool           `json:"suspend"`
		ReplicatedJobs []ReplicatedJob `json:"replicatedJobs"`
		FailurePolicy  struct {
			MaxRestarts int32 `json:"maxRestarts"`
		} `json:"failurePolicy"`
	} `json:"spec"`
	Status struct {
		Conditions           []metav1.Condition `json:"conditions"`
		Restarts             int32              `json:"restarts"`
		CountedRestarts      int32              `json:"restartsCountTowardsMax"`
		TerminalState        string             `json:"terminalState"` // Completed or Failed
		ReplicatedJobsStatus []struct {
			Name      string `json:"name"`
			Ready     int32  `json:"ready"`
			Succeeded int32  `json:"succeeded"`
			Failed    int32  `json:"failed"`
			Active    int32  `json:"active"`
			Suspended int32  `json:"suspended"`
		} `json:"replicatedJobsStatus"`
	} `json:"status"`
}

// ReplicatedJob is one kind of jobs of a JobSet.
type ReplicatedJob struct {
	Name     string                  `json:"name"`
	Replicas int32                   `json:"replicas"`
	Template batchv1.JobTemplateSpec `json:"template"`
}
