package kubernetes

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"torchx/backends/kubernetes/kube"
)

const (
	// overdueTime is how long a pod may take to end after its grace period. Then its node is taken
	// for lost: a node that answers kills the pod.
	overdueTime  = 10 * time.Second
	overdueEvery = time.Second
)

// overdue finds pods that should have ended. It may be used by several goroutines.
type overdue struct {
	mu  sync.Mutex
	due map[types.UID]duePod
}

// duePod is a pod that is ending.
type duePod struct {
	name string
	at   time.Time // when it is overdue, by this machine's clock
}

// note notes which pods are ending.
func (o *overdue) note(pods []corev1.Pod, now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	due := map[types.UID]duePod{}
	for i := range pods {
		p := &pods[i]
		if p.DeletionTimestamp == nil {
			continue
		}
		one, known := o.due[p.UID]
		if !known {
			one = duePod{p.Name, now.Add(overdueTime)}
			if grace := p.DeletionGracePeriodSeconds; grace != nil {
				one.at = one.at.Add(time.Duration(*grace) * time.Second)
			}
		}
		due[p.UID] = one
	}
	o.due = due
}

// late returns the names of the overdue pods.
func (o *overdue) late(now time.Time) map[types.UID]string {
	o.mu.Lock()
	defer o.mu.Unlock()
	names := map[types.UID]string{}
	for uid, p := range o.due {
		if now.After(p.at) {
			names[uid] = p.name
		}
	}
	return names
}

// killOverdue deletes the overdue pods without waiting for their nodes, best effort.
func (t *target) killOverdue(ctx context.Context, o *overdue) {
	for uid, name := range o.late(time.Now()) {
		_ = t.Delete(ctx, kube.Pods, t.namespace, name, uid, new(int64(0))) // tried again
	}
}

// keepKilling calls killOverdue until stop is called.
func (t *target) keepKilling(ctx context.Context, o *overdue) (stop func()) {
	return repeat(ctx, overdueEvery, func(ctx context.Context) { t.killOverdue(ctx, o) })
}
