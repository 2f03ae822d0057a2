package api

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"torchx/cmd/internal/grammar"
	"torchx/cmd/internal/page/stream"
	"torchx/cmd/internal/program"
	"torchx/runtime/backend"
	"torchx/runtime/logstore"
	"torchx/runtime/runner"
)

// API answers requests by calls of commands.
type API struct {
	program *program.Factory
	runner  *runner.Runner
	guard   *Guard
	home    string
	hub     *stream.Hub
	answers answers[[]byte]
	refs    answers[runner.Ref] // of watches
	acted   atomic.Int64        // actions that have ended
}

// New returns an API that has opened what its commands share.
func New(ctx context.Context, f *program.Factory, g *Guard) (*API, error) {
	r, err := f.Runner(ctx)
	if err != nil {
		return nil, err
	}
	home, err := f.Env.Home()
	if err != nil {
		return nil, err
	}
	files := logstore.NewHub()
	context.AfterFunc(ctx, func() { _ = files.Close() })
	return &API{program: f, runner: r, guard: g, home: home, hub: stream.NewHub(ctx, files, maxClients())}, nil
}

// Register adds the routes of the API.
func (a *API) Register(mux *http.ServeMux) {
	mux.HandleFunc("GET /api/v1/session", a.session)
	mux.HandleFunc("GET /api/v1/runs", a.list)
	mux.HandleFunc("GET /api/v1/runs.csv", a.listCSV)
	for _, command := range []string{"status", "describe", "events"} {
		mux.HandleFunc("GET /api/v1/runs/{id}/"+command, a.ofRun(command, "--json"))
	}
	mux.HandleFunc("GET /api/v1/runs/{id}/metrics", a.ofRun("metrics", "--json", "--summary"))
	mux.HandleFunc("GET /api/v1/runs/{id}/usage", a.usage)
	mux.HandleFunc("GET /api/v1/runs/{id}/usage/curves", a.usageCurves)
	mux.HandleFunc("GET /api/v1/runs/{id}/curves", a.curves)
	mux.HandleFunc("GET /api/v1/runs/{id}/outputs", a.ofRun("output", "--json"))
	mux.HandleFunc("GET /api/v1/runs/{id}/outputs/{file...}", a.file)
	mux.HandleFunc("GET /api/v1/runs/{id}/form", a.form)
	mux.HandleFunc("GET /api/v1/compare", a.compare)
	mux.HandleFunc("GET /api/v1/prune", a.prune)
	mux.HandleFunc("GET /api/v1/stream", a.changes)
	a.registerActions(mux)
	mux.HandleFunc("GET /api/v1/runs/{id}/log", a.log)
	mux.HandleFunc("GET /api/v1/runs/{id}/log/search", a.logSearch)
	mux.HandleFunc("GET /api/v1/runs/{id}/log/download", a.logDownload)
	mux.HandleFunc("/api/", func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead &&
			r.Method != http.MethodPost {
			refuse(w, http.StatusMethodNotAllowed,
				"the method "+strconv.Quote(r.Method)+" is not allowed")
			return
		}
		refuse(w, http.StatusNotFound, "the API has no such path")
	})
}

// Clients returns the number of pages that are open.
func (a *API) Clients() int { return a.hub.Clients() }

func (a *API) session(w http.ResponseWriter, _ *http.Request) {
	answer(w, Session{Version: program.Version, ReadOnly: a.guard.ReadOnly, Home: a.home, Time: time.Now().UTC()})
}

// handleOf returns what names the run of a request on a command line.
func handleOf(r *http.Request) string {
	id := r.PathValue("id")
	if b := r.URL.Query().Get("backend"); b != "" && !strings.Contains(id, "://") {
		return b + "://torchx/" + id
	}
	return id
}

// ofRun returns a handler that prints what a command says about a run.
func (a *API) ofRun(command string, flags ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		a.print(w, r, append(append([]string{command}, flags...), "--", handleOf(r))...)
	}
}

func (a *API) usage(w http.ResponseWriter, r *http.Request) {
	args := []string{"usage", "--json"}
	if k := r.URL.Query().Get("attempt"); k != "" {
		args = append(args, "--attempt="+k)
	}
	a.print(w, r, append(args, "--", handleOf(r))...)
}

// maxCompared is the number of runs in a comparison.
const maxCompared = 500

func (a *API) compare(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	args := flagsOf(q, "metric")
	runs := q["run"]
	if len(runs) == 0 || len(runs) > maxCompared {
		fail(w, bad("compare needs 1 to %d runs", maxCompared))
		return
	}
	a.print(w, r, slices.Concat([]string{"compare", "--json"}, args, []string{"--"}, runs)...)
}

// defaultPruned is the number of apps in a preview of prune.
const defaultPruned = "1000"

func (a *API) prune(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	args := []string{"prune", "--dry-run", "--json", "--limit=" + cmp.Or(q.Get("limit"), defaultPruned)}
	a.print(w, r, append(args, flagsOf(q, "older-than", "keep", "max-size", "state", "backend")...)...)
}

func (a *API) list(w http.ResponseWriter, r *http.Request) {
	a.print(w, r, append([]string{"list", "--output=page"}, flagsOf(r.URL.Query(), listFlags...)...)...)
}

// listCSV answers with a file of all runs that match.
func (a *API) listCSV(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	out, _, err := a.call(r.Context(), append([]string{"list", "--output=csv", "--all"}, flagsOf(q, append([]string{"columns"}, matchFlags...)...)...)...)
	if err != nil {
		fail(w, err)
		return
	}
	attach(w, "runs.csv")
	w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	_, _ = w.Write(out) // the client may be gone
}

// listFlags are the parameters of a list. All are flags of `list`.
var listFlags = append([]string{"values", "limit", "offset"}, matchFlags...)

// matchFlags select runs and their order.
var matchFlags = []string{
	"backend", "component", "name", "tag", "state", "since", "until", "parent", "search", "where", "no-trials", "sort",
}

// flagsOf returns the flags for parameters of the same names that have a value.
func flagsOf(q url.Values, names ...string) (args []string) {
	for _, name := range names {
		for _, value := range q[name] {
			if value != "" {
				args = append(args, "--"+name+"="+value)
			}
		}
	}
	return args
}

// call runs a command and returns what it printed.
func (a *API) call(ctx context.Context, args ...string) (out, messages []byte, err error) {
	var stdout, stderr bytes.Buffer
	err = a.program.Call(ctx, &stdout, &stderr, args...)
	return stdout.Bytes(), stderr.Bytes(), a.explain(err, stderr.String())
}

// explain returns the error of a command with its message if the error itself has none.
func (a *API) explain(err error, messages string) error {
	var quiet program.QuietError
	if !errors.As(err, &quiet) {
		return err
	}
	lines := Messages(messages)
	if len(lines) == 0 {
		return err
	}
	return errors.New(strings.TrimPrefix(lines[len(lines)-1], "error: "))
}

// Messages returns the lines that a command said on stderr, without its name.
func Messages(text string) []string {
	lines := []string{}
	for line := range strings.Lines(text) {
		lines = append(lines, strings.TrimPrefix(strings.TrimSuffix(line, "\n"), "torchx: "))
	}
	return lines
}

// print answers with the JSON that a command prints.
func (a *API) print(w http.ResponseWriter, r *http.Request, args ...string) {
	a.shared(w, r, func(ctx context.Context) ([]byte, error) {
		out, _, err := a.call(ctx, args...)
		return out, err
	})
}

func write(w http.ResponseWriter, data []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(data))) // else the answer is copied in chunks
	_, _ = w.Write(data)                                      // the client may be gone
}

func answer(w http.ResponseWriter, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		fail(w, err)
		return
	}
	write(w, data)
}

func fail(w http.ResponseWriter, err error) { refuse(w, statusOf(err), err.Error()) }

// statusOf returns the HTTP status for an error of a command.
func statusOf(err error) int {
	var usage *grammar.UsageError
	var command *commandError
	switch {
	case errors.As(err, &usage):
		return http.StatusBadRequest
	case errors.Is(err, backend.ErrNotFound):
		return http.StatusNotFound
	case errors.As(err, &command) && command.code == program.ExitUsage:
		return http.StatusBadRequest
	}
	return http.StatusInternalServerError
}

// attach makes an answer a download, of a name that the browser cannot mistake.
func attach(w http.ResponseWriter, name string) {
	w.Header().Set("Content-Disposition",
		mime.FormatMediaType("attachment", map[string]string{"filename": name}))
}
