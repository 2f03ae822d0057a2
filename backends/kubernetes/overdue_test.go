package kubernetes

import (
	"maps"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// TestOverdue: a pod is overdue when it has been ending for longer than its grace period and a
// margin, and only while it exists.
func TestOverdue(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_700_000_000, 0)
	pod := func(name string, ends bool, grace *int64) corev1.Pod {
		p := corev1.Pod{}
		p.Name, p.UID, p.DeletionGracePeriodSeconds = name, types.UID(name), grace
		if ends {
			p.DeletionTimestamp = &metav1.Time{Time: now.Add(-time.Hour)} // by the clock of the server
		}
		return p
	}
	pods := []corev1.Pod{pod("runs", false, nil), pod("slow", true, new(int64(30))), pod("quick", true, new(int64(0)))}
	o := &overdue{}
	for _, c := range []struct {
		after time.Duration
		pods  []corev1.Pod
		want  []string
	}{
		{0, pods, nil},
		{overdueTime, pods, nil},
		{overdueTime + time.Second, pods, []string{"quick"}},
		{overdueTime + 31*time.Second, pods, []string{"quick", "slow"}},
		{overdueTime + 32*time.Second, pods[:2], []string{"slow"}},
	} {
		o.note(c.pods, now.Add(c.after))
		if got := slices.Sorted(maps.Values(o.late(now.Add(c.after)))); !slices.Equal(got, c.want) {
			t.Errorf("after %v: got %v, want %v", c.after, got, c.want)
		}
	}
}
