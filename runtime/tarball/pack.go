// Package tarball moves files as tar archives: Pack writes a file or a folder, Unpack extracts
// archives that may be malicious. Both stay inside an os.Root, whatever links there are.
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

	"torchx/runtime/safefile"
)

// Pack writes the file or the folder name in root to w. In the archive its name is as; "." stands
// for the contents of a folder. A file that cannot be read is reported by the error, after the
// others are written. Owners are left out.
func Pack(ctx context.Context, w io.Writer, root *os.Root, name, as string) error {
	out := tar.NewWriter(w)
	skipped, err := Add(ctx, out, root, name, as)
	if err != nil {
		return err
	}
	return errors.Join(out.Close(), skipped)
}

// Add is Pack into an archive that takes more. skipped is the error of a file that was left out.
func Add(
	ctx context.Context, out *tar.Writer, root *os.Root, name, as string,
) (skipped, err error) {
	p := packer{ctx: ctx, out: out, root: root}
	info, err := root.Lstat(name)
	if err != nil {
		return nil, plain(err)
	}
	err = p.add(name, as, info)
	return p.failed, err
}

type packer struct {
	ctx    context.Context
	out    *tar.Writer
	root   *os.Root
	failed error // of files that were left out; only the first
}

// skip notes that a file is left out.
func (p *packer) skip(name string, err error) {
	if p.failed == nil {
		p.failed = fmt.Errorf("%s: %w", name, plain(err))
	}
}

// add writes an entry, and for a folder what is below it.
func (p *packer) add(name, as string, info fs.FileInfo) error {
	if err := p.ctx.Err(); err != nil {
		return err
	}
	switch {
	case info.Mode().IsRegular():
		return p.addFile(name, as)
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := p.root.Readlink(name)
		if err != nil {
			p.skip(name, err)
			return nil
		}
		return p.out.WriteHeader(headerOf(as, info, target))
	case info.IsDir():
		return p.addFolder(name, as, info)
	}
	p.skip(name, errSpecial)
	return nil
}

var errSpecial = errors.New("pipes, sockets and devices cannot be copied")

func (p *packer) addFile(name, as string) error {
	f, err := safefile.OpenIn(p.root, name)
	if err != nil {
		p.skip(name, err)
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if err := p.out.WriteHeader(headerOf(as, info, "")); err != nil {
		return err
	}
	n, err := io.Copy(p.out, io.LimitReader(reader{p.ctx, f}, info.Size()))
	if err == nil && n < info.Size() { // it became shorter: the header has promised more
		_, err = io.CopyN(p.out, zeros{}, info.Size()-n)
		p.skip(name, errors.New("the file became shorter while it was copied"))
	}
	return err
}

func (p *packer) addFolder(name, as string, info fs.FileInfo) error {
	if as != "." { // else its permissions would become those of the target
		if err := p.out.WriteHeader(headerOf(as+"/", info, "")); err != nil {
			return err
		}
	}
	dir, err := p.root.Open(name)
	if err != nil {
		p.skip(name, err)
		return nil
	}
	defer dir.Close()
	for {
		entries, err := dir.ReadDir(1000) // a folder may have a million files
		for _, e := range entries {
			child := path.Join(name, e.Name())
			info, err := p.root.Lstat(child)
			if errors.Is(err, fs.ErrNotExist) { // removed meanwhile
				continue
			}
			if err != nil {
				p.skip(child, err)
				continue
			}
			if err := p.add(child, path.Join(as, e.Name()), info); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			p.skip(name, err)
			return nil
		}
	}
}

func headerOf(name string, info fs.FileInfo, target string) *tar.Header {
	h := &tar.Header{Name: name, Mode: int64(info.Mode().Perm()), ModTime: info.ModTime(), Typeflag: tar.TypeReg, Linkname: target}
	switch {
	case info.IsDir():
		h.Typeflag = tar.TypeDir
	case target != "":
		h.Typeflag = tar.TypeSymlink
	default:
		h.Size = info.Size()
	}
	return h
}

// reader ends with its context.
type reader struct {
	ctx context.Context
	r   io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// plain returns an error without the operation and path that messages name already.
func plain(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}
