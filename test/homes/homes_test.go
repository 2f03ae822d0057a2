//go:build unix

// Package homes keeps TORCHX_HOME folders that earlier versions wrote, and checks that this
// version reads them. A home is never changed or regenerated: home.tar.gz has the files that
// the old program wrote. A later format gets a new folder next to v1.
//
// v1 has local apps that succeeded, failed with an error file, failed after two retries, had
// two roles, were canceled, exceeded log_max_size and wrote to a log_dir; two removed apps,
// one with kept logs; one whose log was read with --new; and one whose agent was killed,
// with its lock still in live/. No process of this machine matches that app: its boot ID is
// zero.
package homes

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pmezard/go-difflib/difflib"
	_ "modernc.org/sqlite"

	"torchx/test/binary"
	"torchx/test/homedir"
)

// recordedHome is the path of the home when it was written. The test moves it.
const recordedHome = "/tmp/torchx-home"

// TestV1 runs the commands of v1/transcript.txt and compares their output with the
// transcript, which the version that wrote the home printed. Edit it by hand, and only if
// the output of a command changes intentionally.
func TestV1(t *testing.T) {
	t.Parallel()
	program := build(t)
	home := filepath.Join(homedir.New(t), "home")
	unpack(t, "v1/home.tar.gz", home)
	move(t, home)
	want, err := os.ReadFile("v1/transcript.txt")
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	started := time.Now()
	for line := range strings.Lines(string(want)) {
		if command, ok := strings.CutPrefix(line, "$ torchx "); ok {
			got.WriteString(line + run(t, program, home, started, strings.Fields(command)))
		}
	}
	if got.String() != string(want) {
		diff, _ := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
			A: difflib.SplitLines(string(want)), B: difflib.SplitLines(got.String()),
			FromFile: "v1/transcript.txt", ToFile: "this version", Context: 3,
		})
		t.Errorf("this version reads the home differently: fix the program, not the home:\n%s", diff)
	}
}

func build(t *testing.T) string {
	t.Helper()
	program, err := binary.Build(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return program
}

// unpack extracts a tar.gz of files, folders and hard links.
func unpack(t *testing.T, archive, dir string) {
	t.Helper()
	data, err := os.ReadFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err == nil {
			err = unpackOne(r, h, dir)
		}
		if err != nil {
			t.Fatalf("unpack %s: %v", archive, err)
		}
	}
}

func unpackOne(r io.Reader, h *tar.Header, dir string) error {
	path := filepath.Join(dir, h.Name)
	switch h.Typeflag {
	case tar.TypeDir:
		return os.MkdirAll(path, 0o700)
	case tar.TypeLink:
		return os.Link(filepath.Join(dir, h.Linkname), path)
	case tar.TypeReg:
		data, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		return os.WriteFile(path, data, h.FileInfo().Mode().Perm())
	}
	return fmt.Errorf("%s is neither a file, a folder nor a hard link", h.Name)
}

// move replaces the recorded path of the home in its files and its history.
func move(t *testing.T, home string) {
	t.Helper()
	err := filepath.WalkDir(home, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasPrefix(filepath.Ext(path), ".json") {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(path, bytes.ReplaceAll(data, []byte(recordedHome), []byte(home)), 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(home, "state.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for table, columns := range map[string][]string{"apps": {"msg", "ui_url"}, "app_details": {"def", "cfg"}, "tombstones": {"kept"}} {
		for _, c := range columns {
			query := fmt.Sprintf(`UPDATE %s SET %s = replace(%s, ?, ?) WHERE %s IS NOT NULL`, table, c, c, c)
			if _, err := db.ExecContext(t.Context(), query, recordedHome, home); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// run returns the output and exit code of a command, with the recorded path of the home.
func run(t *testing.T, program, home string, started time.Time, args []string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var out, errs bytes.Buffer
	c := exec.CommandContext(ctx, program, args...)
	c.Dir = filepath.Dir(home)
	c.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + c.Dir, "LANG=C.UTF-8", "TZ=UTC", "TORCHX_HOME=" + home, "DOCKER_HOST=unix:///nonexistent"}
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); err != nil && c.ProcessState == nil {
		t.Fatal(err)
	}
	return section("stdout", out.String(), home, started) + section("stderr", errs.String(), home, started) +
		fmt.Sprintf("exit code %d\n\n", c.ProcessState.ExitCode())
}

var (
	timestamp = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)
	duration  = regexp.MustCompile(`("finished_at": "NOW",\s+"exit_code": \d+,\s+"duration_s": )[0-9.]+`)
	moment    = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`)
)

// section returns one stream of a command's output. Times after the test's start, and
// durations until then, become NOW.
func section(name, text, home string, started time.Time) string {
	if text == "" {
		return ""
	}
	now := func(layout string) func(string) string {
		return func(s string) string {
			if at, err := time.Parse(layout, s); err == nil && !at.Before(started.Truncate(time.Second)) {
				return "NOW"
			}
			return s
		}
	}
	text = strings.ReplaceAll(text, home, recordedHome)
	text = timestamp.ReplaceAllStringFunc(text, now(time.RFC3339Nano))
	text = duration.ReplaceAllString(text, `${1}"NOW"`)
	text = moment.ReplaceAllStringFunc(text, now(time.DateTime))
	return "-- " + name + "\n" + strings.TrimSuffix(text, "\n") + "\n"
}
