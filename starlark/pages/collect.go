package pages

import (
	"context"
	"path/filepath"
	"strings"

	"torchx/starlark/component"
	"torchx/starlark/starfiles"
)

// Collect returns a page for each file with components. what lists files and folders, relative to
// dir, and @LIBRARY. shortPath shortens a path for display.
func Collect(ctx context.Context, loader *component.Loader, dir string, what []string, shortPath func(string) string) ([]Page, error) {
	var paths, refs []string
	for _, w := range what {
		name, isLibrary := strings.CutPrefix(w, "@")
		if !isLibrary {
			paths = append(paths, w)
			continue
		}
		list, err := libraryComponents(ctx, loader, name)
		if err != nil {
			return nil, err
		}
		for _, s := range list {
			refs = append(refs, s.Name)
		}
	}
	if len(paths) > 0 {
		found, err := fileComponents(loader, dir, paths)
		if err != nil {
			return nil, err
		}
		refs = append(refs, found...)
	}
	return groupByFile(ctx, loader, refs, shortPath)
}

func libraryComponents(ctx context.Context, loader *component.Loader, name string) ([]component.Summary, error) {
	if name != "torchx" {
		return loader.LibraryComponents(ctx, name)
	}
	list, err := loader.Builtins(ctx)
	for i, s := range list { // by file, since components of the project may hide them by name
		module, function, _ := strings.Cut(s.Name, ".")
		list[i].Name = "@torchx//" + module + ".star:" + function
	}
	return list, err
}

// fileComponents returns the documented components of files, without tests.
func fileComponents(loader *component.Loader, dir string, paths []string) (refs []string, err error) {
	files, err := starfiles.Find(dir, paths)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if starfiles.IsTest(f) {
			continue
		}
		if err := loader.CheckFile(f); err != nil {
			return nil, err
		}
		for _, s := range loader.Functions(f) {
			if s.Doc != "" {
				refs = append(refs, s.Name)
			}
		}
	}
	return refs, nil
}

func groupByFile(ctx context.Context, loader *component.Loader, refs []string, shortPath func(string) string) ([]Page, error) {
	var list []Page
	index := map[string]int{}
	all, err := loader.FindAll(ctx, refs)
	if err != nil {
		return nil, err
	}
	for _, found := range all {
		e := Entry{Component: found, Detail: found.Detail()}
		i, ok := index[found.File]
		if !ok {
			i = len(list)
			index[found.File] = i
			file := filepath.ToSlash(shortPath(found.File))
			list = append(list, Page{Name: strings.TrimSuffix(file[strings.LastIndex(file, "/")+1:], ".star"), File: file, Doc: e.Module})
		}
		list[i].Components = append(list[i].Components, e)
	}
	return list, nil
}
