package page

import (
	"bytes"
	"context"
	"html/template"
	"io/fs"
	"net/http"

	"torchx/cmd/internal/page/api"
	"torchx/cmd/internal/page/guard"
	"torchx/cmd/internal/page/web"
	"torchx/cmd/internal/program"
)

// frame is what the templates of the first paint get.
type frame struct {
	Title    string
	CSRF     string
	ReadOnly bool
	Version  string
	Error    string
	Runs     []runRow      // of the table
	Run      *runStatus    // of a run page
	Left     int           // replicas that Run lacks
	All      string        // the address of the page with all replicas
	Log      []api.LogLine // the last lines of the run
}

// server answers the requests of the page.
type server struct {
	guard *guard.Guard
	calls *api.API
	pages *template.Template
}

func newServer(ctx context.Context, f *program.Factory, g *guard.Guard) (*server, error) {
	pages, err := template.ParseFS(web.Files, "templates/*.html")
	if err != nil {
		return nil, err
	}
	calls, err := api.New(ctx, f, g)
	if err != nil {
		return nil, err
	}
	return &server{guard: g, calls: calls, pages: pages}, nil
}

// handler returns the routes behind the guard.
func (s *server) handler() http.Handler {
	mux := http.NewServeMux()
	s.calls.Register(mux)
	mux.Handle("GET /static/", http.StripPrefix("/static/", static()))
	mux.HandleFunc("GET /{$}", s.runs)
	mux.HandleFunc("GET /runs/{id}", s.run)
	for _, path := range []string{"/sweeps/{id}", "/compare", "/prune"} { // views of the client
		mux.HandleFunc("GET "+path, s.shell)
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { s.fail(w, http.StatusNotFound, "there is no such page") })
	return dropSlow(s.guard.Wrap(mux), patience)
}

// shell paints the frame of a view that needs the client.
func (s *server) shell(w http.ResponseWriter, _ *http.Request) {
	s.paint(w, http.StatusOK, "shell", &frame{Title: "torchx"})
}

// static serves css and js; the browser may keep them for as long as this server runs.
func static() http.Handler {
	files := http.FileServerFS(staticFiles{web.Files})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "private, no-cache")
		files.ServeHTTP(w, r)
	})
}

// staticFiles leaves out templates and listings of folders.
type staticFiles struct{ fs.FS }

func (s staticFiles) Open(name string) (fs.File, error) {
	if ok, _ := fs.Stat(s.FS, name); ok == nil || ok.IsDir() || len(name) < 3 || name[:3] != "js/" && name[:3] != "css" {
		return nil, fs.ErrNotExist
	}
	return s.FS.Open(name)
}

// paint answers with a page.
func (s *server) paint(w http.ResponseWriter, status int, name string, data *frame) {
	data.CSRF, data.ReadOnly, data.Version = s.guard.CSRF(), s.guard.ReadOnly, program.Version
	var b bytes.Buffer
	if err := s.pages.ExecuteTemplate(&b, name, data); err != nil {
		guard.Refuse(w, http.StatusInternalServerError, err.Error())
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // the client may be gone
}

func (s *server) fail(w http.ResponseWriter, status int, why string) {
	s.paint(w, status, "error", &frame{Title: http.StatusText(status), Error: why})
}
