package outputs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Copier copies files out of a folder.
type Copier struct {
	Replace bool // existing files
	// Failed receives what could not be copied; the rest is.
	Failed func(name string, err error)
	// Copied receives the bytes of files as they are copied; may be nil.
	Copied func(bytes int64)
}

// Errors of Copy.
var (
	ErrOutside = errors.New("outside the output folder")
	ErrExists  = errors.New("already exists")
)

// item is a named file or folder and its path in the target.
type item struct{ from, to string }

// Copy copies files and folders below from into the folder to, which it creates: each by the
// last element of its name, "." by its contents. Without Replace it copies nothing if a file
// is in the way. It returns an error for a name that cannot be copied at all, before it
// copies; later errors go to Failed. A canceled ctx ends it between two parts of a file.
func (c Copier) Copy(ctx context.Context, from string, names []string, to string) error {
	src, err := os.OpenRoot(from)
	if err != nil {
		return err
	}
	defer src.Close()
	items, err := itemsOf(src, names)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o777); err != nil {
		return err
	}
	dst, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer dst.Close()
	t := transfer{Copier: c, ctx: ctx, src: src, dst: dst}
	for _, do := range []func(item, Entry) error{t.check, t.copy} {
		for _, i := range items {
			if err := t.each(i, do); err != nil {
				return err
			}
		}
	}
	return nil
}

// Total returns the number of bytes that Copy would copy.
func Total(from string, names []string) (total int64) {
	src, err := os.OpenRoot(from)
	if err != nil {
		return 0
	}
	defer src.Close()
	items, err := itemsOf(src, names)
	if err != nil {
		return 0
	}
	t := transfer{src: src}
	for _, i := range items {
		_ = t.each(i, func(_ item, e Entry) error {
			total += e.Size
			return nil
		})
	}
	return total
}

// itemsOf checks names and returns where they are copied to.
func itemsOf(src *os.Root, names []string) ([]item, error) {
	var items []item
	taken := map[string]string{}
	for _, name := range names {
		clean := path.Clean(filepath.ToSlash(name))
		if name == "" || !filepath.IsLocal(clean) {
			return nil, outside(name)
		}
		if _, err := src.Stat(clean); err != nil {
			return nil, nameError(src, name, clean, err)
		}
		i := item{clean, path.Base(clean)}
		switch other := taken[i.to]; other {
		case "":
			taken[i.to] = clean
			items = append(items, i)
		case clean:
		default:
			return nil, fmt.Errorf("%s and %s have the same name: copy them into different folders", other, clean)
		}
	}
	return items, nil
}

// nameError explains why a named file cannot be copied.
func nameError(src *os.Root, name, clean string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("no file %q in the output folder", name)
	}
	if info, lstatErr := src.Lstat(clean); lstatErr == nil && info.Mode()&fs.ModeSymlink != 0 {
		return fmt.Errorf("%q is a link to a place %w", name, ErrOutside)
	}
	if strings.Contains(err.Error(), "escapes") { // os.Root has no error value for it
		return outside(name)
	}
	return err
}

func outside(name string) error { return fmt.Errorf("%q is %w", name, ErrOutside) }

// transfer is one call of Copy.
type transfer struct {
	Copier
	ctx      context.Context
	src, dst *os.Root
}

// each calls do for a named file, or for a folder and everything below it.
func (t *transfer) each(i item, do func(item, Entry) error) error {
	info, err := t.src.Stat(i.from) // follows links inside the folder
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return do(i, Entry{Mode: info.Mode(), Size: info.Size()})
	}
	root, err := t.src.OpenRoot(i.from)
	if err != nil {
		return err
	}
	defer root.Close()
	if i.from != "." {
		if err := do(i, Entry{Mode: info.Mode()}); err != nil {
			return err
		}
	}
	return walk(root, "", func(e Entry) error {
		return do(item{path.Join(i.from, e.Name), path.Join(i.to, e.Name)}, e)
	})
}

// check returns an error if a file is in the way of an item.
func (t *transfer) check(i item, e Entry) error {
	there, err := t.dst.Lstat(i.to)
	switch {
	case err != nil || there.IsDir() && e.Mode.IsDir(): // a folder takes further files; copy reports errors
		return t.ctx.Err()
	case there.IsDir():
		return fmt.Errorf("%s is a folder: remove it first", i.to)
	case e.Mode.IsDir():
		return fmt.Errorf("%s is not a folder: remove it first", i.to)
	case !t.Replace:
		return fmt.Errorf("%s %w", i.to, ErrExists)
	}
	return t.ctx.Err()
}

// copy copies one item, and reports why it cannot.
func (t *transfer) copy(i item, e Entry) error {
	err := e.Err
	switch {
	case err != nil:
	case e.Mode.IsDir():
		if err = t.dst.Mkdir(i.to, e.Mode.Perm()|0o700); errors.Is(err, fs.ErrExist) {
			err = nil
		}
	case e.Mode.IsRegular():
		err = t.copyFile(i)
	case e.Mode&fs.ModeSymlink != 0:
		err = t.copyLink(i, e.Target)
	default:
		err = errors.New("pipes, sockets and devices cannot be copied")
	}
	if t.ctx.Err() != nil {
		return t.ctx.Err()
	}
	if err != nil {
		t.Failed(i.from, err)
	}
	return nil
}
