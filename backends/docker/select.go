package docker

import (
	"context"

	"github.com/docker/docker/client"

	"torchx/runtime/backend"
)

// endpointFor returns the engine of an app: that of its options, or that of the docker command.
func (p planner) endpointFor(cfg backend.Config) (endpoint, error) {
	getenv := lookup(p.environ)
	var host, name string
	set(&host, cfg["host"])
	set(&name, cfg["context"])
	switch {
	case host != "":
		return endpoint{host, getenv(certVariable), getenv(verifyVariable) != "", "-cfg host"}, nil
	case name != "":
		return readContext(configDir(getenv), name, "-cfg context")
	}
	return findEndpoint(getenv)
}

// checkEngine checks the options that select the engine. Errors: ErrInvalidOption.
func checkEngine(cfg backend.Config) error {
	var host, name string
	set(&host, cfg["host"])
	set(&name, cfg["context"])
	if host != "" && name != "" {
		return backend.Errorf(backend.ErrInvalidOption, "host=%s: context=%s also selects the engine (set one of them)", host, name)
	}
	if host == "" {
		return nil
	}
	c, err := endpoint{Host: host, Source: "-cfg host"}.open()
	if err != nil {
		return backend.Errorf(backend.ErrInvalidOption, "host=%s: %w (want an address such as ssh://user@machine, unix:///run/docker.sock or tcp://machine:2376)", host, err)
	}
	return c.Close()
}

// connect returns the engine of the docker command. Errors: ErrUnavailable.
func (b *Backend) connect(ctx context.Context) (*client.Client, error) {
	at, err := findEndpoint(lookup(b.environ))
	if err != nil {
		return nil, backend.Errorf(backend.ErrUnavailable, "%w", err)
	}
	return b.connectTo(ctx, at)
}

// connectTo returns an engine and connects to it on first use. Errors: ErrUnavailable.
func (b *Backend) connectTo(ctx context.Context, at endpoint) (*client.Client, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if engine := b.engines[at]; engine != nil {
		return engine, nil
	}
	engine, err := connect(ctx, at)
	if err != nil {
		return nil, err
	}
	b.engines[at] = engine
	return engine, nil
}

// connectFor returns the engine that runs an app: the one it was submitted to if it is in this
// home. Errors: ErrUnavailable.
func (b *Backend) connectFor(ctx context.Context, id string) (*client.Client, error) {
	if !b.Has(id) {
		return b.connect(ctx)
	}
	m, err := b.Bundle(id).Manifest()
	if err != nil {
		return b.connect(ctx)
	}
	at, err := findEndpoint(lookup(m.Environ))
	if err != nil {
		return nil, backend.Errorf(backend.ErrUnavailable, "%w", err)
	}
	return b.connectTo(ctx, at)
}
