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
	"strconv"
	"time"

	"github.com/klauspost/compress/zstd"

	"torchx/runtime/tarball"
)

const headFile = "torchx-export.json"

// head is the first file of an archive.
type head struct {
	Format  int    `json:"format"`
	Version string `json:"torchx"` // that wrote it
	Runs    int    `json:"runs"`
}

// Writer writes an archive.
type Writer struct {
	pressed *zstd.Encoder
	out     *tar.Writer
	written int
	// Skipped receives what was left out, such as pipes among outputs.
	Skipped func(name string, err error)
}

// NewWriter begins an archive of a number of runs; version is that of this program.
func NewWriter(w io.Writer, version string, runs int, skipped func(string, error)) (*Writer, error) {
	pressed, err := zstd.NewWriter(w)
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(head{Format, version, runs})
	if err != nil {
		return nil, err
	}
	a := &Writer{pressed: pressed, out: tar.NewWriter(pressed), Skipped: skipped}
	return a, a.file(headFile, data)
}

func (w *Writer) file(name string, data []byte) error {
	h := &tar.Header{
		Name: name, Mode: 0o600, Size: int64(len(data)), ModTime: time.Now(), Typeflag: tar.TypeReg,
	}
	if err := w.out.WriteHeader(h); err != nil {
		return err
	}
	_, err := w.out.Write(data)
	return err
}

// Part is a file or a folder of this machine that becomes one of a run.
type Part struct{ Dir, Name, As string }

// Add adds a run: its record, its diff if it has one, and those parts that exist.
func (w *Writer) Add(ctx context.Context, record, diff []byte, parts []Part) error {
	dir := runFolder(w.written)
	w.written++
	if err := w.file(path.Join(dir, RecordFile), record); err != nil {
		return err
	}
	if len(diff) > 0 {
		if err := w.file(path.Join(dir, DiffFile), diff); err != nil {
			return err
		}
	}
	for _, p := range parts {
		if err := w.part(ctx, p, path.Join(dir, p.As)); err != nil {
			return fmt.Errorf("pack %s: %w", p.As, err)
		}
	}
	return nil
}

func (w *Writer) part(ctx context.Context, p Part, as string) error {
	root, err := os.OpenRoot(p.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer root.Close()
	skipped, err := tarball.Add(ctx, w.out, root, p.Name, as)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if skipped != nil {
		w.Skipped(p.As, skipped)
	}
	return err
}

// Close completes the archive.
func (w *Writer) Close() error { return errors.Join(w.out.Close(), w.pressed.Close()) }

func runFolder(n int) string { return path.Join("runs", strconv.Itoa(n)) }
