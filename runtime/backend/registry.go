package backend

import (
	"errors"
	"fmt"
	"slices"
	"sync"
)

// Registry holds the backends by name and alias; it opens each on first use.
type Registry struct {
	mu      sync.Mutex // guards the open backends
	order   []string
	entries map[string]*entry
	aliases map[string]Alias
}

type entry struct {
	open    func() (Backend, error)
	idle    func(all bool) bool // nil: never
	backend Backend
}

// Alias is an alternative name of a backend; Defaults are options that it implies.
type Alias struct {
	Backend  string
	Defaults map[string]string
}

// NewRegistry returns an empty registry.
func NewRegistry() *Registry {
	return &Registry{entries: map[string]*entry{}, aliases: map[string]Alias{}}
}

// Add registers a backend; the first one added is the default.
func (r *Registry) Add(name string, open func() (Backend, error)) {
	r.order = append(r.order, name)
	r.entries[name] = &entry{open: open}
}

// SetIdle sets a function that reports, without opening a backend, that it has nothing to recover
// and no apps to restore to the history: none that the history could not store or, if all is set,
// none at all.
func (r *Registry) SetIdle(name string, idle func(all bool) bool) { r.entries[name].idle = idle }

// Idle reports whether a backend has nothing to recover and no apps to restore (see SetIdle).
func (r *Registry) Idle(name string, all bool) bool {
	e := r.entries[name]
	return e.idle != nil && e.idle(all)
}

// AddAlias registers an alternative name of a backend.
func (r *Registry) AddAlias(name string, a Alias) { r.aliases[name] = a }

// Names returns the canonical names in the order in which they were added.
func (r *Registry) Names() []string { return slices.Clone(r.order) }

// Canonical returns the backend's canonical name and the options that the given name implies.
// Errors: ErrNotFound, listing the known names.
func (r *Registry) Canonical(name string) (Alias, error) {
	if a, ok := r.aliases[name]; ok {
		return a, nil
	}
	if _, ok := r.entries[name]; ok {
		return Alias{Backend: name}, nil
	}
	return Alias{}, r.unknown(name)
}

// AliasesOf returns the alternative names of a backend, sorted.
func (r *Registry) AliasesOf(backend string) []string {
	var names []string
	for n, a := range r.aliases {
		if a.Backend == backend {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	return names
}

// Get opens the backend with a name or alias. It returns an error if the backend's list of
// options is invalid.
func (r *Registry) Get(name string) (Backend, error) {
	a, err := r.Canonical(name)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.entries[a.Backend]
	if e.backend != nil {
		return e.backend, nil
	}
	b, err := e.open()
	if err == nil {
		err = CheckOptions(b.Options())
	}
	if err != nil {
		return nil, fmt.Errorf("open backend %s: %w", a.Backend, err)
	}
	e.backend = b
	return b, nil
}

// Capabilities returns what the backend with a name or alias can do. Errors: those of Get.
func (r *Registry) Capabilities(name string) (Capabilities, error) {
	b, err := r.Get(name)
	if err != nil {
		return Capabilities{}, err
	}
	return b.Capabilities(), nil
}

// Close closes all open backends.
func (r *Registry) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var errs []error
	for _, name := range r.order {
		if b := r.entries[name].backend; b != nil {
			errs = append(errs, b.Close())
		}
	}
	return errors.Join(errs...)
}
