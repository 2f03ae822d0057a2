package startest

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"go.starlark.net/starlark"

	"torchx/runtime/lazyregexp"
	"torchx/starlark/interp"
)

// goldenDir is the folder of golden files, beside the test file.
const goldenDir = "testdata"

// goldenName matches names of golden files: parts that no system takes for
// anything else, with slashes between them.
var goldenName = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9_.+=-]*(/[A-Za-z0-9_][A-Za-z0-9_.+=-]*)*$`)

// golden is t.golden(value, name): value must be what the file
// testdata/NAME.json holds, or NAME.txt if it is a string. With -update the file
// is written instead.
func (x *test) golden(c call) (starlark.Value, error) {
	var v starlark.Value
	var name string
	if err := c.unpack("value", &v, "name", &name); err != nil {
		return nil, err
	}
	if !goldenName().MatchString(name) || len(name) > 200 {
		return nil, fmt.Errorf("%q cannot be the name of a golden file: letters, digits and _.+=- with slashes between parts", name)
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
		return x.failed(c, "", file+" does not exist: -update writes it")
	case err != nil:
		return nil, err
	case bytes.Equal(got, want):
		return starlark.True, nil
	}
	return x.failed(c, "", fmt.Sprintf("got is not %s (-update accepts it):\n%s", file, lineDiff(string(got), string(want))))
}

// goldenText is the file, relative to that of the test, and its content.
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

// readGolden reads a golden file; line ends of Windows, which git may have made,
// count as plain ones.
func (f *file) readGolden(name string) ([]byte, error) {
	root, err := os.OpenRoot(f.dir())
	if err != nil {
		return nil, err
	}
	defer root.Close()
	data, err := root.ReadFile(filepath.FromSlash(name))
	return bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")), err
}

// dir is the folder of the test file.
func (f *file) dir() string { return filepath.Dir(f.path) }

// writeGolden writes a golden file, unless it holds that already or another test
// of this run has written something else.
func (x *test) writeGolden(c call, name string, data []byte) (starlark.Value, error) {
	f := x.exec.file
	if before, again := f.runner.goldens.LoadOrStore(filepath.Join(f.dir(), name), string(data)); again && before != string(data) {
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

// replaceGolden never leaves half a file: it is written under another name first.
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
