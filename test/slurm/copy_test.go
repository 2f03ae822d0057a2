//go:build unix

package slurm

import (
	"archive/tar"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCopyFromHostileReplica: whatever programs a replica has and what they print, cp writes below the
// target alone, and names are shown without control characters.
func TestCopyFromHostileReplica(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	bin := filepath.Join(h.work, "bin")
	must(t, os.Mkdir(bin, 0o755))
	must(t, os.WriteFile(filepath.Join(h.work, "x.tar"), hostileArchive(t), 0o600))
	must(t, os.WriteFile(filepath.Join(bin, "tar"), []byte("#!/bin/sh\nexec cat '"+h.work+"/x.tar'\n"), 0o755))
	must(t, os.WriteFile(filepath.Join(bin, "ls"), []byte("#!/bin/sh\nprintf 'drwx\\033[2J\\n'\nprintf '\\033[2J' >&2\n"), 0o755))
	handle := h.run("-d", "--env", "PATH="+bin+":/usr/bin:/bin", "utils.sh", "sh", "-c", "echo up; sleep 600")
	h.eventuallyLog(handle, "up")
	target := filepath.Join(h.work, "a", "target")
	must(t, os.MkdirAll(target, 0o755))
	r := h.torchx("", "cp", handle+":/data/x", target)
	if r.code != 1 || strings.Count(r.stderr, "torchx: error: copy ") != 3 || strings.ContainsAny(r.stdout+r.stderr, "\x1b\x07\u202e") {
		t.Errorf("cp: got %+q, want code 1 and an error for each of 3 entries, without control characters", []string{r.stdout, r.stderr})
	}
	got := []string{}
	must(t, filepath.WalkDir(filepath.Dir(target), func(path string, d os.DirEntry, err error) error {
		got = append(got, strings.TrimPrefix(path, filepath.Dir(target)))
		if info, infoErr := d.Info(); infoErr == nil && info.Mode()&(os.ModeSetuid|os.ModeSetgid|os.ModeSymlink) != 0 {
			t.Errorf("%s has the mode %s", path, info.Mode())
		}
		return err
	}))
	if len(got) != 4 {
		t.Errorf("got %q, want the target, a folder and a file below it", got)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// hostileArchive returns an archive of a file with a strange name and of three entries outside of it.
func hostileArchive(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range []tar.Header{
		{Name: "./x/\x1b[2J\x07\u202egnp", Typeflag: tar.TypeReg, Mode: 0o6777},
		{Name: "../escaped\x1b[2J", Typeflag: tar.TypeReg, Mode: 0o600},
		{Name: "x/../../escaped", Typeflag: tar.TypeReg, Mode: 0o600},
		{Name: "x/link", Linkname: "/etc", Typeflag: tar.TypeSymlink},
	} {
		must(t, w.WriteHeader(&e))
	}
	must(t, w.Close())
	return b.Bytes()
}
