package replica

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/tarball"
)

// maxFailures bounds the lines about files that are not copied: a replica can send millions.
const maxFailures = 20

// fetch copies a file or a folder of the replica to a local path.
func (t transfer) fetch(ctx context.Context, from, target string) error {
	dir, as, err := t.localTarget(ctx, from, target)
	if err != nil {
		return err
	}
	return t.read(ctx, from, func(archive io.Reader) error {
		// The target is created when the source is known to exist.
		first := make([]byte, 1)
		if _, err := io.ReadFull(archive, first); err != nil {
			return err
		}
		if as == "." {
			if err := os.MkdirAll(dir, 0o777); err != nil {
				return err
			}
		}
		root, err := os.OpenRoot(dir)
		if err != nil {
			return err
		}
		defer root.Close()
		switch b := base(from); {
		case b == "":
			as = ""
		case as == "": // whatever names the replica sends
			as = b
		}
		failed := 0
		u := tarball.Unpacker{Root: root, As: as, Failed: func(name string, err error) {
			if failed++; failed <= maxFailures {
				t.Explain(fmt.Errorf("copy %s: %w", ui.QuoteWord(name), err))
			}
		}}
		if err := u.Unpack(ctx, io.MultiReader(strings.NewReader(string(first)), archive)); err != nil {
			return err
		}
		if failed > maxFailures {
			t.Explain(fmt.Errorf("%s not copied in all", ui.Counted(failed, "file")))
		}
		if failed > 0 {
			return program.QuietError(program.ExitError)
		}
		return nil
	})
}

// localTarget returns the folder to write to, and the name in it of what is copied: "." for the
// contents of the source, "" for its own name.
func (t transfer) localTarget(
	ctx context.Context, from, target string,
) (dir, as string, err error) {
	path := t.Env.Absolute(target)
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir() && isContents(from):
		return path, ".", nil
	case err == nil && info.IsDir():
		return path, "", nil
	case err == nil && !info.Mode().IsRegular():
		return "", "", fmt.Errorf("%s is not a regular file", target)
	case err == nil && isContents(from):
		return "", "", fmt.Errorf("%s is not a folder", target)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return "", "", err
	case isContents(from):
		return path, ".", nil
	case err != nil && os.IsPathSeparator(target[len(target)-1]):
		mode, err := t.in.Backend.StatFile(ctx, t.in.Ref.ID, t.in.Replica, from)
		if err != nil {
			return "", "", err
		}
		if !mode.IsDir() {
			return "", "", fmt.Errorf("%s does not exist: create the folder first", target)
		}
	}
	return filepath.Dir(path), filepath.Base(path), nil
}

// upload copies a local file or folder, or a tar archive from stdin, to the replica.
func (t transfer) upload(ctx context.Context, source, to string) error {
	if source == "-" {
		return t.write(ctx, to, t.In)
	}
	local := t.Env.Absolute(source)
	info, err := os.Stat(local) // of the file that a link names
	if err != nil {
		return err
	}
	if local, err = filepath.EvalSymlinks(local); err != nil {
		return err
	}
	dir, as, err := t.remoteTarget(ctx, filepath.ToSlash(source), to, info.IsDir())
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(filepath.Dir(local))
	if err != nil {
		return err
	}
	defer root.Close()
	archive, w := io.Pipe()
	packed := make(chan error, 1)
	go func() {
		err := tarball.Pack(ctx, w, root, filepath.Base(local), as)
		_ = w.Close() // a file that is left out does not spoil the archive
		packed <- err
	}()
	err = t.write(ctx, dir, archive)
	_ = archive.CloseWithError(errStopped)
	if packErr := <-packed; packErr != nil && !errors.Is(packErr, errStopped) {
		err = errors.Join(err, packErr)
	}
	return err
}

func (t transfer) write(ctx context.Context, dir string, archive io.Reader) error {
	return t.in.Backend.WriteFiles(ctx, t.in.Ref.ID, t.in.Replica, dir, archive)
}

// remoteTarget returns the folder of the replica to write to, and the name in it of what is copied.
func (t transfer) remoteTarget(
	ctx context.Context, source, to string, isDir bool,
) (dir, as string, err error) {
	if to == "" {
		to = "."
	}
	mode, err := t.in.Backend.StatFile(ctx, t.in.Ref.ID, t.in.Replica, to)
	name := path.Base(path.Clean(to))
	switch {
	case err == nil && mode.IsDir() && isDir && isContents(source):
		return to, ".", nil
	case err == nil && mode.IsDir():
		return to, filepath.Base(t.Env.Absolute(source)), nil
	case err == nil && isDir:
		return "", "", fmt.Errorf("%s is not a folder in the replica", to)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return "", "", err
	case err != nil && !isDir && strings.HasSuffix(to, "/"):
		return "", "", fmt.Errorf("%s does not exist in the replica: create the folder first, `torchx exec %s -- mkdir -p %s`", to, t.in, to)
	}
	return path.Dir(path.Clean(to)), name, nil
}
