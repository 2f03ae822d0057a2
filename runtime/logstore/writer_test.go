package logstore

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"torchx/runtime/backend"
)

func TestCreateKeepsAnExistingLog(t *testing.T) {
	t.Parallel()
	for _, name := range []string{StdoutFile, StderrFile, IndexFile} {
		dir := t.TempDir()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("precious"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Create(dir)
		if !errors.Is(err, fs.ErrExist) || !strings.Contains(err.Error(), path) {
			t.Errorf("got %v, want an error that wraps fs.ErrExist with the path", err)
		}
		if got, _ := os.ReadFile(path); string(got) != "precious" {
			t.Errorf("%s: got %q, want it unchanged", name, got)
		}
		if all, _ := os.ReadDir(dir); len(all) != 1 {
			t.Errorf("got %d files, want only the existing one", len(all))
		}
	}
	if _, err := Create(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing folder: got %v, want fs.ErrNotExist", err)
	}
}

func TestFilesHoldTheBytes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w, err := Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	rubbish := []byte("\x00\xff\r\nno end")
	for i, p := range [][]byte{rubbish, []byte("more\n"), nil} {
		if err := w.Append(Stderr, p, epoch.Add(time.Duration(i)*time.Second)); err != nil {
			t.Fatal(err)
		}
	}
	want := Totals{StderrBytes: int64(len(rubbish)) + 5, StderrLines: 2}
	if got := w.Totals(); got != want {
		t.Errorf("got totals %+v, want %+v", got, want)
	}
	if err := w.Close(true); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(true); err != nil {
		t.Errorf("second Close: got %v, want nil", err)
	}
	if err := w.Append(Stdout, []byte("x"), epoch); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Append after Close: got %v, want fs.ErrClosed", err)
	}
	if got, _ := os.ReadFile(filepath.Join(dir, StderrFile)); !bytes.Equal(got, append(rubbish, "more\n"...)) {
		t.Errorf("stderr.log: got %q, want the appended bytes", got)
	}
	for _, name := range []string{StdoutFile, StderrFile, IndexFile} {
		fi, err := os.Stat(filepath.Join(dir, name))
		if err != nil || fi.Mode().Perm() != 0o600 {
			t.Errorf("%s: got mode %v, %v, want 0600", name, fi.Mode(), err)
		}
	}
	if fi, _ := os.Stat(filepath.Join(dir, IndexFile)); fi.Size() != 3*recordSize {
		t.Errorf("index: got %d bytes, want header and 2 records", fi.Size())
	}
}

func TestChunksShareARecord(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("x", joinUpTo-1) + "\n"
	ms := time.Millisecond
	tests := []struct {
		name    string
		chunks  []chunk
		records int64
	}{
		{"soon after", []chunk{{Stdout, "a\n", 0}, {Stdout, "b\n", 3 * ms}, {Stdout, "c\n", 5 * ms}}, 1},
		{"more than 5 ms after the first", []chunk{{Stdout, "a\n", 0}, {Stdout, "b\n", 3 * ms}, {Stdout, "c\n", 6 * ms}}, 2},
		{"other stream", []chunk{{Stdout, "a\n", 0}, {Stderr, "b\n", 0}, {Stdout, "c\n", 0}}, 3},
		{"too big", []chunk{{Stdout, big, 0}, {Stdout, "b\n", 0}}, 2},
		{"clock set back", []chunk{{Stdout, "a\n", time.Hour}, {Stdout, "b\n", 0}, {Stdout, "c\n", ms}}, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "0")
			writeLog(t, dir, tt.chunks)
			fi, err := os.Stat(filepath.Join(dir, IndexFile))
			if err != nil {
				t.Fatal(err)
			}
			if got := fi.Size()/recordSize - 1; got != tt.records {
				t.Errorf("got %d records, want %d", got, tt.records)
			}
			lines, _ := collect(t, oneAttempt(dir), backend.LogOptions{Tail: -1})
			if len(lines) != len(tt.chunks) {
				t.Errorf("got %d lines, want %d", len(lines), len(tt.chunks))
			}
			for i := 1; i < len(lines); i++ {
				if lines[i].at < lines[i-1].at {
					t.Errorf("got decreasing times in %v", lines)
				}
			}
		})
	}
}

// smallDisk is a disk with limited space, shared by files.
type smallDisk struct {
	mu   sync.Mutex
	left int
}

// limitedFile is a file on a smallDisk.
type limitedFile struct {
	file
	disk *smallDisk
	end  int64
}

func (f *limitedFile) WriteAt(p []byte, off int64) (int, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	room := max(0, f.end-off) + int64(f.disk.left)
	n, err := int64(len(p)), error(nil)
	if n > room {
		n, err = room, &fs.PathError{Op: "write", Path: "log", Err: syscall.ENOSPC}
	}
	if n > 0 {
		if _, werr := f.file.WriteAt(p[:n], off); werr != nil {
			return 0, werr
		}
	}
	if off+n > f.end {
		f.disk.left -= int(off + n - f.end)
		f.end = off + n
	}
	return int(n), err
}

func (f *limitedFile) Truncate(size int64) error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if size < f.end {
		f.disk.left += int(f.end - size)
		f.end = size
	}
	return f.file.Truncate(size)
}

func (d *smallDisk) free(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.left = n
}

// limitedWriter returns a writer with one disk for data and log.lost, one for the index.
func limitedWriter(t *testing.T, dir string) (w *Writer, disk, indexDisk *smallDisk) {
	t.Helper()
	w, err := Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	disk, indexDisk = &smallDisk{left: 1 << 30}, &smallDisk{left: 1 << 30}
	for i := range w.streams {
		w.streams[i].file = &limitedFile{file: w.streams[i].file, disk: disk}
	}
	lost, err := os.Create(filepath.Join(dir, LostFile))
	if err != nil {
		t.Fatal(err)
	}
	w.lost = &limitedFile{file: lost, disk: disk}
	w.index = &limitedFile{file: w.index, disk: indexDisk, end: recordSize}
	return w, disk, indexDisk
}

func TestFullDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w, disk, _ := limitedWriter(t, dir)
	at := func(n int) time.Time { return epoch.Add(time.Duration(n) * time.Second) }
	appended := func(n int, s Stream, text string, wantErr error) {
		t.Helper()
		if err := w.Append(s, []byte(text), at(n)); !errors.Is(err, wantErr) {
			t.Fatalf("append %d: got %v, want %v", n, err, wantErr)
		}
	}
	appended(0, Stdout, "first\nbegin of", nil)
	disk.free(2)
	appended(1, Stdout, " a line\ngone\n", syscall.ENOSPC) // two bytes fit
	appended(2, Stdout, "gone too\nalf", nil)
	appended(3, Stderr, "error gone\n", syscall.ENOSPC)
	if got, want := w.Totals(), int64(11+12+11); got.LostBytes != want || got.LostLines != 4 || !got.LostSince.Equal(at(1)) {
		t.Errorf("got totals %+v, want %d bytes lost", got, want)
	}
	disk.free(1 << 20)
	appended(4, Stdout, " back\n", nil)
	appended(5, Stdout, "last\n", nil)
	appended(6, Stderr, "error back\n", nil)
	if err := w.Close(false); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"first\n", "begin of a\n", "! 23 bytes of stdout lost here since 2023-11-14T22:13:21Z (no space left on device)",
		" back\n", "last\n", "! 11 bytes of stderr lost here since 2023-11-14T22:13:23Z (no space left on device)", "error back\n",
	}
	checkBlocks(t, dir, backend.LogOptions{Tail: -1}, want)
	checkBlocks(t, dir, backend.LogOptions{Tail: -1, Follow: true}, want)
	checkBlocks(t, dir, backend.LogOptions{Tail: -1, Stream: backend.Stderr}, want[5:])
	checkBlocks(t, dir, backend.LogOptions{Tail: 2}, want[4:])
}

// checkBlocks compares lines and notices ("! …") in order.
func checkBlocks(t *testing.T, dir string, o backend.LogOptions, want []string) {
	t.Helper()
	r, err := Open(oneAttempt(dir), o)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var got []string
	for {
		b, err := r.Next(t.Context())
		if err != nil {
			break
		}
		if b.Notice != "" {
			got = append(got, "! "+b.Notice)
		}
		for l := range bytes.Lines(b.Data) {
			got = append(got, string(l))
		}
	}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("%+v: got\n%q, want\n%q", o, got, want)
	}
}

func TestDiskStaysFull(t *testing.T) {
	t.Parallel()
	for _, killed := range []bool{false, true} {
		dir := t.TempDir()
		w, disk, _ := limitedWriter(t, dir)
		if err := w.Append(Stdout, []byte("kept\n"), epoch); err != nil {
			t.Fatal(err)
		}
		disk.free(3)
		if err := w.Append(Stdout, []byte("lost for ever\n"), epoch.Add(time.Second)); !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
		if !killed {
			if err := w.Close(false); err == nil || !strings.Contains(err.Error(), "11 bytes of stdout were lost") {
				t.Errorf("Close: got %v, want an error about the lost bytes", err)
			}
		}
		checkBlocks(t, dir, backend.LogOptions{Tail: -1}, []string{
			"kept\n", "los", "! 11 bytes of stdout lost here since 2023-11-14T22:13:21Z (they could not be written)",
		})
	}
}

func TestFullDiskOfIndex(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w, _, disk := limitedWriter(t, dir)
	disk.free(recordSize)
	for i, text := range []string{"a\n", "lost, long as it is\n", "lost too\n", "b\n"} {
		if i == 3 {
			disk.free(recordSize)
		}
		err := w.Append(Stdout, []byte(text), epoch.Add(time.Duration(i)*time.Second))
		if (err != nil) != (i == 1) && i != 2 {
			t.Errorf("append %d: got %v, want an error only for 1", i, err)
		}
	}
	if err := w.Close(true); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(filepath.Join(dir, StdoutFile)); string(got) != "a\nb\n" {
		t.Errorf("stdout.log: got %q, want a and b", got)
	}
	lines, notices := collect(t, oneAttempt(dir), backend.LogOptions{Tail: -1})
	compare(t, "lines with a record", lines, []line{{Stdout, "a\n", 0}, {Stdout, "b\n", 3 * time.Second}})
	if len(notices) != 2 { // the marker was written, the output after it was not
		t.Errorf("got notices %q, want 2", notices)
	}
}
