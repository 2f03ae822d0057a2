package tarball

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// ErrOutside means that an entry of an archive would be outside of the target.
var ErrOutside = errors.New("leads outside of the target")

// Unpacker extracts archives. It replaces files that exist; folders take further files.
type Unpacker struct {
	Root *os.Root
	// As replaces the first element of names, which must be the same in all: the archive of one
	// file or folder. "." leaves it out, "" keeps the names.
	As string
	// Failed receives what could not be extracted; the rest is.
	Failed func(name string, err error)
	// Check is called before each entry, whose header it may change; its error ends Unpack. nil: all
	// entries are welcome.
	Check func(h *tar.Header) error
}

// Unpack extracts an archive. Errors: that it is damaged, those of ctx.
func (u Unpacker) Unpack(ctx context.Context, archive io.Reader) error {
	in := tar.NewReader(reader{ctx, archive})
	var folders []stamp // that were created; their times change while files are
	for {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return damaged(ctx, err)
		}
		if u.Check != nil {
			if err := u.Check(h); err != nil {
				return err
			}
		}
		name, err := u.place(h.Name)
		isNew := false
		if err == nil {
			isNew, err = u.extract(reader{ctx, in}, h, name) // a hole is not read from the archive
		}
		var broken *readError
		switch {
		case errors.As(err, &broken):
			return damaged(ctx, broken.err)
		case err != nil:
			u.Failed(h.Name, plain(err))
		case isNew && h.Typeflag == tar.TypeDir:
			folders = append(folders, stampOf(h, name))
		}
	}
	for _, f := range folders {
		u.finish(f)
	}
	return nil
}

// stamp is what is set when an entry is complete. A header may hold a megabyte more.
type stamp struct {
	name    string
	perm    fs.FileMode
	modTime time.Time
}

func stampOf(h *tar.Header, name string) stamp {
	return stamp{name, h.FileInfo().Mode().Perm(), h.ModTime}
}

func damaged(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return fmt.Errorf("the tar archive is damaged: %w", err)
}

// readError is an error of the archive, not of a file.
type readError struct{ err error }

func (e *readError) Error() string { return e.err.Error() }
func (e *readError) Unwrap() error { return e.err }

// maxName bounds the path of an entry, in bytes: Linux opens no longer ones, so that a deeper
// folder could hardly be removed.
const maxName = 4095

// place returns where an entry belongs, below the root.
func (u Unpacker) place(name string) (string, error) {
	clean := path.Clean(strings.TrimLeft(filepath.ToSlash(name), "/"))
	if !filepath.IsLocal(clean) {
		return "", ErrOutside
	}
	if len(clean) > maxName {
		return "", syscall.ENAMETOOLONG
	}
	if u.As == "" {
		return clean, nil
	}
	_, rest, _ := strings.Cut(clean, "/")
	return path.Join(u.As, rest), nil
}

// extract creates an entry. A folder may exist: it is not new, and keeps its permissions.
func (u Unpacker) extract(in io.Reader, h *tar.Header, name string) (isNew bool, err error) {
	if dir := path.Dir(name); dir != "." {
		if err := u.Root.MkdirAll(dir, 0o777); err != nil {
			return false, err
		}
	}
	switch h.Typeflag {
	case tar.TypeDir:
		return u.mkdir(h, name)
	case tar.TypeReg, tar.TypeGNUSparse:
		return true, u.write(in, h, name)
	case tar.TypeSymlink:
		return true, u.symlink(h, name)
	case tar.TypeLink:
		return true, u.hardLink(h, name)
	}
	return false, errSpecial
}

func (u Unpacker) mkdir(h *tar.Header, name string) (isNew bool, err error) {
	err = u.Root.Mkdir(name, h.FileInfo().Mode().Perm()|0o700)
	if !errors.Is(err, fs.ErrExist) {
		return true, err
	}
	info, err := u.Root.Stat(name)
	if err == nil && !info.IsDir() {
		err = errors.New("is not a folder: remove it first")
	}
	return false, err
}

// write creates a file. An existing one is removed before: it may be a link, or be in use.
func (u Unpacker) write(in io.Reader, h *tar.Header, name string) error {
	if isSparse(h) && h.Size > maxSparse {
		return fmt.Errorf("a sparse file of %d bytes is too large: the limit is 1 TiB", h.Size)
	}
	perm := h.FileInfo().Mode().Perm()
	var f *os.File
	err := u.replace(name, func() (err error) {
		f, err = u.Root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm|0o200)
		return err
	})
	if err != nil {
		return err
	}
	var out io.Writer = f
	if isSparse(h) {
		out = holes{f}
	}
	if _, err = io.Copy(writeErrors{out}, in); err == nil {
		err = f.Truncate(h.Size) // a hole at the end
	}
	var failed *writeError
	if err != nil && !errors.As(err, &failed) {
		err = &readError{err}
	}
	if err = errors.Join(err, f.Close()); err == nil {
		u.finish(stampOf(h, name))
	}
	return err
}

// writeErrors tells errors of the file from those of the archive.
type writeErrors struct{ w io.Writer }

type writeError struct{ err error }

func (e *writeError) Error() string { return plain(e.err).Error() }
func (e *writeError) Unwrap() error { return e.err }

func (w writeErrors) Write(p []byte) (int, error) {
	n, err := w.w.Write(p)
	if err != nil {
		err = &writeError{err}
	}
	return n, err
}

// symlink creates a link that stays inside the target, and inside of the file or folder As. Its
// target is cleaned, and it is not created through another link: ".." then means the folder above.
func (u Unpacker) symlink(h *tar.Header, name string) error {
	target := path.Clean(filepath.ToSlash(h.Linkname))
	leadsTo := path.Join(path.Dir(name), target)
	if path.IsAbs(target) || filepath.IsAbs(h.Linkname) || !filepath.IsLocal(leadsTo) ||
		!u.contains(leadsTo) {
		return fmt.Errorf("the link to %s %w", h.Linkname, ErrOutside)
	}
	if err := u.checkParents(name); err != nil {
		return err
	}
	return u.replace(name, func() error { return u.Root.Symlink(target, name) })
}

// contains reports whether a path is in what As names.
func (u Unpacker) contains(name string) bool {
	return u.As == "" || u.As == "." || name == u.As || strings.HasPrefix(name, u.As+"/")
}

// checkParents returns an error if a folder above name is a link.
func (u Unpacker) checkParents(name string) error {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		info, err := u.Root.Lstat(dir)
		if err != nil {
			return err
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			return errors.New("a link inside of another link is not created")
		}
	}
	return nil
}

// hardLink links to a regular file. A link to a symbolic link would move it, and lead elsewhere.
func (u Unpacker) hardLink(h *tar.Header, name string) error {
	target, err := u.place(h.Linkname)
	if err != nil {
		return err
	}
	info, err := u.Root.Lstat(target)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("the hard link to %s: not a regular file", h.Linkname)
	}
	return u.replace(name, func() error { return u.Root.Link(target, name) })
}

// replace calls create, and if a file is in the way again without it.
func (u Unpacker) replace(name string, create func() error) error {
	err := create()
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := u.Root.Lstat(name)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return errors.New("a folder of this name is in the way: remove it first")
	}
	if err := u.Root.Remove(name); err != nil {
		return err
	}
	return create()
}

// finish sets the permissions and the time of an entry, as far as the file system allows. The umask
// does not apply: a file copied into a container and back has the permissions it had.
func (u Unpacker) finish(s stamp) {
	_ = u.Root.Chmod(s.name, s.perm)
	if !s.modTime.IsZero() {
		_ = u.Root.Chtimes(s.name, time.Time{}, s.modTime)
	}
}
