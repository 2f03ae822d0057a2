package workspace

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"strings"
	"time"

	"torchx/runtime/safefile"
)

// hashLength is in hex digits: 128 bits exclude accidental collisions.
const hashLength = 32

// Build arguments.
const (
	buildImage     = "IMAGE"
	buildWorkspace = "WORKSPACE" // a path
)

// Name returns the image's name: `torchx-workspace:<hash>` of the base image's name, the
// Dockerfile and every file's path, mode, link target and content. It reads all files.
func (t *Tree) Name(ctx context.Context, base string) (string, error) {
	return t.Write(ctx, base, io.Discard)
}

// Write writes the build context as a tar and returns the name of the image built from it
// on base. If files have changed since Scan, the name differs or Write fails.
func (t *Tree) Write(ctx context.Context, base string, w io.Writer) (name string, err error) {
	sum := sha256.New()
	fmt.Fprintf(sum, "torchx workspace 1\n%q\n", base)
	if path, ok := t.BuildArgs(base)[buildWorkspace]; ok {
		fmt.Fprintf(sum, "%q\n", path)
	}
	out := tar.NewWriter(w)
	for _, e := range t.entries {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		if err := e.write(out, sum); err != nil {
			return "", fmt.Errorf("workspace: %w", err)
		}
	}
	if err := out.Close(); err != nil {
		return "", fmt.Errorf("workspace: %w", err)
	}
	return Repository + ":" + hex.EncodeToString(sum.Sum(nil))[:hashLength], nil
}

// BuildArgs returns the build arguments of TorchX that the Dockerfile uses: IMAGE, and
// WORKSPACE, the path of the first project.
func (t *Tree) BuildArgs(base string) map[string]string {
	args := map[string]string{}
	if strings.Contains(t.Dockerfile, buildImage) {
		args[buildImage] = base
	}
	if strings.Contains(t.Dockerfile, buildWorkspace) {
		args[buildWorkspace] = t.Projects[0].Path
	}
	return args
}

// write adds an entry to the tar and the hash. It omits owners and times, so that another
// checkout has the same hash and the engine's layer cache matches.
func (e entry) write(out *tar.Writer, sum hash.Hash) error {
	header, err := tar.FileInfoHeader(info{e}, e.link)
	if err != nil {
		return fmt.Errorf("%s: %w", e.path, err)
	}
	header.Name = e.path
	if e.mode.IsDir() {
		header.Name += "/"
	}
	if e.link != "" {
		header.Mode = 0o777 // differs between systems, without a meaning
	}
	header.ModTime, header.Format = time.Unix(0, 0), tar.FormatPAX
	fmt.Fprintf(sum, "%q %c %o %q %d\n", header.Name, header.Typeflag, header.Mode,
		header.Linkname, header.Size)
	if err := out.WriteHeader(header); err != nil {
		return err
	}
	if !e.mode.IsRegular() {
		return nil
	}
	content, err := e.open()
	if err != nil {
		return fmt.Errorf("%w (exclude it in %s)", plain(err), ignoreFile)
	}
	defer content.Close()
	switch _, err := io.CopyN(io.MultiWriter(out, sum), content, e.size); {
	case errors.Is(err, io.EOF):
		return fmt.Errorf("%s became shorter while it was read: try again", e.source)
	case err != nil:
		return plain(err)
	}
	return nil
}

func (e entry) open() (io.ReadCloser, error) {
	if e.source == "" {
		return io.NopCloser(strings.NewReader(e.text)), nil
	}
	return safefile.OpenInput(e.source)
}

// info is the fs.FileInfo of an entry.
type info struct{ e entry }

func (i info) Name() string       { return i.e.path }
func (i info) Size() int64        { return i.e.size }
func (i info) Mode() fs.FileMode  { return i.e.mode }
func (i info) ModTime() time.Time { return time.Unix(0, 0) }
func (i info) IsDir() bool        { return i.e.mode.IsDir() }
func (i info) Sys() any           { return nil }
