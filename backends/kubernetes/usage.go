package kubernetes

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"torchx/backends/archive"
	"torchx/backends/kubernetes/kube"
	"torchx/backends/kubernetes/podarchive"
	"torchx/runtime/metrics"
	"torchx/runtime/metrics/collect"
	"torchx/runtime/sample"
	"torchx/runtime/spec"
)

var (
	errNoMetrics = errors.New("the cluster does not serve metrics.k8s.io (install metrics-server)")
	errNoPods    = errors.New("metrics.k8s.io knows none of its pods yet")
)

// UsageDir returns the archive: the agent of an app with archive=true appends samples to it.
func (b *Backend) UsageDir(_ context.Context, id string) (dir, missing string) {
	dir = b.FolderOf(id)
	if i, err := archives.Read(dir); err != nil || !i.Agent {
		missing = "pods are recorded only with -cfg archive=true"
	}
	return dir, missing
}

// Usage returns what the running replicas of an app use now. Errors: ErrNotFound, ErrUnavailable,
// or that the cluster does not know.
func (b *Backend) Usage(ctx context.Context, id string) (map[spec.Replica]sample.Reading, error) {
	t, err := b.target(ctx, id)
	if err != nil {
		return nil, err
	}
	pods, err := t.podUsage(ctx)
	if err != nil {
		return nil, err
	}
	seen, err := t.observe(ctx)
	if err != nil {
		return nil, err
	}
	found := map[spec.Replica]sample.Reading{}
	locate := seen.Locator()
	for i := range seen.Pods {
		pod := &seen.Pods[i]
		r, _, ok := locate(pod)
		if reading, known := pods[pod.Name]; ok && known && pod.Status.Phase == corev1.PodRunning {
			found[r] = reading
		}
	}
	if len(found) == 0 {
		return nil, errNoPods
	}
	return found, nil
}

// Usage implements podarchive.Meter.
func (c *logCluster) Usage(ctx context.Context) (map[string]sample.Reading, error) {
	t, err := c.backend.target(ctx, c.id)
	if err != nil {
		return nil, err
	}
	return t.podUsage(ctx)
}

// podUsage returns what the pods of the app use, by name, with one request.
func (t *target) podUsage(ctx context.Context) (map[string]sample.Reading, error) {
	pods, err := kube.List[kube.PodUsage](ctx, t.Client, kube.PodMetrics, t.namespace,
		kube.ListOptions{LabelSelector: kube.AppSelector(t.name)})
	switch {
	case apierrors.IsNotFound(err):
		return nil, errNoMetrics
	case apierrors.IsServiceUnavailable(err):
		return nil, fmt.Errorf("metrics.k8s.io does not answer: %w", err)
	case err != nil:
		return nil, err
	}
	found := make(map[string]sample.Reading, len(pods))
	for i := range pods {
		found[pods[i].Name] = podReading(&pods[i])
	}
	return found, nil
}

// podReading adds up the containers of a pod.
func podReading(p *kube.PodUsage) (r sample.Reading) {
	var percent float64
	var memory int64
	for _, c := range p.Containers {
		if q, ok := c.Usage[corev1.ResourceCPU]; ok {
			percent += 100 * q.AsApproximateFloat64()
			r.Rate = &percent
		}
		if q, ok := c.Usage[corev1.ResourceMemory]; ok {
			memory += q.Value()
			r.Memory, r.Source = &memory, sample.Metrics
		}
	}
	return r
}

// CollectMetrics archives the logs that the cluster still has, and collects metrics from the
// archive.
func (b *Backend) CollectMetrics(ctx context.Context, id string, app *spec.App, ended bool) error {
	dir := b.FolderOf(id)
	saved, saveErr := podarchive.Saved{}, error(nil)
	if !archives.HasAgent(dir) {
		saved, saveErr = b.archive(id, "").Save(ctx)
	}
	c, err := collect.New(podarchive.MetricsConfig(dir, app))
	if err != nil || !podarchive.Exists(dir) {
		return err
	}
	if ended && !archives.HasAgent(dir) && (saveErr != nil || len(saved.Missing) == 0) {
		return c.Complete(ctx) // without the pods, the archive gets no more lines
	}
	return c.Once(ctx)
}

// metricsOf returns the parts of an app that say what its metrics are.
func metricsOf(app *spec.App) *spec.App {
	small := &spec.App{Name: app.Name, Metadata: map[string]any{spec.OrderKey: app.Metadata[spec.OrderKey]}}
	for i := range app.Roles {
		r := &app.Roles[i]
		small.Roles = append(small.Roles, spec.Role{Name: r.Name, Metadata: map[string]any{spec.OrderKey: r.Metadata[spec.OrderKey]}})
	}
	return small
}

// startMetrics collects the metrics of an archive in the background; the returned function reads
// the rest.
func startMetrics(g *archive.Agent) (finish func()) {
	app := g.Info.App
	if app == nil {
		return func() {}
	}
	config := podarchive.MetricsConfig(g.Dir, app)
	config.Log = g.Log.Printf
	config.Record = func(all []metrics.Summary) {
		ctx := context.Background()
		store, err := g.History.Store(ctx)
		if err == nil {
			err = store.PutMetrics(ctx, g.Backend, g.Info.ID, collect.Records(app, all))
		}
		if err != nil {
			g.Log.Print(err)
		}
	}
	c, err := collect.New(config)
	if err != nil {
		g.Log.Print(err)
		return func() {}
	}
	c.Start()
	return func() { <-c.Stop() }
}
