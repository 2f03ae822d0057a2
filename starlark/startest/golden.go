package startest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/pmezard/go-difflib/difflib"
	"go.starlark.net/starlark"

	"torchx/runtime/pattern"
	"torchx/starlark/interp"
	"torchx/starlark/specmodule"
)

// goldenDir is the folder of golden files, next to the test file.
const goldenDir = "testdata"

// goldenName matches names of golden files that are valid on every system.
var goldenName = pattern.Lazy(`^[A-Za-z0-9_][A-Za-z0-9_.+=-]*(/[A-Za-z0-9_][A-Za-z0-9_.+=-]*)*$`)

// golden is t.golden(value, name): it compares value with testdata/NAME.json, or NAME.txt for a
// string. -update writes the file.
func (x *test) golden(c call) (starlark.Value, error) {
	var v starlark.Value
	var name string
	if err := c.unpack("value", &v, "name", &name); err != nil {
		return nil, err
	}
	if !goldenName().MatchString(name) || len(name) > 200 {
		return nil, fmt.Errorf("%q cannot be the name of a golden file: use letters, digits and _.+=-, with slashes between parts", name)
	}
	file, got, err := goldenText(c.name, name, v)
	if err != nil {
		return nil, err
	}
	if x.exec.runner.options.Update {
		return x.writeGolden(c, file, got)
	}
	want, err := x.exec.file.readGolden(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return x.failed(c, "", file+" does not exist (write it with -update)")
	case err != nil:
		return nil, err
	case bytes.Equal(got, want):
		return starlark.True, nil
	}
	return x.failed(c, "", fmt.Sprintf("got differs from %s (accept it with -update):\n%s", file, lineDiff(string(got), string(want))))
}

// goldenText returns the golden file of a value, relative to the test file, and its content.
func goldenText(what, name string, v starlark.Value) (file string, data []byte, err error) {
	if s, ok := starlark.AsString(v); ok {
		return path.Join(goldenDir, name+".txt"), []byte(s), nil
	}
	if err := interp.CheckPrint(what, v); err != nil {
		return "", nil, err
	}
	data, err = indented(v)
	return path.Join(goldenDir, name+".json"), data, err
}

// readGolden reads a golden file. It converts Windows line ends, which Git may have written.
func (f *file) readGolden(name string) ([]byte, error) {
	root, err := os.OpenRoot(f.dir())
	if err != nil {
		return nil, err
	}
	defer root.Close()
	data, err := root.ReadFile(filepath.FromSlash(name))
	return bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")), err
}

func (f *file) dir() string { return filepath.Dir(f.path) }

// writeGolden writes a golden file, unless another test of this run wrote different content.
func (x *test) writeGolden(c call, name string, data []byte) (starlark.Value, error) {
	f := x.exec.file
	if before, written := f.runner.goldens.LoadOrStore(filepath.Join(f.dir(), name), string(data)); written && before != string(data) {
		return x.failed(c, "", name+" would be written twice with different contents: use two names")
	}
	old, err := f.readGolden(name)
	if err == nil && bytes.Equal(old, data) {
		return starlark.True, nil
	}
	if err := f.replaceGolden(name, data); err != nil {
		return nil, fmt.Errorf("write %s: %w", name, err)
	}
	x.result.Wrote = append(x.result.Wrote, name)
	return starlark.True, nil
}

// replaceGolden writes under a temporary name first, so that no half-written file remains.
func (f *file) replaceGolden(name string, data []byte) error {
	root, err := os.OpenRoot(f.dir())
	if err != nil {
		return err
	}
	defer root.Close()
	name = filepath.FromSlash(name)
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	part := fmt.Sprintf("%s.%d.tmp", name, os.Getpid())
	if err := root.WriteFile(part, data, 0o644); err != nil {
		return err
	}
	if err := root.Rename(part, name); err != nil {
		return errors.Join(err, root.Remove(part))
	}
	return nil
}

const (
	maxShort = 100     // characters of a value on one line
	maxLine  = 120     // bytes of two values on one line
	maxDiff  = 1 << 18 // bytes of a text that is compared line by line
	maxLines = 200     // shown lines of a difference
)

// short returns a value as text on one short line.
func short(what string, v starlark.Value) (string, error) {
	if err := interp.CheckPrint(what, v); err != nil {
		return "", err
	}
	text := v.String()
	if utf8.RuneCountInString(text) > maxShort {
		text = string([]rune(text)[:maxShort]) + "…"
	}
	return text, nil
}

// difference compares two values, on one line or line by line.
func difference(what string, got, want starlark.Value) (string, error) {
	if err := interp.CheckPrint(what, got, want); err != nil {
		return "", err
	}
	g, w := got.String(), want.String()
	if g == w {
		g, w = g+" ("+got.Type()+")", w+" ("+want.Type()+")"
	}
	if len(g)+len(w) <= maxLine {
		return "got " + g + ", want " + w, nil
	}
	return "got differs from want:\n" + lineDiff(lines(got), lines(want)), nil
}

// lines returns a value as text of several lines: strings unchanged, JSON values indented.
func lines(v starlark.Value) string {
	if s, ok := starlark.AsString(v); ok {
		return s
	}
	data, err := indented(v)
	if err != nil {
		return v.String()
	}
	return string(data)
}

func indented(v starlark.Value) ([]byte, error) {
	data, err := specmodule.ToJSON(v)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, data, "", "  "); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// lineDiff returns the unified difference of two texts; "-" marks lines of want.
func lineDiff(got, want string) string {
	if len(got) > maxDiff || len(want) > maxDiff {
		return fmt.Sprintf("got %d bytes, want %d; the texts are too long for a comparison by line",
			len(got), len(want))
	}
	text, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
		A: difflib.SplitLines(want), B: difflib.SplitLines(got), FromFile: "want", ToFile: "got", Context: 3,
	})
	if err != nil {
		return err.Error()
	}
	all := strings.SplitAfter(text, "\n")
	if len(all) > maxLines {
		text = strings.Join(all[:maxLines], "") + fmt.Sprintf("… %d more lines\n", len(all)-maxLines)
	}
	return text
}
