package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"
)

// module is the prefix of the import paths that are drawn.
const module = "torchx/"

// bands are the rows of folders in the drawing, from top to bottom. A package imports
// packages of lower rows, and lower packages of its own folder.
var bands = [][]string{{"cmd"}, {"starlark", "backends", "state"}, {"runtime"}}

// pack is a package: its path below the module, and the first sentence of its comment.
type pack struct {
	path, doc string
	imports   []string // of this module
	level     int      // 0: imports no package of its own folder; n: imports one of level n-1
}

// graph holds the packages that are drawn, by path.
type graph map[string]*pack

// load returns the packages of the module in the folder root, from `go list`.
func load(ctx context.Context, root string) (graph, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-json=ImportPath,Imports,Doc", "./...")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	g := graph{}
	for d := json.NewDecoder(strings.NewReader(string(out))); d.More(); {
		var p struct {
			ImportPath, Doc string
			Imports         []string
		}
		if err := d.Decode(&p); err != nil {
			return nil, fmt.Errorf("read go list: %w", err)
		}
		path := strings.TrimPrefix(p.ImportPath, module)
		if !slices.Contains(slices.Concat(bands...), folder(path)) {
			continue // test support or data
		}
		g[path] = &pack{path: path, doc: strings.TrimSuffix(p.Doc, ".")}
		for _, i := range p.Imports {
			if i, ours := strings.CutPrefix(i, module); ours {
				g[path].imports = append(g[path].imports, i)
			}
		}
	}
	for path := range g {
		g.setLevel(path)
	}
	return g, nil
}

func folder(path string) string {
	first, _, _ := strings.Cut(path, "/")
	return first
}

// setLevel sets and returns the level of a package.
func (g graph) setLevel(path string) int {
	p := g[path]
	for _, i := range p.imports {
		if g[i] != nil && folder(i) == folder(path) {
			p.level = max(p.level, g.setLevel(i)+1)
		}
	}
	return p.level
}

// levels returns the packages of a folder by level, the highest first, sorted by path.
func (g graph) levels(name string) [][]*pack {
	var rows [][]*pack
	for _, path := range g.paths() {
		p := g[path]
		if folder(path) != name {
			continue
		}
		for len(rows) <= p.level {
			rows = append(rows, nil)
		}
		rows[p.level] = append(rows[p.level], p)
	}
	slices.Reverse(rows)
	return rows
}

func (g graph) paths() []string {
	var all []string
	for path := range g {
		all = append(all, path)
	}
	slices.Sort(all)
	return all
}

// crossings counts the imports from one folder into another.
func (g graph) crossings(from, to string) int {
	n := 0
	for path, p := range g {
		for _, i := range p.imports {
			if folder(path) == from && folder(i) == to {
				n++
			}
		}
	}
	return n
}

// users lists the packages that import path.
func (g graph) users(path string) []string {
	var all []string
	for _, other := range g.paths() {
		if slices.Contains(g[other].imports, path) {
			all = append(all, other)
		}
	}
	return all
}
