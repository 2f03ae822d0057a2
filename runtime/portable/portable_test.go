package portable

import (
	"archive/tar"
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"torchx/runtime/spec"
)

const record = `{"origin":{"handle":"local://torchx/a-1","host":"h","exported_at":"2026-01-02T03:04:05Z"},
"app":{"name":"a"},"submitted_at":"2026-01-01T00:00:00Z","status":{"state":"RUNNING","roles":[{"role":"w","replicas":[{"id":0,"role":"w","state":"RUNNING","attempt":2,"started_at":"2026-01-01T00:00:01Z"}]}]}}`

// entry is a file of an archive, or with a Typeflag what that says.
type entry struct {
	tar.Header
	text string
}

func file(name, text string) entry { return entry{tar.Header{Name: name}, text} }

func first(text string) entry { return file(headFile, text) }

// pack returns an archive, whatever is in it.
func pack(t *testing.T, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	pressed, err := zstd.NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	out := tar.NewWriter(pressed)
	for _, e := range entries {
		if e.Typeflag == 0 {
			e.Typeflag, e.Size = tar.TypeReg, int64(len(e.text))
		}
		if err := out.WriteHeader(&e.Header); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Write([]byte(e.text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(out.Close(), pressed.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func unpack(t *testing.T, dir string, limit int64, archive []byte) (runs, skipped []string, err error) {
	t.Helper()
	u := Unpacker{MaxBytes: limit, Skipped: func(name string, _ error) { skipped = append(skipped, name) }}
	runs, err = u.Unpack(t.Context(), bytes.NewReader(archive), dir)
	return runs, skipped, err
}

// TestHostile: an archive that is not what export writes is refused in one line, and creates nothing
// outside of its folder.
func TestHostile(t *testing.T) {
	t.Parallel()
	good, run := first(`{"format":1,"runs":1}`), file("runs/0/run.json", record)
	link := func(name, target string) entry {
		return entry{tar.Header{Name: name, Linkname: target, Typeflag: tar.TypeSymlink}, ""}
	}
	for name, tt := range map[string]struct {
		archive []byte
		want    string
	}{
		"text":             {[]byte("hello"), "it is not an archive of `torchx export`"},
		"nothing":          {nil, "it is not an archive"},
		"another tar":      {pack(t, file("a", "b")), "the first file is not " + headFile},
		"only a head":      {pack(t, good), "incomplete: it has 0 of 1 runs"},
		"newer":            {pack(t, first(`{"format":2,"torchx":"9.0","runs":1}`), run), "torchx 9.0 wrote it in format 2, and this version reads formats up to 1: install a newer torchx"},
		"newer, nothing":   {pack(t, first(`{"format":2,"torchx":"9.0"}`)), "install a newer torchx"},
		"many runs":        {pack(t, first(`{"format":1,"runs":1000000000}`), run), "is invalid"},
		"negative":         {pack(t, first(`{"format":1,"runs":-1}`), run), "is invalid"},
		"missing run":      {pack(t, first(`{"format":1,"runs":2}`), run), "it has 1 of 2 runs"},
		"parent":           {pack(t, good, run, file("../outside", "x")), "leads outside"},
		"parent, deep":     {pack(t, good, run, file("runs/0/output/../../../../outside", "x")), "leads outside"},
		"link":             {pack(t, good, run, link("runs/0/replicas", "/etc")), "neither a file nor a folder"},
		"record by link":   {pack(t, good, link("runs/0/run.json", "/etc/passwd")), "neither a file nor a folder"},
		"output by link":   {pack(t, good, run, link("runs/0/output", "..")), "neither a file nor a folder"},
		"disguised link":   {pack(t, good, run, link("runs/0/output/../x", "..")), "neither a file nor a folder"},
		"hard link":        {pack(t, good, run, entry{tar.Header{Name: "runs/0/output/x", Linkname: "runs/0/run.json", Typeflag: tar.TypeLink}, ""}), "neither a file nor a folder"},
		"device":           {pack(t, good, run, entry{tar.Header{Name: "runs/0/output/null", Typeflag: tar.TypeChar}, ""}), "neither a file nor a folder"},
		"pipe":             {pack(t, good, run, entry{tar.Header{Name: "runs/0/metrics", Typeflag: tar.TypeFifo}, ""}), "neither a file nor a folder"},
		"two heads":        {pack(t, good, run, first(`{"format":1,"runs":9}`)), "is there twice"},
		"bomb":             {pack(t, good, run, file("runs/0/output/zeros", strings.Repeat("\x00", 1<<20))), "larger than 1000000 bytes"},
		"cut":              {pack(t, good, run)[:100], ""},
		"folder as record": {pack(t, good, entry{tar.Header{Name: "runs/0/run.json/", Typeflag: tar.TypeDir}, ""}, file("runs/0/run.json/x", "")), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			above := t.TempDir()
			dir := filepath.Join(above, "in")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			runs, _, err := unpack(t, dir, 1_000_000, tt.archive)
			if err == nil {
				_, err = Load(runs[0])
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			if entries, err := os.ReadDir(above); err != nil || len(entries) != 1 {
				t.Errorf("beside the folder: got %v, %v, want nothing", entries, err)
			}
		})
	}
}

// TestOutputs: outputs keep links that stay inside; others are left out. All of it is private.
func TestOutputs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	runs, skipped, err := unpack(t, dir, 1<<20, pack(t, first(`{"format":1,"runs":1,"new":true}`), file("runs/0/run.json", record),
		entry{tar.Header{Name: "runs/0/output/a", Mode: 0o4777}, "text"},
		entry{tar.Header{Name: "runs/0/output/in", Linkname: "a", Typeflag: tar.TypeSymlink}, ""},
		entry{tar.Header{Name: "runs/0/output/out", Linkname: "/etc/passwd", Typeflag: tar.TypeSymlink}, ""}))
	if err != nil || len(runs) != 1 || len(skipped) != 1 || skipped[0] != "runs/0/output/out" {
		t.Fatalf("got %q, skipped %q, %v, want one link left out", runs, skipped, err)
	}
	info, err := os.Stat(filepath.Join(runs[0], OutputFolder, "a"))
	if err != nil || info.Mode().Perm() != 0o700 || info.Mode()&fs.ModeSetuid != 0 {
		t.Errorf("got mode %v, %v, want 0700", info.Mode(), err)
	}
	if data, err := os.ReadFile(filepath.Join(runs[0], OutputFolder, "in")); string(data) != "text" {
		t.Errorf("got %q, %v by the link, want the text", data, err)
	}
}

// TestRoundTrip: what a Writer writes, Unpack and Load read.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	from := t.TempDir()
	if err := os.WriteFile(filepath.Join(from, "log"), []byte("line\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w, err := NewWriter(&b, "1.0", 2, func(name string, err error) { t.Errorf("left out %s: %v", name, err) })
	if err != nil {
		t.Fatal(err)
	}
	parts := []Part{{from, "log", "replicas/log"}, {from, "none", "usage"}, {filepath.Join(from, "none"), ".", "output"}}
	for range 2 {
		if err := w.Add(t.Context(), []byte(record), []byte("diff"), parts); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	runs, _, err := unpack(t, t.TempDir(), 1<<20, b.Bytes())
	if err != nil || len(runs) != 2 {
		t.Fatalf("got %q, %v, want two runs", runs, err)
	}
	r, err := Load(runs[1])
	if err != nil || r.ID() != "a-1" || r.Status.State != spec.Running || !r.Row().SubmittedAt.Equal(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("got %+v, %v, want the record", r, err)
	}
	if n, ok := r.Attempts(spec.Replica{Role: "w"}); n != 3 || !ok {
		t.Errorf("got %d attempts, %v, want 3", n, ok)
	}
	for name, want := range map[string]string{"replicas/log": "line\n", DiffFile: "diff"} {
		if data, err := os.ReadFile(filepath.Join(runs[1], name)); string(data) != want {
			t.Errorf("%s: got %q, %v, want %q", name, data, err, want)
		}
	}
}

// TestBadRecords: a record that lacks what makes an app is an error.
func TestBadRecords(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		``, `[]`, `{}`, `{"origin":{"handle":"x"}}`, strings.Replace(record, "local://torchx/a-1", "local://torchx/a\\u0000", 1),
		strings.Replace(record, `"status"`, `"other"`, 1), strings.Replace(record, `"app"`, `"other"`, 1),
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, RecordFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if r, err := Load(dir); err == nil {
			t.Errorf("%q: got %+v, want an error", text, r)
		}
	}
}
