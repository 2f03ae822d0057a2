package outputs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"runtime"

	"torchx/runtime/safefile"
)

// copyFile copies a regular file under a temporary name, then gives it its name. The umask applies
// to its permissions, as with cp(1).
func (t *transfer) copyFile(i item) (err error) {
	src, err := safefile.OpenIn(t.src, i.from)
	if err != nil {
		return err
	}
	defer src.Close()
	info, err := src.Stat()
	if err != nil {
		return err
	}
	tmp := path.Join(path.Dir(i.to), fmt.Sprintf(".torchx-%016x", rand.Uint64()))
	dst, err := t.dst.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm()|0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, t.dst.Remove(tmp))
		}
	}()
	err = errors.Join(copyData(t.ctx, dst, src, info.Size(), t.Copied), dst.Close())
	if err != nil {
		return err
	}
	return t.place(tmp, i.to)
}

// place renames a complete file. Without Replace it never replaces another file, not even one
// that appeared meanwhile, unless the file system has no links.
func (t *transfer) place(tmp, to string) error {
	if t.Replace {
		return t.dst.Rename(tmp, to)
	}
	err := t.dst.Link(tmp, to)
	if err == nil {
		return t.dst.Remove(tmp)
	}
	if _, there := t.dst.Lstat(to); there == nil {
		return fmt.Errorf("%s %w", to, ErrExists)
	}
	return t.dst.Rename(tmp, to)
}

// copyLink copies a link that stays inside the copied folder.
func (t *transfer) copyLink(i item, target string) error {
	if filepath.IsAbs(target) || !filepath.IsLocal(path.Join(path.Dir(i.from), filepath.ToSlash(target))) {
		return fmt.Errorf("a link to a place %w cannot be copied", ErrOutside)
	}
	err := t.dst.Symlink(target, i.to)
	if errors.Is(err, fs.ErrExist) && t.Replace {
		err = errors.Join(t.dst.Remove(i.to), t.dst.Symlink(target, i.to))
	}
	return err
}

const (
	// partSize is how many bytes are copied before a cancellation is noticed.
	partSize = 8 << 20
	// seekData and seekHole are for lseek(2) on Linux.
	seekData, seekHole = 3, 4
)

// copyData copies size bytes and leaves holes as they are.
func copyData(ctx context.Context, dst, src *os.File, size int64, copied func(int64)) error {
	for at := int64(0); at < size; {
		from, to := nextData(src, at, size)
		if _, err := src.Seek(from, io.SeekStart); err != nil {
			return err
		}
		if _, err := dst.Seek(from, io.SeekStart); err != nil {
			return err
		}
		for from < to {
			n, err := io.CopyN(dst, src, min(partSize, to-from))
			if copied != nil {
				copied(n)
			}
			if errors.Is(err, io.EOF) { // shorter than it was
				return dst.Truncate(from + n)
			}
			if err = errors.Join(err, ctx.Err()); err != nil {
				return err
			}
			from += n
		}
		at = to
	}
	return dst.Truncate(size) // a hole at the end
}

// nextData returns the next part of a file that is not a hole; an empty one at its end if
// there is none. If the system does not tell, all is data.
func nextData(f *os.File, at, size int64) (from, to int64) {
	if runtime.GOOS != "linux" {
		return at, size
	}
	from, err := f.Seek(at, seekData)
	if err != nil {
		if _, err := f.Seek(at, seekHole); err != nil {
			return at, size // not supported
		}
		return size, size
	}
	to, err = f.Seek(from, seekHole)
	if err != nil || to <= from {
		return from, size
	}
	return min(from, size), min(to, size)
}
