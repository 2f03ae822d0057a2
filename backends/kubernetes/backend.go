// Package kubernetes runs apps on a Kubernetes cluster as Volcano Jobs, JobSets or Jobs.
//
//	manifest  plans: an app as objects (pure), which Submit creates, all or none
//	kube      the cluster: kubeconfig, requests, mirrors by watches, explained errors
//	label     labels and annotations by which objects and pods are found
//	observe   an app's state, and why it waits, from what the cluster returned (pure)
//	podlog    copies one container's log; archive keeps the logs of all pods in the home
//
// A Backend finds an app's main objects (find.go) and its pods, and hands both to observe
// for Describe, Wait and List. Beyond the contract it implements Waiter, Prober,
// TargetResolver, TrustedFiler, SubmissionReader, Doctor, Sizer, LogFinder, LogRetainer and
// Sweeper.
package kubernetes

import (
	"context"
	"iter"
	"maps"
	"os"
	"strings"
	"sync"

	"torchx/backends/driver"
	"torchx/backends/kubernetes/archive"
	"torchx/backends/kubernetes/kube"
	"torchx/backends/kubernetes/manifest"
	"torchx/backends/workspace"
	"torchx/runtime/backend"
)

// Config configures a Backend.
type Config struct {
	Home    string   // TORCHX_HOME, absolute
	Exe     string   // this program, to be run as an agent
	Version string   // of this program, for the label of objects
	Offline bool     // the user forbids the network
	Environ []string // locates clusters and engines, "K=V"; nil: this process's own
	// Images returns what builds and pushes images; nil: nothing does.
	Images func() (workspace.Pusher, error)
	// Settings returns the options by which an app is reached: those it was submitted
	// with, or for an unknown one and for "" those of files and command line. nil: none.
	Settings func(ctx context.Context, id string) (backend.Config, error)
	// Positions returns where cursors of archived logs are kept beside the logs: the
	// history. nil, or a nil result: there is none.
	Positions func(ctx context.Context) archive.Positions
	// Warn receives problems that did not stop the work, one line each; nil drops them.
	Warn func(line string)
}

// Backend is the kubernetes backend. It contacts a cluster on first use.
type Backend struct {
	manifest.Planner
	config Config

	mu      sync.Mutex
	clients map[kube.ClusterRef]*kube.Client

	logs openLogs
}

var (
	_ backend.Backend          = (*Backend)(nil)
	_ backend.Waiter           = (*Backend)(nil)
	_ backend.Prober           = (*Backend)(nil)
	_ backend.TargetResolver   = (*Backend)(nil)
	_ backend.TrustedFiler     = (*Backend)(nil)
	_ backend.SubmissionReader = (*Backend)(nil)
	_ backend.Doctor           = (*Backend)(nil)
)

// Driver registers the backend. Another backend builds and pushes its images.
func Driver() driver.Driver {
	return driver.Driver{Name: manifest.Name, Open: open, RunAgent: runAgent, OwnsDir: archive.Is}
}

func open(e driver.Env) (backend.Backend, error) {
	c := Config{Home: e.Home, Exe: e.Exe, Version: e.Version, Offline: e.Offline, Environ: e.Environ, Warn: e.Warn}
	c.Images = func() (workspace.Pusher, error) {
		b, err := e.Offering(func(b backend.Backend) bool { _, ok := b.(workspace.Pusher); return ok })
		pusher, _ := b.(workspace.Pusher)
		return pusher, err
	}
	if e.Positions != nil {
		c.Positions = func(ctx context.Context) archive.Positions { return e.Positions(ctx) }
	}
	if e.Settings != nil {
		c.Settings = func(ctx context.Context, id string) (backend.Config, error) {
			return e.Settings(ctx, manifest.Name, id)
		}
	}
	return New(c)
}

// New returns the backend; it touches nothing.
func New(c Config) (*Backend, error) {
	if c.Environ == nil {
		c.Environ = os.Environ()
	}
	return &Backend{Planner: manifest.Planner{Version: c.Version}, config: c, clients: map[kube.ClusterRef]*kube.Client{}}, nil
}

// Name is "kubernetes".
func (b *Backend) Name() string { return manifest.Name }

// Close releases connections and files; apps go on.
func (b *Backend) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.clients {
		c.Close()
	}
	clear(b.clients)
	return b.logs.close()
}

// Probe checks that the default cluster answers. Errors: ErrUnavailable.
func (b *Backend) Probe(ctx context.Context) error {
	c, _, err := b.cluster(ctx, "")
	if err == nil {
		_, err = c.Groups(ctx)
	}
	return err
}

// ResolveTarget adds to options the kubeconfig and context that they mean. Inside a pod
// there is neither.
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

// TrustedFiles returns the kubeconfig files of cfg, and the programs beside them that they
// run to log in.
func (b *Backend) TrustedFiles(cfg backend.Config) iter.Seq[string] {
	return clusterRefOf(cfg).TrustedFiles(b.config.Environ)
}

// clusterRefOf returns the cluster that options mean.
func clusterRefOf(cfg backend.Config) (p kube.ClusterRef) {
	p.Kubeconfig, _ = cfg["kubeconfig"].(string)
	p.Context, _ = cfg["context"].(string)
	return p
}

// cluster returns a client for the cluster of an app, or for "" for the default one, and
// the options that name it.
func (b *Backend) cluster(ctx context.Context, id string) (*kube.Client, backend.Config, error) {
	cfg := backend.Config{}
	if b.config.Settings != nil {
		var err error
		if cfg, err = b.config.Settings(ctx, id); err != nil {
			return nil, nil, err
		}
	}
	place := clusterRefOf(cfg)
	c, err := b.client(place, nil)
	if err != nil && place.Kubeconfig != "" && place.Context != "" {
		// The kubeconfig may be deleted and its context defined in another one.
		if c, err := b.client(kube.ClusterRef{Context: place.Context}, nil); err == nil {
			return c, cfg, nil
		}
	}
	return c, cfg, err
}

// client returns the client of a cluster, or a new one that passes the server's warnings
// to warn if that is not nil. Errors: ErrUnavailable.
func (b *Backend) client(p kube.ClusterRef, warn func(line string)) (*kube.Client, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if c := b.clients[p]; c != nil && warn == nil {
		return c, nil
	}
	if b.config.Offline {
		return nil, backend.Errorf(backend.ErrUnavailable, "the network is forbidden by --offline, a cluster cannot be reached")
	}
	a, err := kube.Find(p, b.config.Environ)
	if err != nil {
		return nil, err
	}
	c, err := a.Open(kube.Config{UserAgent: "torchx/" + b.Version, Warn: warn})
	if err == nil && warn == nil {
		b.clients[p] = c
	}
	return c, err
}

// target is an app on its cluster.
type target struct {
	*kube.Client
	id, namespace, name string
	cfg                 backend.Config // options by which it is reached
}

// target finds the cluster of an app. Errors: ErrUnavailable, or ErrInvalidOption for an
// id that is not NAMESPACE:NAME.
func (b *Backend) target(ctx context.Context, id string) (*target, error) {
	namespace, name, ok := strings.Cut(id, ":")
	if !ok || namespace == "" || name == "" {
		name = strings.Trim(id, ":")
		return nil, backend.Errorf(backend.ErrInvalidOption, "app id %q has no namespace: write it as NAMESPACE:NAME, such as %s", id, manifest.Handle(manifest.AppID(manifest.DefaultNamespace, name)))
	}
	c, cfg, err := b.cluster(ctx, id)
	if err != nil {
		return nil, err
	}
	return &target{c, id, namespace, name, cfg}, nil
}
