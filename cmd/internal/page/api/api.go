// Package api answers the requests of the page below /api/v1. It has no logic of its own: an
// answer is what a command prints with --json, made in this process, so that the schemas of
// docs/schema describe it. Only logs, curves and changes, which commands print as endless text,
// have shapes of their own; they are the types of this package.
//
//	GET  /api/v1/session                     Session
//	GET  /api/v1/runs                        list -o page: backend, component, name, tag, state, since, until, parent,
//	                                         search, where, no-trials, sort, limit and offset, all as of `list`
//	                                         values=1 adds arguments and metrics
//	GET  /api/v1/runs.csv                    list --all -o csv with the same parameters and columns=C,C2
//	GET  /api/v1/runs/{id}/status            status --json
//	GET  /api/v1/runs/{id}/describe          describe --json
//	GET  /api/v1/runs/{id}/events            events --json
//	GET  /api/v1/runs/{id}/usage             usage --json: attempt
//	GET  /api/v1/runs/{id}/metrics           metrics --json --summary
//	GET  /api/v1/runs/{id}/curves            Curves of metrics: name, role, replica (each repeatable), x=step|time, from, to, buckets
//	GET  /api/v1/runs/{id}/usage/curves      Curves of usage: the same; names are mean_cpu_percent, mean_rss_bytes, read_bytes,
//	                                         written_bytes, max_threads, mean_gpu_percent, max_gpu_memory_bytes; x is time
//	GET  /api/v1/runs/{id}/log               Log: a window of lines, see LogQuery
//	GET  /api/v1/runs/{id}/log/search        Search: regex, and the selection of LogQuery
//	GET  /api/v1/runs/{id}/log/download      the text of the selection as `log` prints it
//	GET  /api/v1/runs/{id}/outputs           output --json
//	GET  /api/v1/runs/{id}/outputs/{file...} a file of the outputs, as a download
//	GET  /api/v1/runs/{id}/form              component show --json of the run's component; 404 if it has none
//	GET  /api/v1/compare                     compare --json: run (repeatable), metric (NAME[:min|:max])
//	GET  /api/v1/prune                       prune --dry-run --json --limit N: older-than, keep, max-size, state; limit (default 1000)
//	GET  /api/v1/stream                      server-sent events, see Change: watch (repeatable)
//	POST /api/v1/runs/{id}/cancel            {"force": bool}
//	POST /api/v1/runs/{id}/rerun             {"args": ["--lr", "0.1"]}: arguments that override the recorded ones; Started
//	POST /api/v1/runs/{id}/tag               {"set": {"k": "v"}, "remove": ["k"]}; answers tag --json
//	POST /api/v1/runs/{id}/note              {"note": "text"}; answers note --json
//	POST /api/v1/runs/{id}/delete            {"force": bool}
//
// {id} is an app ID or a unique prefix of one; ?backend=NAME tells apps of the same ID apart.
//
// Each request needs the token of the server or the key of its page: in the header Authorization:
// Bearer TOKEN or, for GET, as the parameter token. Otherwise the answer is 401, whatever cookies
// the request has. A POST also needs Content-Type: application/json.
//
// Errors are {"error": "one line"} with status 400 (a bad parameter), 401, 403, 404 (no such run,
// role or file), 405, 409 (the run is not in the right state) or 500. Actions answer Done unless
// they print JSON.
package api

import (
	"encoding/json"
	"time"
)

// Session describes the server to the page.
type Session struct {
	Version  string    `json:"version"`
	ReadOnly bool      `json:"read_only"` // every POST is refused with 403
	Home     string    `json:"home"`
	Time     time.Time `json:"time"` // of the server, to correct the browser's clock
}

// Error is the body of each answer that is not 2xx.
type Error struct {
	Error string `json:"error"`
}

// Done is the answer of an action: what the command said on stderr, a line each.
type Done struct {
	Messages []string `json:"messages"`
}

// Started is the answer of rerun.
type Started struct {
	Handle   string   `json:"handle"`
	AppID    string   `json:"app_id"`
	Messages []string `json:"messages"`
}

// Form is what a form for rerun needs. Values are by name; those of positional arguments are
// "argument N". Secrets are hidden in both: only changed arguments are sent back.
type Form struct {
	Definition json.RawMessage   `json:"definition"` // component show --json
	Args       []string          `json:"args"`
	Values     map[string]string `json:"values"`
	Folder     string            `json:"folder"` // where the component is evaluated
}

// LogQuery selects lines. role and replica choose replicas (none: all, merged in the order of
// time), stream is combined (default), stdout or stderr, attempt is a number (default: the last
// of each replica) or "all". The lines of a selection are numbered from 1. The window is given by
//
//	tail=N              the last N lines (default 500)
//	tail=N&line=L       those of the last N lines that do not precede line L
//	line=N&count=M      M lines from line N on
//	time=T&count=M      M lines from time T (RFC 3339) on
//
// A window has at most 2000 lines and 4 MiB.
type LogQuery struct {
	Role     string
	Replicas []int
	Stream   string
	Attempt  *int
	All      bool // attempts
	Tail     int64
	Line     int64
	Time     time.Time
	Count    int64
}

// Log is a window of lines.
type Log struct {
	Total int64     `json:"total"` // lines of the selection now
	Bytes int64     `json:"bytes"` // of the selection now
	First int64     `json:"first"` // number of the first line of Lines; 0 if there is none
	Lines []LogLine `json:"lines"`
	Done  bool      `json:"done"` // no more lines will come
	// Notices say which output is missing: rotated away, lost, removed.
	Notices []string `json:"notices"`
}

// LogLine is a line as in `log --json`.
type LogLine struct {
	Number  int64      `json:"number"` // grows by one, except where output was trimmed
	Time    *time.Time `json:"time"`   // null if unknown
	Role    string     `json:"role"`
	Replica int        `json:"replica"`
	Attempt int        `json:"attempt"`
	Stream  string     `json:"stream"`
	Line    string     `json:"line"`
	// Cut is how many bytes of a line of more than 16 KiB are left out: before the last \r or at
	// its end.
	Cut int64 `json:"cut,omitempty"`
}

// Search is the result of a search.
type Search struct {
	Count    int64   `json:"count"`    // matching lines
	Lines    []int64 `json:"lines"`    // numbers of the first 10,000 of them
	Scanned  int64   `json:"scanned"`  // lines that were read
	Complete bool    `json:"complete"` // false: the search took longer than 20 s and ended early
}

// Curves are series of points in min/max buckets. Without from and to, a series has at most 512
// buckets whatever its length; with them at most as many as buckets says (default 512).
type Curves struct {
	Series []Curve `json:"series"`
}

// Curve is one series. A bucket is: X of its first and of its last point, the first and the last
// value, the least and the greatest finite value, the number of points, and the segment, which
// grows with each attempt or when steps start again. What is not finite is null.
type Curve struct {
	AppID   string   `json:"app_id"`
	Role    string   `json:"role"`
	Replica int      `json:"replica"`
	Name    string   `json:"name"`
	X       string   `json:"x"` // step or time (unix seconds); time if a point has no step
	Count   int64    `json:"count"`
	Buckets []Bucket `json:"buckets"`
}

// Bucket are successive points of a series.
type Bucket [8]*float64

// Change is the data of a server-sent event. The name of the event is its kind:
//
//	hello    each later change is told: read everything again. It may come twice
//	runs     the list of runs changed            (watch=runs)
//	run      status or events of a run changed   (watch=run:ID)
//	metrics  metrics of a run changed            (watch=run:ID)
//	usage    usage of a run changed              (watch=run:ID)
//	log      the log of a run grew               (watch=log:ID)
//
// Changes within 125 ms are one event. While changes do not end, events come as seldom as their
// cost demands, at least every 3 s; the last one comes as soon as they end.
type Change struct {
	AppID string `json:"app_id,omitempty"`
}
