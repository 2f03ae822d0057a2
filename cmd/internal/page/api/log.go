package api

import (
	"cmp"
	"context"
	"encoding/json"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/backend"
	"torchx/runtime/runner"
	"torchx/runtime/spec"
)

// Limits of a window.
const (
	maxWindow     = 2000
	maxBytes      = 4 << 20
	defaultWindow = 500
)

func (a *API) log(w http.ResponseWriter, r *http.Request) {
	q, err := logQuery(r.URL.Query())
	if err != nil {
		fail(w, err)
		return
	}
	a.shared(w, r, func(ctx context.Context) ([]byte, error) {
		log, err := a.readLog(ctx, handleOf(r), q)
		if err != nil {
			return nil, err
		}
		return json.Marshal(log)
	})
}

// bad returns the error of a bad parameter.
func bad(format string, args ...any) error { return program.Usagef("ui", format, args...) }

// logQuery parses parameters.
func logQuery(p url.Values) (q LogQuery, err error) {
	q.Role, q.Stream = p.Get("role"), p.Get("stream")
	if q.Stream != "" && !slices.Contains(backend.Streams, backend.Stream(q.Stream)) {
		return q, bad("stream %s: want combined, stdout or stderr", ui.QuoteWord(q.Stream))
	}
	for _, text := range p["replica"] {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return q, bad("replica %s is not a number", ui.QuoteWord(text))
		}
		q.Replicas = append(q.Replicas, n)
	}
	if len(q.Replicas) > 0 && q.Role == "" {
		return q, bad("replica needs role")
	}
	if text := p.Get("attempt"); text == "all" {
		q.All = true
	} else if text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return q, bad("attempt %s: want a number or all", ui.QuoteWord(text))
		}
		q.Attempt = &n
	}
	for name, to := range map[string]*int64{"tail": &q.Tail, "line": &q.Line, "count": &q.Count} {
		if text := p.Get(name); text != "" {
			if *to, err = strconv.ParseInt(text, 10, 64); err != nil || *to < 1 {
				return q, bad("%s %s is not a number from 1", name, ui.QuoteWord(text))
			}
		}
	}
	if text := p.Get("time"); text != "" {
		if q.Time, err = ui.ParseTime(text, time.Now()); err != nil {
			return q, bad("time: %v", err)
		}
	}
	return q, nil
}

// options returns how a log is opened.
func (q *LogQuery) options() backend.LogOptions {
	return backend.LogOptions{Stream: backend.Stream(q.Stream), Attempt: q.Attempt, AllAttempts: q.All, Tail: -1}
}

// openLog is an open selection of logs.
type openLog struct {
	inputs []runner.LogInput
	done   bool // no more lines will come
}

// openLog opens the selected logs; none if the app has not started.
func (a *API) openLog(ctx context.Context, handle string, q *LogQuery) (*openLog, error) {
	ref, err := a.runner.Resolve(ctx, handle)
	if err != nil {
		return nil, err
	}
	o, options := &openLog{done: true}, func(*spec.Status, spec.Replica) backend.LogOptions { return q.options() }
	s, err := a.runner.See(ctx, ref)
	if err != nil { // the app may be removed, and its logs kept
		o.inputs, err = a.runner.LogsOf(ctx, ref, q.Role, q.Replicas, options)
		return o, err
	}
	targets, err := a.runner.Replicas(ctx, ref, s.Status, q.Role, q.Replicas)
	if err != nil {
		return nil, err
	}
	if o.done = s.IsFinal(); !o.done && !s.State.Started() {
		return o, nil
	}
	o.inputs, err = a.runner.LogsAt(ctx, ref, s, targets, len(q.Replicas) > 0, options)
	return o, err
}

// telling returns at most n of the replicas of an app: that which failed first, those that run, and
// those that ended last.
func telling(s *spec.Status, replicas []spec.Replica, n int) []spec.Replica {
	if len(replicas) <= n {
		return replicas
	}
	status := map[spec.Replica]*spec.ReplicaStatus{}
	for i := range s.Roles {
		for j := range s.Roles[i].Replicas {
			one := &s.Roles[i].Replicas[j]
			status[spec.Replica{Role: s.Roles[i].Role, ID: one.ID}] = one
		}
	}
	// The time until which a replica may have printed something, in unix ns.
	printed := func(r spec.Replica) int64 {
		switch one := status[r]; {
		case s.FirstFailure != nil && s.FirstFailure.Role == r.Role && s.FirstFailure.ID == r.ID:
			return math.MaxInt64
		case one == nil || one.StartedAt == nil:
			return 0
		case one.FinishedAt == nil:
			return math.MaxInt64 - 1
		default:
			return one.FinishedAt.UnixNano()
		}
	}
	last := slices.SortedStableFunc(slices.Values(replicas), func(a, b spec.Replica) int { return cmp.Compare(printed(b), printed(a)) })[:n]
	return slices.DeleteFunc(slices.Clone(replicas), func(r spec.Replica) bool { return !slices.Contains(last, r) })
}

func (o *openLog) readers() []backend.LogReader {
	readers := make([]backend.LogReader, len(o.inputs))
	for i := range o.inputs {
		readers[i] = o.inputs[i].Reader
	}
	return readers
}

// readLog returns a window of lines.
func (a *API) readLog(ctx context.Context, handle string, q LogQuery) (*Log, error) {
	o, err := a.openLog(ctx, handle, &q)
	if err != nil {
		return nil, err
	}
	defer runner.CloseLogs(o.inputs)
	log := &Log{Lines: []LogLine{}, Notices: []string{}, Done: o.done}
	if len(o.inputs) == 0 {
		return log, nil
	}
	if q.Line == 0 && q.Time.IsZero() && q.Tail == 0 {
		q.Tail = defaultWindow
	}
	if q.Count == 0 {
		q.Count = defaultWindow
	}
	q.Tail, q.Count = min(q.Tail, maxWindow), min(q.Count, maxWindow)
	x, err := newLogIndex(o.inputs)
	if err != nil {
		return nil, err
	}
	if x == nil {
		return log, o.readAll(ctx, &q, log)
	}
	return log, x.read(ctx, o, &q, log)
}

// logSearch counts the lines that match a pattern.
func (a *API) logSearch(w http.ResponseWriter, r *http.Request) {
	p := r.URL.Query()
	q, err := logQuery(p)
	if err != nil {
		fail(w, err)
		return
	}
	re, err := regexp.Compile(p.Get("regex"))
	if err != nil || p.Get("regex") == "" {
		fail(w, bad("regex %s is not a pattern of RE2", ui.QuoteWord(p.Get("regex"))))
		return
	}
	found, err := a.search(r.Context(), handleOf(r), &q, re)
	if err != nil {
		fail(w, err)
		return
	}
	answer(w, found)
}

// logDownload answers with the text that `log` prints.
func (a *API) logDownload(w http.ResponseWriter, r *http.Request) {
	q, err := logQuery(r.URL.Query())
	if err != nil {
		fail(w, err)
		return
	}
	o, err := a.openLog(r.Context(), handleOf(r), &q)
	if err != nil {
		fail(w, err)
		return
	}
	runner.CloseLogs(o.inputs)
	name := r.PathValue("id")
	target := handleOf(r)
	if q.Role != "" {
		target, name = target+"/"+q.Role, name+"-"+q.Role
	}
	if len(q.Replicas) > 0 {
		ids := make([]string, len(q.Replicas))
		for i, id := range q.Replicas {
			ids[i] = strconv.Itoa(id)
		}
		target, name = target+"/"+strings.Join(ids, ","), name+"-"+strings.Join(ids, "-")
	}
	args := []string{"log"}
	if q.Stream != "" {
		args = append(args, "--streams="+q.Stream)
	}
	if q.Attempt != nil {
		args = append(args, "--attempt="+strconv.Itoa(*q.Attempt))
	}
	attach(w, name+".log")
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if len(o.inputs) == 0 {
		return
	}
	// The header is sent: an error can only end the text early.
	if err := a.program.Call(r.Context(), w, discard{}, append(args, "--", target)...); err != nil {
		panic(http.ErrAbortHandler)
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
