package component

import (
	"context"
	"os"
	"path/filepath"
)

// Origin says where a component comes from.
type Origin string

// The origins, in the order in which they hide each other.
const (
	OriginProject Origin = "project"
	OriginLibrary Origin = "library"
	OriginBuiltin Origin = "built-in"
)

// Listed is a component that can be named here.
type Listed struct {
	Summary
	Origin Origin
}

// List lists the components of the workspace's components folder, of its libraries and
// the built-in ones that the first do not hide. Nothing is executed. Files that do not
// parse have none; problems holds what is wrong with libraries.
func (l *Loader) List(ctx context.Context) (all []Listed, problems []error, err error) {
	hidden := map[string]bool{}
	for _, s := range summaries(os.DirFS(filepath.Join(l.root(), "components"))) {
		hidden[s.Name] = true
		all = append(all, Listed{s, OriginProject})
	}
	for _, name := range l.Libraries() {
		list, err := l.LibraryComponents(ctx, name)
		if err != nil {
			problems = append(problems, err)
		}
		for _, s := range list {
			all = append(all, Listed{s, OriginLibrary})
		}
	}
	builtins, err := l.Builtins(ctx)
	for _, s := range builtins {
		if !hidden[s.Name] {
			all = append(all, Listed{s, OriginBuiltin})
		}
	}
	return all, problems, err
}
