package api

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"

	"torchx/runtime/outputs"
	"torchx/runtime/safefile"
)

// file answers with a file of the outputs. It is always a download: what an app wrote must not be
// shown as a page of this server.
func (a *API) file(w http.ResponseWriter, r *http.Request) {
	f, err := a.openOutput(r, r.PathValue("file"))
	if err != nil {
		refuse(w, fileStatus(err), err.Error())
		return
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		fail(w, err)
		return
	}
	attach(w, path.Base(r.PathValue("file")))
	w.Header().Set("Content-Type", "application/octet-stream")
	http.ServeContent(w, r, "", info.ModTime(), f)
}

// openOutput opens a file below the folder of an app's outputs.
func (a *API) openOutput(r *http.Request, name string) (*os.File, error) {
	ref, err := a.runner.Resolve(r.Context(), handleOf(r))
	if err != nil {
		return nil, err
	}
	out, err := a.runner.Output(r.Context(), ref)
	if err != nil {
		return nil, err
	}
	if !out.Here {
		return nil, fmt.Errorf("the outputs of %s are in %s, which only a pod can read: run `%s`",
			ref.Handle(), out.Place, out.Read)
	}
	if name == "" || strings.ContainsRune(name, 0) || !filepath.IsLocal(filepath.FromSlash(name)) {
		return nil, fmt.Errorf("%q is %w", name, outputs.ErrOutside)
	}
	root, err := os.OpenRoot(out.Place)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return safefile.OpenIn(root, filepath.FromSlash(name))
}

func fileStatus(err error) int {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return http.StatusNotFound
	case errors.Is(err, outputs.ErrOutside), errors.Is(err, fs.ErrPermission), strings.Contains(err.Error(), "escapes"): // os.Root has no error value for it
		return http.StatusForbidden
	}
	return statusOf(err)
}
