package manifest

import (
	"encoding/json"
	"errors"
	"fmt"

	"torchx/backends/kubernetes/kube"
	"torchx/runtime/backend"
)

const (
	// storeLimit is what etcd takes in one request, as it is set up where nobody says
	// otherwise (--max-request-bytes).
	storeLimit = 3 << 19
	// taskGrowth is what the cluster adds to a Volcano Job for each task: defaults, and
	// its part of the status (1.10: about 120 and 60 bytes).
	taskGrowth = 192
)

// checkSize refuses a Volcano Job that the cluster's store could not hold, or not with
// its status: that would show when all else is done, or never.
func (r *Request) CheckSize() error {
	job, ok := r.Objects[0].(*VolcanoJob)
	if !ok {
		return nil
	}
	data, err := json.Marshal(job)
	if err != nil {
		return err
	}
	size := len(data) + taskGrowth*len(job.Spec.Tasks)
	if size <= storeLimit {
		return nil
	}
	return ExplainTooLarge(backend.Errorf(kube.ErrTooLarge, "a Volcano Job of %d replicas takes %s of the cluster's store, which has room for objects of %s",
		len(job.Spec.Tasks), sizeText(size), sizeText(storeLimit)), FormVolcano)
}

// sizeText rounds to what fits into a sentence.
func sizeText(n int) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }

// tooLarge says what helps against an object that the cluster's store cannot hold.
func ExplainTooLarge(err error, f Form) error {
	if f != FormVolcano || !errors.Is(err, kube.ErrTooLarge) {
		return err
	}
	return fmt.Errorf("%w: gang=volcano describes each replica, use -cfg gang=jobset or gang=job, which describe each role", err)
}
