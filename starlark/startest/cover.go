package startest

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"torchx/starlark/interp"
	"torchx/starlark/starfiles"
)

// MergeCoverage adds up the coverage of several runs, sorted by path. If a file changed, its last
// coverage replaces earlier ones.
func MergeCoverage(lists ...[]interp.FileCoverage) []interp.FileCoverage {
	files := map[string]interp.FileCoverage{}
	for _, list := range lists {
		for _, f := range list {
			before, known := files[f.Path]
			f.Blocks = slices.Clone(f.Blocks)
			if known && len(before.Blocks) == len(f.Blocks) {
				for i := range f.Blocks {
					f.Blocks[i].Count += before.Blocks[i].Count
				}
			}
			files[f.Path] = f
		}
	}
	return slices.SortedFunc(maps.Values(files), func(a, b interp.FileCoverage) int { return cmp.Compare(a.Path, b.Path) })
}

// Covered returns the number of statements that ran, and of all statements.
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

// WriteProfile writes coverage like `go test -coverprofile`; name maps paths to names in the
// profile.
func WriteProfile(w io.Writer, files []interp.FileCoverage, name func(path string) string) error {
	if _, err := io.WriteString(w, "mode: count\n"); err != nil {
		return err
	}
	for _, f := range files {
		for _, b := range f.Blocks {
			_, err := fmt.Fprintf(w, "%s:%d.%d,%d.%d 1 %d\n", name(f.Path), b.Line, b.Col,
				b.EndLine, b.EndCol, b.Count)
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// Percent formats the share of statements that ran: "66.7%".
func Percent(ran, all int) string {
	return fmt.Sprintf("%.1f%%", 100*float64(ran)/float64(max(all, 1)))
}

// Unloaded returns the coverage of the component files below paths, relative to dir, that no test
// loaded. It skips files that cannot be parsed.
func Unloaded(dir string, paths []string, loaded []interp.FileCoverage) []interp.FileCoverage {
	known := map[string]bool{}
	for _, f := range loaded {
		known[f.Path] = true
	}
	names, err := starfiles.Find(dir, paths)
	if err != nil {
		return nil
	}
	var list []interp.FileCoverage
	for _, name := range names {
		path := starfiles.Absolute(dir, name)
		if known[path] || starfiles.IsTest(name) {
			continue
		}
		if src, err := interp.ReadFile(path, name); err == nil {
			if f, err := interp.ZeroCoverage(path, name, src); err == nil {
				list = append(list, f)
			}
		}
	}
	return list
}

// MissedLines lists the lines with statements that did not run: "3, 7-9". A range ends with its
// function, since statements between two functions may have run.
func MissedLines(f interp.FileCoverage) string {
	var parts []string
	first, last, function := 0, 0, 0
	end := func() {
		switch first {
		case 0:
		case last:
			parts = append(parts, fmt.Sprint(first))
		default:
			parts = append(parts, fmt.Sprintf("%d-%d", first, last))
		}
		first, last = 0, 0
	}
	for _, b := range f.Blocks {
		if b.Count > 0 || b.Func != function {
			end()
		}
		if function = b.Func; b.Count > 0 {
			continue
		}
		if first == 0 {
			first = b.Line
		}
		last = max(last, b.EndLine)
	}
	end()
	return strings.Join(parts, ", ")
}
