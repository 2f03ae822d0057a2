// Package kubernetes runs apps on a Kubernetes cluster as Volcano Jobs, JobSets or Jobs.
//
//	manifest  plans: an app as objects (pure), which Submit creates, all or none
//	kube      the cluster: kubeconfig, requests, mirrors by watches, explained errors
//	label     labels and annotations by which objects and pods are found
//	observe   an app's state, and why it waits, from what the cluster returned (pure)
//	podarchive
//	          copies the logs of containers and keeps those of all pods in the home
//
// A Backend finds an app's main objects (find.go) and its pods, and hands both to observe
// for Describe, Wait and List.
package kubernetes

import (
	"context"
	"iter"
	"maps"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	"torchx/backends/driver"
	"torchx/backends/kubernetes/kube"
	"torchx/backends/kubernetes/manifest"
	"torchx/backends/kubernetes/podarchive"
	"torchx/backends/workspace"
	"torchx/runtime/backend"
	"torchx/runtime/logstore"
)

// Config configures a Backend.
type Config struct {
	Home    string   // TORCHX_HOME, absolute
	Exe     string   // this program, to be run as an agent
	Version string   // of this program, for the label of objects
	Offline bool     // the user forbids the network
	Environ []string // locates clusters and engines, "K=V"; nil: this process's own
	// Images returns the backend that builds and pushes images; nil: there is none.
	Images func() (workspace.Pusher, error)
	// Settings returns the options that locate an app: those of its submission, or for an
	// unknown app and for "" those of config files and command line. nil: no options.
	Settings func(ctx context.Context, id string) (backend.Config, error)
	// Positions returns the history, which keeps a copy of the cursors of archived logs.
	// nil, or a nil result: no copy is kept.
	Positions func(ctx context.Context) podarchive.Positions
	// IsAgent says that no user watches: expired credentials are waited for, until a login renews them.
	IsAgent bool
	// Warn receives non-fatal problems, one line each; nil drops them.
	Warn func(line string)
}

// Backend is the kubernetes backend. It contacts a cluster on first use.
type Backend struct {
	manifest.Planner
	backend.Observers
	config Config

	mu       sync.Mutex
	clients  map[kube.ClusterRef]*kube.Client
	listed   *overview                        // what List has just read
	told     map[string]bool                  // warnings that were given once
	canceled map[string]backend.CancelOptions // by app

	described    atomic.Pointer[described] // the last app, until its logs are opened
	snapshotTime time.Duration             // how long it is used

	logs     openLogs
	stopping stopping
}

// Driver registers the backend. Another backend builds and pushes its images.
func Driver() driver.Driver {
	return driver.Driver{
		Name: manifest.Name, Open: open, Pending: archives.Pending(), RunAgent: runAgent, OwnsDir: archives.Has,
	}
}

func open(e driver.Env) (backend.Backend, error) {
	c := Config{Home: e.Home, Exe: e.Exe, Version: e.Version, Offline: e.Offline, Environ: e.Environ, Warn: e.Warn}
	c.Images = func() (workspace.Pusher, error) {
		b, err := e.Offering(func(b backend.Backend) bool { _, ok := b.(workspace.Pusher); return ok })
		pusher, _ := b.(workspace.Pusher)
		return pusher, err
	}
	if e.Positions != nil {
		c.Positions = func(ctx context.Context) podarchive.Positions { return e.Positions(ctx) }
	}
	if e.Settings != nil {
		c.Settings = func(ctx context.Context, id string) (backend.Config, error) {
			return e.Settings(ctx, manifest.Name, id)
		}
	}
	return New(c)
}

// New returns the backend. It contacts no cluster and opens no file.
func New(c Config) (*Backend, error) {
	if c.Environ == nil {
		c.Environ = os.Environ()
	}
	return &Backend{Planner: manifest.Planner{Version: c.Version}, config: c, clients: map[kube.ClusterRef]*kube.Client{}, canceled: map[string]backend.CancelOptions{}, told: map[string]bool{}, snapshotTime: podarchive.SnapshotTime, logs: openLogs{apps: map[logKey]*podarchive.App{}, files: logstore.NewHub()}}, nil
}

// Name is "kubernetes".
func (b *Backend) Name() string { return manifest.Name }

// Close releases connections and files; apps keep running.
func (b *Backend) Close() error {
	b.stopping.close()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.clients {
		c.Close()
	}
	clear(b.clients)
	return b.logs.files.Close()
}

// Plan is Planner.Plan in the namespace of the context, or of this process's pod, unless the
// options name another one. It reads the kubeconfig and contacts nothing.
func (b *Backend) Plan(ctx context.Context, in backend.PlanInput) (*backend.Plan, error) {
	if _, given := in.Cfg["namespace"].(string); !given {
		cfg := backend.Config{}
		maps.Copy(cfg, in.Cfg)
		cfg["namespace"] = manifest.DefaultNamespace
		if a, err := kube.Find(clusterRefOf(cfg), b.config.Environ); err == nil && a.Namespace != "" {
			cfg["namespace"] = a.Namespace
		}
		in.Cfg = cfg
	}
	return b.Planner.Plan(ctx, in)
}

// ResolveTarget adds to cfg the kubeconfig and the context that it selects; inside a pod
// both are absent.
func (b *Backend) ResolveTarget(cfg backend.Config) (backend.Config, error) {
	a, err := kube.Find(clusterRefOf(cfg), b.config.Environ)
	if err != nil {
		return nil, err
	}
	resolved := maps.Clone(cfg)
	for key, value := range map[string]string{"kubeconfig": a.Kubeconfig, "context": a.Context} {
		if value != "" {
			resolved[key] = value
		}
	}
	return resolved, nil
}

// TrustedFiles returns the kubeconfig files of cfg, and the login programs that these run
// from their own folders.
func (b *Backend) TrustedFiles(cfg backend.Config) iter.Seq[string] {
	return clusterRefOf(cfg).TrustedFiles(b.config.Environ)
}

// clusterRefOf returns the cluster that options select.
func clusterRefOf(cfg backend.Config) (ref kube.ClusterRef) {
	ref.Kubeconfig, _ = cfg["kubeconfig"].(string)
	ref.Context, _ = cfg["context"].(string)
	return ref
}

// cluster returns a client for the cluster of an app, the default cluster for "", and the
// options that select it.
func (b *Backend) cluster(ctx context.Context, id string) (*kube.Client, backend.Config, error) {
	cfg := backend.Config{}
	if b.config.Settings != nil {
		var err error
		if cfg, err = b.config.Settings(ctx, id); err != nil {
			return nil, nil, err
		}
	}
	ref := clusterRefOf(cfg)
	c, err := b.client(ref, nil)
	if err != nil && ref.Kubeconfig != "" && ref.Context != "" {
		// The kubeconfig may be deleted, and another one may define its context.
		if c, err := b.client(kube.ClusterRef{Context: ref.Context}, nil); err == nil {
			return c, cfg, nil
		}
	}
	return c, cfg, err
}

// client returns the shared client of a cluster, or, if warn is not nil, a new one that
// passes the server's warnings to warn. Errors: ErrUnavailable.
func (b *Backend) client(ref kube.ClusterRef, warn func(line string)) (*kube.Client, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if c := b.clients[ref]; c != nil && warn == nil {
		return c, nil
	}
	if b.config.Offline {
		return nil, backend.Errorf(backend.ErrUnavailable,
			"the cluster cannot be reached: --offline forbids the network")
	}
	a, err := kube.Find(ref, b.config.Environ)
	if err != nil {
		return nil, err
	}
	renew := func() (*kube.Access, error) {
		if err := recheckConsent(b.config.Home, ref, b.config.Environ); err != nil {
			return nil, err
		}
		return kube.Find(ref, b.config.Environ)
	}
	c, err := a.Open(kube.Config{UserAgent: "torchx/" + b.Version, Warn: warn, Renew: renew})
	if err == nil && warn == nil {
		b.clients[ref] = c
	}
	return c, err
}

// target is an app on its cluster.
type target struct {
	*kube.Client
	id, namespace, name string
	cfg                 backend.Config // options that locate it
	observers           *backend.Observers
	warnOnce            func(line string)
	podsVersion         string         // resource version of the pods that were last read
	hidden              error          // why the pods cannot be listed; nil if they can, or before they are first read
	workloads           *kube.Resource // of Kueue; nil before they are first read
}

// target finds the cluster of an app. Errors: ErrUnavailable, or ErrInvalidOption for an
// id that is not NAMESPACE:NAME.
func (b *Backend) target(ctx context.Context, id string) (*target, error) {
	namespace, name, ok := strings.Cut(id, ":")
	if !ok || namespace == "" || name == "" {
		name = strings.Trim(id, ":")
		return nil, backend.Errorf(backend.ErrInvalidOption, "app id %q has no namespace: write it as NAMESPACE:NAME, such as %s", id, manifest.Handle(manifest.AppID(manifest.DefaultNamespace, name)))
	}
	// Both become parts of request paths, where .. would lead to other objects.
	if len(validation.IsDNS1123Label(namespace)) > 0 ||
		len(validation.IsDNS1123Subdomain(name)) > 0 {
		return nil, backend.Errorf(backend.ErrInvalidOption, "app id %q is not valid on Kubernetes: NAMESPACE:NAME may have lower-case letters, digits, '-' and '.'", id)
	}
	c, cfg, err := b.cluster(ctx, id)
	if err != nil {
		return nil, err
	}
	return &target{Client: c, id: id, namespace: namespace, name: name, cfg: cfg, observers: &b.Observers, warnOnce: b.warnOnce}, nil
}
