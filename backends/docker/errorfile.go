//go:build unix

package docker

import (
	"archive/tar"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/containerd/errdefs"

	"torchx/runtime/spec"
)

const (
	// maxErrorFile bounds what is read of an error file, in bytes.
	maxErrorFile = 1 << 20
	// copyTime bounds the copy of an error file: a result must not wait for it.
	copyTime = 10 * time.Second
	// errorFileName is its name in the folder of an attempt.
	errorFileName = "error.json"
)

// saveErrorFile copies what a failing program reported of itself into the folder
// of the attempt. It works on containers that have ended, wherever the engine is.
func (l *launcher) saveErrorFile(r *run, env []string) {
	path := environment(env, spec.ErrorFileVariable)
	if path == "" {
		return
	}
	ctx, cancel := context.WithTimeout(l.ctx, copyTime)
	defer cancel()
	archive, _, err := l.engine.CopyFromContainer(ctx, r.id, path)
	if errdefs.IsNotFound(err) {
		return
	}
	var data []byte
	if err == nil {
		data, err = firstFile(archive)
		archive.Close()
	}
	if err == nil && len(data) > 0 {
		dir := l.layout.ReplicaDir(r.replica, r.attempt)
		if err = os.MkdirAll(dir, 0o700); err == nil {
			err = os.WriteFile(filepath.Join(dir, errorFileName), data, 0o600)
		}
	}
	if err != nil {
		l.log.Printf("copy error file of %s/%d: %v", r.replica.Role, r.replica.ID, plain(err))
	}
}

func firstFile(archive io.Reader) ([]byte, error) {
	t := tar.NewReader(archive)
	h, err := t.Next()
	if err != nil {
		return nil, err
	}
	if h.Typeflag != tar.TypeReg {
		return nil, nil
	}
	return io.ReadAll(io.LimitReader(t, maxErrorFile))
}

// ErrorFile returns the saved error file of an attempt.
func (l *launcher) ErrorFile(r spec.Replica, attempt int) []byte {
	data, err := os.ReadFile(filepath.Join(l.layout.ReplicaDir(r, attempt), errorFileName))
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			l.log.Printf("read error file of %s/%d: %v", r.Role, r.ID, err)
		}
		return nil
	}
	if !json.Valid(data) {
		data, _ = json.Marshal(string(data)) // a string cannot fail
	}
	return data
}
