package kubernetes

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"torchx/backends/kubernetes/manifest"
	"torchx/runtime/spec"
)

// saveTime bounds how long a cancel waits for logs.
const saveTime = 10 * time.Second

// saveLogs archives what the cluster has of an app's logs before it is stopped, since
// they go with its pods, and says what is lost. Nothing keeps the app from its end.
func (b *Backend) saveLogs(ctx context.Context, id string) {
	ctx, cancel := context.WithTimeout(ctx, saveTime)
	defer cancel()
	s, err := b.archive(id, "").Save(ctx)
	switch {
	case err != nil:
		b.warn("logs of %s are lost, they could not be archived before it is stopped: %v", manifest.Handle(id), err)
	case len(s.Missing) > 0:
		b.warn("logs of %s of %s could not all be archived within %s, the rest is lost", replicasText(s.Missing), manifest.Handle(id), saveTime)
	case !s.Followed:
		b.warn("logs so far are archived; what replicas write while they stop is lost (-cfg archive=true keeps it, and so does `torchx log -t`)")
	}
}

func (b *Backend) warn(format string, args ...any) {
	if b.config.Warn != nil {
		b.config.Warn(fmt.Sprintf(format, args...))
	}
}

// replicasText names a few replicas.
func replicasText(all []spec.Replica) string {
	const most = 3
	slices.SortFunc(all, func(x, y spec.Replica) int { return cmp.Or(strings.Compare(x.Role, y.Role), x.ID-y.ID) })
	var names []string
	for _, r := range all[:min(most, len(all))] {
		names = append(names, fmt.Sprintf("%s/%d", r.Role, r.ID))
	}
	text := strings.Join(names, ", ")
	if more := len(all) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
