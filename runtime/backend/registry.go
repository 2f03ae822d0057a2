package backend

import (
	"errors"
	"fmt"
	"slices"
	"sync"
)

// Registry knows the backends by name and alias; it opens one on first use.
type Registry struct {
	mu      sync.Mutex // guards the backends that are open
	order   []string
	entries map[string]*entry
	aliases map[string]Alias
}

type entry struct {
	open    func() (Backend, error)
	backend Backend
}

// Alias is another name of a backend; Defaults are options that it implies.
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

// AddAlias registers another name of a backend.
func (r *Registry) AddAlias(name string, a Alias) { r.aliases[name] = a }

// Names lists the canonical names in the order they were added.
func (r *Registry) Names() []string { return slices.Clone(r.order) }

// Canonical returns the backend's own name and what the given name implies.
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

// AliasesOf returns the other names of a backend, sorted.
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

// Get opens the backend of that name or alias, and refuses one whose list of options
// has a defect.
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

// Close closes every backend that was opened.
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
