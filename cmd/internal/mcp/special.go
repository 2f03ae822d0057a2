package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"torchx/docs"
	"torchx/runtime/humanize"
)

// planOf answers with a plan whose secrets are hidden: the command prints what `submit` can read.
func planOf(ctx context.Context, s *server, t *tool, in input) (*answer, error) {
	a, err := s.printed(ctx, t, in)
	if err != nil {
		return nil, err
	}
	if a.structured, err = s.program.MaskedJSON(a.structured); err != nil {
		return nil, err
	}
	a.text = string(a.structured)
	return a, nil
}

// lastLines is how many lines of a failed replica a status shows.
const lastLines = "20"

// statusOf answers with the status as JSON, and as text the page of `torchx status` with the last lines
// of a failure.
func statusOf(ctx context.Context, s *server, t *tool, in input) (*answer, error) {
	a, err := s.printed(ctx, t, in)
	if err != nil {
		return nil, err
	}
	h := in.text("handle")
	page, err := s.run(ctx, "status", h)
	if err != nil {
		return nil, err
	}
	var status struct{ State string }
	if err := json.Unmarshal(a.structured, &status); err != nil {
		return nil, err
	}
	a.text = string(page.out)
	if status.State == "FAILED" {
		log, err := s.run(ctx, "log", "--failed", "-n", lastLines, h)
		if err != nil {
			return nil, err
		}
		lines, _ := tailed(string(log.out), maxLog)
		a.text += "\nThe last lines of what failed:\n" + lines
	}
	return bounded(a)
}

const (
	defaultWait = 60
	maxWait     = 600
)

// waitFor waits, and answers as statusOf. How long it waits bounds the request, as many clients do.
func waitFor(ctx context.Context, s *server, t *tool, in input) (*answer, error) {
	seconds := in.number("timeout_s", defaultWait)
	if seconds < 1 || seconds > maxWait {
		return nil, fmt.Errorf("timeout_s is %d: it is from 1 to %d; call wait again to wait longer", seconds, maxWait)
	}
	if _, err := t.line(in); err != nil {
		return nil, err
	}
	// How it ended is in the status, and so is why it cannot be waited for.
	if _, err := s.run(ctx, "wait", "--quiet", "--timeout="+strconv.Itoa(seconds)+"s", in.text("handle")); err != nil {
		return nil, err
	}
	return statusOf(ctx, s, t, in)
}

const (
	defaultTail = 100
	maxTail     = 2000
	maxLog      = 64 << 10 // bytes of text
)

// logLine is a line of `torchx log --json`.
type logLine struct {
	Role    string `json:"role"`
	Replica int    `json:"replica"`
	Line    string `json:"line"`
}

// logsOf answers with lines as text, each after its replica.
func logsOf(ctx context.Context, s *server, t *tool, in input) (*answer, error) {
	line, err := t.line(in)
	if err != nil {
		return nil, err
	}
	tail := in.number("tail", defaultTail)
	if tail < 0 || tail > maxTail {
		return nil, fmt.Errorf("tail is %d: it is at most %d; use lines, since, until or regex to see others", tail, maxTail)
	}
	searches := in.text("regex") != "" // in all lines, of which it shows the last matches
	if _, given := in["tail"]; !searches && (given || in.text("lines") == "") {
		line = append(line, "-n", strconv.Itoa(tail))
	}
	o, err := s.run(ctx, line...)
	if err != nil {
		return nil, err
	}
	if len(o.out) == 0 && o.code != 0 {
		return nil, o.err()
	}
	all, err := linesOf(o.out)
	if err != nil {
		return nil, err
	}
	cut := 0
	if searches && len(all) > tail {
		cut = len(all) - tail
	}
	lines, more := tailed(strings.Join(all[cut:], ""), maxLog)
	if cut += more; cut > 0 {
		o.messages = append(o.messages, fmt.Sprintf("%d lines before these are left out: use fewer replicas, regex, since or lines", cut))
	}
	if lines == "" {
		o.messages = append(o.messages, "no lines")
	}
	return &answer{text: lines + strings.Join(o.messages, "\n")}, nil
}

// linesOf returns the lines of `torchx log --json`, each after its replica.
func linesOf(out []byte) (all []string, err error) {
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var l logLine
		if err := d.Decode(&l); err != nil {
			return nil, fmt.Errorf("read the log: %w", err)
		}
		all = append(all, fmt.Sprintf("%s/%d %s\n", l.Role, l.Replica, l.Line))
	}
	return all, nil
}

// tailed returns the last lines of a text, and how many lines it left out.
func tailed(text string, limit int) (last string, cut int) {
	if len(text) <= limit {
		return text, 0
	}
	from := len(text) - limit
	if next := strings.IndexByte(text[from:], '\n'); next >= 0 && from+next+1 < len(text) {
		from += next + 1
	}
	return text[from:], strings.Count(text[:from], "\n")
}

const (
	defaultPoints = 20
	maxPoints     = 1000
)

// metricsOf answers with summaries and some points of each series.
func metricsOf(ctx context.Context, s *server, t *tool, in input) (*answer, error) {
	keep := in.number("points", defaultPoints)
	if keep < 0 || keep > maxPoints {
		return nil, fmt.Errorf("points is %d: it is from 0 to %d", keep, maxPoints)
	}
	line, err := t.line(in)
	if err != nil {
		return nil, err
	}
	if keep == 0 {
		line = append(line, "--summary")
	}
	o, err := s.run(ctx, line...)
	if err == nil {
		err = o.err()
	}
	if err != nil {
		return nil, err
	}
	var series []map[string]json.RawMessage
	if err := json.Unmarshal(o.out, &series); err != nil {
		return nil, fmt.Errorf("read the metrics: %w", err)
	}
	for _, one := range series {
		var points []json.RawMessage
		if json.Unmarshal(one["points"], &points) == nil {
			if one["points"], err = json.Marshal(thinned(points, keep)); err != nil {
				return nil, err
			}
		}
	}
	out, err := json.Marshal(series)
	if err != nil {
		return nil, err
	}
	return t.structured(out, o.messages)
}

// thinned returns up to n of the points, evenly chosen, with the first and the last one.
func thinned[T any](points []T, n int) []T {
	if len(points) <= n {
		return points
	}
	some := make([]T, n)
	for i := range some {
		some[i] = points[i*(len(points)-1)/max(n-1, 1)]
	}
	some[n-1] = points[len(points)-1]
	return some
}

// readDocs answers with a page of the documentation, or the list of pages.
func readDocs(_ context.Context, _ *server, _ *tool, in input) (*answer, error) {
	topics, err := docs.Topics()
	if err != nil {
		return nil, err
	}
	var names []string
	index := &strings.Builder{}
	for _, topic := range topics {
		if topic.Name == in.text("topic") {
			return &answer{text: topic.Text}, nil
		}
		names = append(names, topic.Name)
		fmt.Fprintf(index, "%s: %s\n", topic.Name, topic.Title)
	}
	if name := in.text("topic"); name != "" {
		return nil, errors.New(cmp.Or(strings.TrimSpace(fmt.Sprintf("no topic %q.%s", name, humanize.Hint(name, names))), name))
	}
	return &answer{text: index.String()}, nil
}
