package page

import (
	"embed"
	"io/fs"
	"net/http"
	"path"
)

// framePage is the frame of all pages. It has no data: its scripts fetch that.
//
//go:embed web/page.html
var framePage []byte

// webFiles has css and js, which need no build.
//
//go:embed web/css web/js
var webFiles embed.FS

// frame returns a handler that answers with the frame of all pages.
func frame(status int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(status)
		_, _ = w.Write(framePage) // the client may be gone
	}
}

// static serves css and js; the browser may keep them for as long as this server runs.
func static() http.Handler {
	files := http.FileServerFS(staticFiles{})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "private, no-cache")
		files.ServeHTTP(w, r)
	})
}

// staticFiles are the files without listings of folders.
type staticFiles struct{}

func (staticFiles) Open(name string) (fs.File, error) {
	name = path.Join("web", name)
	if info, err := fs.Stat(webFiles, name); err == nil && info.IsDir() {
		return nil, fs.ErrNotExist
	}
	return webFiles.Open(name)
}
