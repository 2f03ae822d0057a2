//go:build unix

package enginetest

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"

	"github.com/docker/docker/api/types/image"
)

// Image is the image of the tests: busybox with all its applets, with the working folder
// Dir.
const (
	Image = "torchx-test:busybox-2"
	Dir   = "/app"
)

// load imports Image, made from this machine's busybox.
func (e *Engine) load() error {
	c, ctx := e.Client, context.Background()
	if _, err := c.ImageInspect(ctx, Image); err == nil {
		return nil
	}
	archive, err := rootfs()
	if err != nil {
		return err
	}
	answer, err := c.ImageImport(ctx, image.ImportSource{Source: archive, SourceName: "-"}, Image,
		image.ImportOptions{Changes: []string{"WORKDIR " + Dir, "ENV PATH=/bin"}})
	if err != nil {
		return err
	}
	_, err = new(bytes.Buffer).ReadFrom(answer)
	return errors.Join(err, answer.Close())
}

// printenv is missing in Debian's busybox.
const printenv = "#!/bin/sh\neval \"v=\\$$1\"\nprintf '%s\\n' \"$v\"\n"

// rootfs returns a tar of a root file system with only busybox.
func rootfs() (*bytes.Buffer, error) {
	path, err := exec.LookPath("busybox")
	if err != nil {
		return nil, errors.New("busybox is missing: apt-get install busybox-static")
	}
	program, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	list, err := exec.CommandContext(context.Background(), path, "--list").Output()
	if err != nil {
		return nil, err
	}
	out := &bytes.Buffer{}
	t := tar.NewWriter(out)
	for dir, mode := range map[string]int64{"bin/": 0o755, "etc/": 0o755, "root/": 0o700, "tmp/": 0o1777} {
		err = errors.Join(err, t.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: dir, Mode: mode}))
	}
	err = errors.Join(err, t.WriteHeader(&tar.Header{Name: "bin/busybox", Mode: 0o755, Size: int64(len(program))}))
	_, werr := t.Write(program)
	err = errors.Join(err, werr)
	for applet := range strings.FieldsSeq(string(list)) {
		if applet != "busybox" {
			err = errors.Join(err, t.WriteHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: "bin/" + applet, Linkname: "busybox"}))
		}
	}
	err = errors.Join(err, t.WriteHeader(&tar.Header{Name: "bin/printenv", Mode: 0o755, Size: int64(len(printenv))}))
	_, werr = t.Write([]byte(printenv))
	return out, errors.Join(err, werr, t.Close())
}
