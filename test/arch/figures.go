package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// maxColumns is the longest line that is not counted as long, with tabs as four columns.
const maxColumns = 100

// source is how much is written in the folders of the program.
type source struct {
	lines, long, tests int // lines: without tests
}

// figures prints the size of the program, its imports, and what a run of it takes, one per line.
func figures(ctx context.Context, root string, out io.Writer) error {
	g, err := load(ctx, root)
	if err != nil {
		return err
	}
	s, err := count(root)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "lines of Go without tests   %d\n", s.lines)
	fmt.Fprintf(out, "lines over %d columns      %.1f %%\n", maxColumns,
		100*float64(s.long)/float64(s.lines))
	fmt.Fprintf(out, "lines of tests              %d\n", s.tests)
	fmt.Fprintf(out, "packages                    %d\n", len(g))
	fmt.Fprintf(out, "import depth                %d\n", g.depth())
	fmt.Fprintf(out, "imports per package         %.1f\n", g.fanOut())
	w, err := measure(ctx, root)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "functions of run utils.echo %d in %d packages\n", w.functions, w.packages)
	fmt.Fprintf(out, "start of a Go hello         %.1f ms\n", ms(w.hello))
	fmt.Fprintf(out, "torchx version              %.1f ms, %.1f hellos\n", ms(w.version),
		w.version.Seconds()/w.hello.Seconds())
	fmt.Fprintf(out, "torchx run utils.echo       %.1f ms, %.1f hellos\n", ms(w.echo),
		w.echo.Seconds()/w.hello.Seconds())
	return nil
}

// count reads all Go files of the folders that are drawn, and those of tests.
func count(root string) (s source, err error) {
	for _, row := range append(bands, []string{"test", "components"}) {
		for _, name := range row {
			err := filepath.WalkDir(filepath.Join(root, name), func(path string, d os.DirEntry, err error) error {
				if err != nil || d.IsDir() || filepath.Ext(path) != ".go" {
					return err
				}
				data, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				if name == "test" || strings.HasSuffix(path, "_test.go") {
					s.tests += strings.Count(string(data), "\n")
					return nil
				}
				for line := range strings.Lines(string(data)) {
					s.lines++
					tabs := strings.Count(line, "\t")
					if len([]rune(line))-1+3*tabs > maxColumns {
						s.long++
					}
				}
				return nil
			})
			if err != nil {
				return s, err
			}
		}
	}
	return s, nil
}

// depth returns the number of packages on the longest way of imports.
func (g graph) depth() int {
	known := map[string]int{}
	var below func(path string) int
	below = func(path string) int {
		if n, ok := known[path]; ok || g[path] == nil {
			return n
		}
		n := 0
		for _, i := range g[path].imports {
			n = max(n, below(i))
		}
		known[path] = n + 1
		return n + 1
	}
	deepest := 0
	for path := range g {
		deepest = max(deepest, below(path))
	}
	return deepest
}

// fanOut returns how many packages of the module a package imports, in the mean.
func (g graph) fanOut() float64 {
	n := 0
	for _, p := range g {
		for _, i := range p.imports {
			if g[i] != nil {
				n++
			}
		}
	}
	return float64(n) / float64(len(g))
}
