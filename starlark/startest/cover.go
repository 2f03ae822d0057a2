package startest

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"

	"torchx/starlark/interp"
)

// MergeCoverage adds up the coverage of several runs, sorted by path. Of a changed file the last
// one counts.
func MergeCoverage(lists ...[]interp.FileCoverage) []interp.FileCoverage {
	files := map[string]interp.FileCoverage{}
	for _, list := range lists {
		for _, f := range list {
			before, retryFiles := files[f.Path]
			f.Blocks = slices.Clone(f.Blocks)
			if retryFiles && len(before.Blocks) == len(f.Blocks) {
				for i := range f.Blocks {
					f.Blocks[i].Count += before.Blocks[i].Count
				}
			}
			files[f.Path] = f
		}
	}
	return slices.SortedFunc(maps.Values(files), func(a, b interp.FileCoverage) int { return cmp.Compare(a.Path, b.Path) })
}

// Covered counts the statements of files, and those that ran.
func Covered(files ...interp.FileCoverage) (ran, all int) {
	for _, f := range files {
		all += len(f.Blocks)
		for _, b := range f.Blocks {
			if b.Count > 0 {
				ran++
			}
		}
	}
	return ran, all
}

// WriteProfile writes coverage as `go test -coverprofile` does; name maps paths to names in it.
func WriteProfile(w io.Writer, files []interp.FileCoverage, name func(path string) string) error {
	if _, err := io.WriteString(w, "mode: count\n"); err != nil {
		return err
	}
	for _, f := range files {
		for _, b := range f.Blocks {
			_, err := fmt.Fprintf(w, "%s:%d.%d,%d.%d 1 %d\n", name(f.Path), b.Line, b.Col, b.EndLine, b.EndCol, b.Count)
			if err != nil {
				return err
			}
		}
	}
	return nil
}
