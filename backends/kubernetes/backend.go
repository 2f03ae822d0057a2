package kubernetes

import (
	"context"
	"maps"
	"os"
	"strings"
	"sync"

	"torchx/backends/driver"
	"torchx/backends/kubernetes/archive"
	"torchx/backends/kubernetes/kube"
	"torchx/backends/workspace"
	"torchx/runtime/backend"
)

// Config is what the backend needs of the program.
type Config struct {
	Home    string   // TORCHX_HOME, absolute
	Exe     string   // the program, to be run as an agent
	Version string   // of the program, for the label of objects
	Offline bool     // the user forbids the network
	Environ []string // says where clusters and engines are, "K=V"; nil: this process's own
	// Images returns what builds and pushes images; nil: nothing does.
	Images func() (workspace.Pusher, error)
	// Settings returns the options by which an app is reached: those it was submitted
	// with, or for an unknown one and for "" those of files and command line. nil: none.
	Settings func(ctx context.Context, id string) (backend.Config, error)
	// Positions returns where cursors of archived logs are kept beside the logs: the
	// history, or nil where there is none. nil: there is none.
	Positions func(ctx context.Context) archive.Positions
	// Warn is told of what did not stop the work, one line each; nil drops it.
	Warn func(line string)
}

// Backend is the kubernetes backend. A cluster is contacted when it is first needed.
type Backend struct {
	planner
	config Config

	mu      sync.Mutex
	clients map[kube.Place]*kube.Client

	logs openLogs
}

var (
	_ backend.Backend          = (*Backend)(nil)
	_ backend.Waiter           = (*Backend)(nil)
	_ backend.Prober           = (*Backend)(nil)
	_ backend.TargetResolver   = (*Backend)(nil)
	_ backend.SubmissionReader = (*Backend)(nil)
)

// Driver registers the backend. The docker backend builds and pushes its images.
func Driver() driver.Driver {
	return driver.Driver{Name: Name, Open: open, RunAgent: runAgent, OwnsDir: archive.Is}
}

func open(e driver.Env) (backend.Backend, error) {
	c := Config{Home: e.Home, Exe: e.Exe, Version: e.Version, Offline: e.Offline, Environ: e.Environ, Warn: e.Warn}
	c.Images = func() (workspace.Pusher, error) {
		b, err := e.Backend("docker")
		pusher, _ := b.(workspace.Pusher)
		return pusher, err
	}
	if e.Positions != nil {
		c.Positions = func(ctx context.Context) archive.Positions { return e.Positions(ctx) }
	}
	if e.Settings != nil {
		c.Settings = func(ctx context.Context, id string) (backend.Config, error) { return e.Settings(ctx, Name, id) }
	}
	return New(c)
}

// New returns the backend; it touches nothing.
func New(c Config) (*Backend, error) {
	if c.Environ == nil {
		c.Environ = os.Environ()
	}
	return &Backend{planner: planner{version: c.Version}, config: c, clients: map[kube.Place]*kube.Client{}}, nil
}

// Name is "kubernetes".
func (b *Backend) Name() string { return Name }

// Close ends what clients hold; apps go on.
func (b *Backend) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.clients {
		c.Close()
	}
	clear(b.clients)
	return b.logs.close()
}

// Probe tells whether the cluster that is meant by default answers. Errors: backends.ErrUnavailable.
func (b *Backend) Probe(ctx context.Context) error {
	c, _, err := b.cluster(ctx, "")
	if err == nil {
		_, err = c.Groups(ctx)
	}
	return err
}

// Place writes down which kubeconfig and context are meant.
func (b *Backend) ResolveTarget(cfg backend.Config) (backend.Config, error) {
	a, err := kube.Find(placeOf(cfg), b.config.Environ)
	if err != nil {
		return nil, err
	}
	placed := maps.Clone(cfg)
	for key, value := range map[string]string{"kubeconfig": a.Kubeconfig, "context": a.Context} {
		if value != "" { // inside of a pod neither has one
			placed[key] = value
		}
	}
	return placed, nil
}

// placeOf is the cluster that options mean.
func placeOf(cfg backend.Config) (p kube.Place) {
	set(&p.Kubeconfig, cfg["kubeconfig"])
	set(&p.Context, cfg["context"])
	return p
}

// cluster returns a client for the cluster that an app is on, or for "" for the one
// that is meant by default, and the options that say so.
func (b *Backend) cluster(ctx context.Context, id string) (*kube.Client, backend.Config, error) {
	cfg := backend.Config{}
	if b.config.Settings != nil {
		var err error
		if cfg, err = b.config.Settings(ctx, id); err != nil {
			return nil, nil, err
		}
	}
	place := placeOf(cfg)
	c, err := b.client(place, nil)
	if err != nil && place.Kubeconfig != "" && place.Context != "" {
		// Its kubeconfig may be gone, the context in another one.
		if c, err := b.client(kube.Place{Context: place.Context}, nil); err == nil {
			return c, cfg, nil
		}
	}
	return c, cfg, err
}

// client returns a client for a cluster; warn gets the server's warnings, and makes
// the client one of its own. Errors: backends.ErrUnavailable.
func (b *Backend) client(p kube.Place, warn func(line string)) (*kube.Client, error) {
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
	c, err := a.Open(kube.Config{UserAgent: "torchx/" + b.version, Warn: warn})
	if err == nil && warn == nil {
		b.clients[p] = c
	}
	return c, err
}

// target is an app on its cluster.
type target struct {
	*kube.Client
	id, namespace, name string
	cfg                 backend.Config // by which it is reached
}

// target finds the cluster of an app. Errors: backends.ErrUnavailable, or a plain
// one for an id that is none of this backend.
func (b *Backend) target(ctx context.Context, id string) (*target, error) {
	namespace, name, ok := strings.Cut(id, ":")
	if !ok || namespace == "" || name == "" {
		return nil, errNoNamespace(id)
	}
	c, cfg, err := b.cluster(ctx, id)
	if err != nil {
		return nil, err
	}
	return &target{c, id, namespace, name, cfg}, nil
}

// errNoNamespace says how an id is written.
func errNoNamespace(id string) error {
	name := strings.Trim(id, ":")
	return backend.Errorf(backend.ErrInvalidOption, "app id %q has no namespace: write it as NAMESPACE:NAME, such as %s", id, handleOf(appID(defaultNamespace, name)))
}
