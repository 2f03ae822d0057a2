package component

import (
	"context"
	"fmt"
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
// the built-in ones that the first do not hide. Nothing is executed. problems holds
// what is wrong with libraries, and files of the project that do not parse.
func (l *Loader) List(ctx context.Context) (all []Listed, problems []error, err error) {
	hidden := map[string]bool{}
	dir := filepath.Join(l.root(), "components")
	for _, file := range starFiles(os.DirFS(dir)) {
		if err := l.Unreadable(filepath.Join(dir, file)); err != nil {
			problems = append(problems, fmt.Errorf("%w; its components are not listed", err))
		}
	}
	for _, s := range summaries(os.DirFS(dir)) {
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
