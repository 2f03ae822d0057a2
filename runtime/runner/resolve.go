package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"torchx/runtime/lazyregexp"
	"torchx/runtime/spec"
	"torchx/state"
)

// lastApp is the text that stands for the app submitted last.
const lastApp = "-"

// maxCandidates of an ambiguous prefix are named.
const maxCandidates = 4

// Resolve finds the app that a text means: a handle (with any session, a known
// backend or alias; the app need not exist), "-" for the app submitted last from
// this home, removed or not, or an app id or a unique prefix of one. Errors: backends.ErrNotFound,
// or a plain one for a malformed handle or an ambiguous prefix.
func (r *Runner) Resolve(ctx context.Context, text string) (Ref, error) {
	switch {
	case strings.Contains(text, "://"):
		return r.resolveHandle(ctx, text)
	case text == lastApp:
		return r.last(ctx)
	}
	return r.resolvePrefix(ctx, text)
}

func (r *Runner) resolveHandle(ctx context.Context, text string) (Ref, error) {
	h, err := spec.ParseHandle(text)
	if err != nil {
		return Ref{}, err
	}
	alias, err := r.Backends.Canonical(h.Backend)
	if err != nil {
		return Ref{}, err
	}
	exact := Ref{alias.Backend, h.AppID}
	found, err := r.matches(ctx, h.AppID)
	if err != nil {
		return Ref{}, err
	}
	found = slices.DeleteFunc(found, func(f Ref) bool { return f.Backend != alias.Backend })
	if len(found) == 0 || slices.Contains(found, exact) {
		return exact, nil // the backend may know what the history does not
	}
	return only(text, found)
}

// only is the one app that a text is the beginning of.
func only(text string, found []Ref) (Ref, error) {
	if len(found) == 1 {
		return found[0], nil
	}
	var names []string
	for _, f := range found[:min(len(found), maxCandidates)] {
		names = append(names, f.Handle())
	}
	if len(found) > maxCandidates {
		names = append(names, "...")
	}
	return Ref{}, fmt.Errorf("%q is the beginning of several apps, write more of it: %s", text, strings.Join(names, ", "))
}

func (r *Runner) last(ctx context.Context) (Ref, error) {
	if r.DB == nil {
		return Ref{}, errors.New("`-` means the app submitted last, but there is no history: give a handle")
	}
	// The app before the last one is not meant: a second `delete -` must not take it.
	if gone, err := r.DB.LastRemoved(ctx); err == nil {
		return Ref{gone.Backend, gone.ID}, nil
	}
	app, err := r.DB.Last(ctx)
	if errors.Is(err, state.ErrNotFound) {
		return Ref{}, notFound("`-` means the app submitted last, but none was: see `torchx list`")
	}
	if err != nil {
		return Ref{}, err
	}
	return Ref{app.Backend, app.ID}, nil
}

func (r *Runner) resolvePrefix(ctx context.Context, text string) (Ref, error) {
	if text == "" {
		return Ref{}, notFound("an empty text names no app: give a handle, the beginning of an app id or `-`")
	}
	found, err := r.matches(ctx, text)
	if err != nil {
		return Ref{}, err
	}
	if len(found) == 0 {
		found = r.listed(ctx, text)
	}
	if len(found) == 0 {
		found = r.removed(ctx, text) // whoever looks at it is told that it is gone
	}
	if exact := slices.DeleteFunc(slices.Clone(found), func(f Ref) bool { return f.ID != text }); len(exact) > 0 {
		found = exact
	}
	if len(found) == 0 {
		return Ref{}, notFound("no app %q: give a handle (backend://session/app_id) or the beginning of an app id, see `torchx list`", text)
	}
	return only(text, found)
}

// matches are the apps of the history with that prefix, newest first.
func (r *Runner) matches(ctx context.Context, prefix string) ([]Ref, error) {
	if r.DB == nil {
		return nil, nil
	}
	apps, err := r.DB.FindPrefix(ctx, prefix)
	if err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		r.warn("%v", err)
	}
	var found []Ref
	for _, a := range apps {
		found = append(found, Ref{a.Backend, a.ID})
	}
	return found, nil
}

// listed asks the default backend, which is on this machine, for an app that the
// history does not have (any more).
func (r *Runner) listed(ctx context.Context, prefix string) []Ref {
	names := r.Backends.Names()
	if len(names) == 0 {
		return nil
	}
	b, err := r.Backends.Get(names[0])
	if err != nil {
		return nil
	}
	apps, err := b.List(ctx)
	if err != nil {
		r.warn("%v", err)
	}
	var found []Ref
	for _, a := range apps {
		if strings.HasPrefix(a.ID, prefix) {
			found = append(found, Ref{names[0], a.ID})
		}
	}
	return found
}

var (
	logHandle = lazyregexp.New(`^(\w+://[^/]*/[^/]+)(?:/([^/]+)(?:/((?:\d+,?)+))?)?$`)
	logShort  = lazyregexp.New(`^([^/]+)(?:/([^/]+)(?:/((?:\d+,?)+))?)?$`)
)

// ResolveLog finds app, role and replicas of APP[/ROLE[/ID,…]], where APP is
// whatever Resolve takes; role "" and no ids mean all.
func (r *Runner) ResolveLog(ctx context.Context, text string) (ref Ref, role string, ids []int, err error) {
	app, role, ids, err := parseLog(text)
	if err != nil {
		return Ref{}, "", nil, err
	}
	ref, err = r.Resolve(ctx, app)
	return ref, role, ids, err
}

func parseLog(text string) (app, role string, ids []int, err error) {
	pattern := logShort
	if strings.Contains(text, "://") {
		pattern = logHandle
	}
	m := pattern().FindStringSubmatch(text)
	if m == nil {
		return "", "", nil, fmt.Errorf("`%s` is not of the form SCHEDULER://[SESSION_NAME]/APP_ID/[ROLE_NAME/[REPLICA_IDS,...]]", text)
	}
	for part := range strings.SplitSeq(m[3], ",") {
		if part == "" {
			continue
		}
		id, err := strconv.Atoi(part)
		if err != nil {
			return "", "", nil, fmt.Errorf("`%s`: there is no replica %s", text, part)
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return m[1], m[2], ids, nil
}
