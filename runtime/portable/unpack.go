package portable

import (
	"archive/tar"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"

	"torchx/runtime/safefile"
	"torchx/runtime/tarball"
)

// Limits of an archive. A header of a kilobyte can announce 8 EiB, and zstd packs zeros by a factor
// of 10,000.
const (
	maxWindow  = 128 << 20 // bytes that the decoder holds
	maxEntries = 1 << 20
	maxHead    = 1 << 20
	maxRuns    = 10000
)

// Unpacker extracts an archive into a folder.
type Unpacker struct {
	MaxBytes int64 // of all files
	// Skipped receives outputs that were left out, such as links that lead outside.
	Skipped func(name string, err error)

	dir     string
	head    *head // nil before the second entry
	entries int
	bytes   int64
	refused error // of an entry that must not be left out
}

// Unpack extracts an archive into dir, an empty folder, and returns the folders of its runs.
// Everything becomes readable by its owner only. Errors: that it is not an archive of runs, is
// damaged, is newer than this version, or exceeds a limit.
func (u *Unpacker) Unpack(ctx context.Context, in io.Reader, dir string) (runs []string, err error) {
	u.dir = dir
	pressed, err := zstd.NewReader(in, zstd.WithDecoderMaxMemory(maxWindow), zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer pressed.Close()
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	err = tarball.Unpacker{Root: root, Check: u.check, Failed: u.failed}.Unpack(ctx, pressed)
	switch {
	case err != nil && u.entries == 0:
		return nil, fmt.Errorf("it is not an archive of `torchx export`: %w", err)
	case err != nil:
		return nil, err
	case u.refused != nil:
		return nil, u.refused
	case u.entries == 0:
		return nil, errors.New("it is not an archive of `torchx export`: it is empty")
	}
	if err := u.readHead(); err != nil {
		return nil, err
	}
	for n := range u.head.Runs {
		run := filepath.Join(dir, filepath.FromSlash(runFolder(n)))
		if _, err := os.Lstat(filepath.Join(run, RecordFile)); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("the archive is incomplete: it has %d of %d runs", n, u.head.Runs)
		}
		runs = append(runs, run)
	}
	return runs, nil
}

// check admits an entry: only outputs may have links, and the first entry tells the format.
func (u *Unpacker) check(h *tar.Header) error {
	name := path.Clean(h.Name)
	u.entries++
	if u.entries == 1 {
		if name != headFile || h.Typeflag != tar.TypeReg || h.Size > maxHead {
			return fmt.Errorf("the first file is not %s", headFile)
		}
	} else if err := u.readHead(); err != nil {
		return err
	} else if name == headFile {
		return fmt.Errorf("%s is there twice", headFile)
	}
	link := h.Typeflag == tar.TypeSymlink && isOutput(name)
	if h.Typeflag != tar.TypeReg && h.Typeflag != tar.TypeDir && !link {
		return fmt.Errorf("%q is neither a file nor a folder", h.Name)
	}
	if h.Size < 0 || h.Size > u.MaxBytes-u.bytes {
		return fmt.Errorf("its files are larger than %d bytes (--max-size raises the limit)", u.MaxBytes)
	}
	if u.bytes += h.Size; u.entries > maxEntries {
		return fmt.Errorf("it has more than %d files", maxEntries)
	}
	h.Mode = h.Mode&0o700 | 0o600
	if h.Typeflag == tar.TypeDir {
		h.Mode = 0o700
	}
	return nil
}

// isOutput reports whether an entry is below runs/N/output.
func isOutput(name string) bool {
	parts := strings.SplitN(name, "/", 4)
	return len(parts) == 4 && parts[0] == "runs" && parts[2] == OutputFolder
}

func (u *Unpacker) failed(name string, err error) {
	if isOutput(path.Clean(name)) {
		u.Skipped(name, err)
	} else if u.refused == nil {
		u.refused = fmt.Errorf("%q: %w", name, err)
	}
}

// readHead reads the format of the archive, once.
func (u *Unpacker) readHead() error {
	if u.head != nil {
		return nil
	}
	h := &head{}
	data, err := safefile.ReadFile(filepath.Join(u.dir, headFile), maxHead)
	if err == nil {
		err = json.Unmarshal(data, h)
	}
	switch {
	case err != nil:
		return fmt.Errorf("read %s: %w", headFile, err)
	case h.Format > Format:
		return fmt.Errorf("torchx %s wrote it in format %d, and this version reads formats up to %d: install a newer torchx", h.Version, h.Format, Format)
	case h.Format < 1 || h.Runs < 1 || h.Runs > maxRuns:
		return fmt.Errorf("%s is invalid", headFile)
	}
	u.head = h
	return nil
}
