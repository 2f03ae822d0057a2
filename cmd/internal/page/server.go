package page

import (
	"context"
	"net/http"

	"torchx/cmd/internal/page/api"
	"torchx/cmd/internal/program"
)

// server answers the requests of the page.
type server struct {
	guard *api.Guard
	calls *api.API
}

func newServer(ctx context.Context, f *program.Factory, g *api.Guard) (*server, error) {
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
