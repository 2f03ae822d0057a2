package page

import (
	"context"
	"io/fs"
	"net/http"

	"torchx/cmd/internal/page/api"
	"torchx/cmd/internal/page/guard"
	"torchx/cmd/internal/page/web"
	"torchx/cmd/internal/program"
)

// server answers the requests of the page.
type server struct {
	guard *guard.Guard
	calls *api.API
}

func newServer(ctx context.Context, f *program.Factory, g *guard.Guard) (*server, error) {
	calls, err := api.New(ctx, f, g)
	if err != nil {
		return nil, err
	}
	return &server{guard: g, calls: calls}, nil
}

// handler returns the routes behind the guard.
func (s *server) handler() http.Handler {
	mux := http.NewServeMux()
	s.calls.Register(mux)
	mux.Handle("GET /static/", http.StripPrefix("/static/", static()))
	for _, path := range []string{"/{$}", "/runs/{id}", "/sweeps/{id}", "/compare", "/prune"} {
		mux.HandleFunc("GET "+path, frame(http.StatusOK))
	}
	mux.HandleFunc("/", frame(http.StatusNotFound))
	return dropSlow(s.guard.Wrap(mux), patience)
}

// frame returns a handler that answers with the frame of all pages.
func frame(status int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(status)
		_, _ = w.Write(web.Page) // the client may be gone
	}
}

// static serves css and js; the browser may keep them for as long as this server runs.
func static() http.Handler {
	files := http.FileServerFS(staticFiles{web.Files})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "private, no-cache")
		files.ServeHTTP(w, r)
	})
}

// staticFiles leaves out listings of folders.
type staticFiles struct{ fs.FS }

func (s staticFiles) Open(name string) (fs.File, error) {
	if ok, _ := fs.Stat(s.FS, name); ok == nil || ok.IsDir() {
		return nil, fs.ErrNotExist
	}
	return s.FS.Open(name)
}
