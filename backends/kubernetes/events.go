package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"torchx/backends/kubernetes/kube"
	"torchx/backends/kubernetes/observe"
	"torchx/runtime/backend"
)

// Events implements backend.EventLister: it returns the events of the app's pods and main objects,
// which clusters keep for an hour, also after the app is deleted.
func (b *Backend) Events(ctx context.Context, id string) ([]backend.Event, error) {
	t, err := b.target(ctx, id)
	if err != nil {
		return nil, err
	}
	seen, err := t.observe(ctx)
	if errors.Is(err, backend.ErrNotFound) {
		seen, err = &observe.Observation{}, nil
	}
	if err != nil {
		return nil, err
	}
	list, err := t.listEvents(ctx)
	if errors.Is(err, kube.ErrForbidden) {
		t.warnOnce(fmt.Sprintf("%s: you may not list events in namespace %s, so those of the cluster are missing", t.Client, t.namespace))
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	locate := seen.Locator()
	pods := map[string]*corev1.Pod{}
	for i := range seen.Pods {
		pods[seen.Pods[i].Name] = &seen.Pods[i]
	}
	var all []backend.Event
	for i := range list {
		e := &list[i]
		name := e.InvolvedObject.Name
		if name != t.name && !strings.HasPrefix(name, t.name+"-") {
			continue
		}
		event := backend.Event{Time: observe.EventTime(e).UTC(), Msg: fmt.Sprintf("%s %s: %s", strings.ToLower(e.InvolvedObject.Kind), name, observe.EventText(e))}
		if pod := pods[name]; pod != nil && e.InvolvedObject.Kind == "Pod" && e.InvolvedObject.UID == pod.UID {
			if r, attempt, ok := locate(pod); ok {
				event.Replica, event.Attempt = &r, attempt
			}
		}
		all = append(all, event)
	}
	slices.SortStableFunc(all, func(a, b backend.Event) int { return a.Time.Compare(b.Time) })
	return all, nil
}
