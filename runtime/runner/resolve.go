package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"torchx/runtime/history"
	"torchx/runtime/pattern"
	"torchx/runtime/spec"
)

// lastApp means the most recent app.
const lastApp = "-"

// maxCandidates is how many matches of an ambiguous prefix an error names.
const maxCandidates = 4

// Resolve finds the app for a handle (with any session and a known backend or alias; the
// app need not exist), for "-" (the app submitted last from this home, removed or not), for
// an app ID or for a unique ID prefix. Errors: backend.ErrNotFound, or another for a
// malformed handle or an ambiguous prefix.
func (r *Runner) Resolve(ctx context.Context, text string) (history.AppKey, error) {
	switch {
	case strings.Contains(text, "://"):
		return r.resolveHandle(ctx, text)
	case text == lastApp:
		return r.mostRecent(ctx)
	}
	return r.resolvePrefix(ctx, text)
}

func (r *Runner) resolveHandle(ctx context.Context, text string) (history.AppKey, error) {
	h, err := spec.ParseHandle(text)
	if err != nil {
		return history.AppKey{}, err
	}
	if strings.Contains(h.Session, "/") || !spec.ValidAppID(h.AppID) {
		return history.AppKey{}, notFound("invalid handle %q: want BACKEND://SESSION/ID, where ID has neither / nor control characters", text)
	}
	alias, err := r.Backends.Canonical(h.Backend)
	if err != nil {
		return history.AppKey{}, err
	}
	exact := history.AppKey{Backend: alias.Backend, ID: h.AppID}
	found, err := r.matches(ctx, h.AppID)
	if err != nil {
		return history.AppKey{}, err
	}
	found = slices.DeleteFunc(found, func(f history.AppKey) bool { return f.Backend != alias.Backend })
	if len(found) == 0 || slices.Contains(found, exact) {
		return exact, nil // only the backend may have the app
	}
	// It may be the ID of another user's app, which only the backend has.
	if b, err := r.Backends.Get(alias.Backend); err == nil {
		if _, err := b.Describe(ctx, h.AppID); err == nil {
			return exact, nil
		}
	}
	return singleMatch(text, found)
}

// singleMatch returns the app that a prefix matches, or an error if several match.
func singleMatch(text string, found []history.AppKey) (history.AppKey, error) {
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
	return history.AppKey{}, fmt.Errorf("%q matches several apps, use more characters: %s", text,
		strings.Join(names, ", "))
}

func (r *Runner) mostRecent(ctx context.Context) (history.AppKey, error) {
	if r.History == nil {
		return history.AppKey{}, errors.New("`-` means the most recent app, but no history is available: give a handle")
	}
	// A removed app still counts: a second `delete -` must not remove the app before it.
	if gone, err := r.History.LastRemoved(ctx); err == nil && gone.Backend != history.Imported {
		return gone.AppKey, nil
	}
	app, err := r.History.Last(ctx)
	if errors.Is(err, history.ErrNotFound) {
		return history.AppKey{}, notFound("`-` means the most recent app, but none has been submitted: see `torchx list`")
	}
	if err != nil {
		return history.AppKey{}, err
	}
	return app.AppKey, nil
}

func (r *Runner) resolvePrefix(ctx context.Context, text string) (history.AppKey, error) {
	if text == "" {
		return history.AppKey{}, notFound("the app is an empty string: give a handle, a unique ID prefix or `-`")
	}
	found, err := r.matches(ctx, text)
	if err != nil {
		return history.AppKey{}, err
	}
	if len(found) == 0 {
		found = r.listedByBackend(ctx, text)
	}
	if len(found) == 0 {
		found = r.removed(ctx, text) // commands then report its removal
	}
	if exact := slices.DeleteFunc(slices.Clone(found), func(f history.AppKey) bool { return f.ID != text }); len(exact) > 0 {
		found = exact
	}
	if len(found) == 0 {
		return history.AppKey{}, notFound("no app %q: give a handle (backend://session/app_id) or a unique ID prefix, see `torchx list`", text)
	}
	return singleMatch(text, found)
}

// matches returns the apps of the history with an ID prefix, newest first.
func (r *Runner) matches(ctx context.Context, prefix string) ([]history.AppKey, error) {
	if r.History == nil {
		return nil, nil
	}
	apps, err := r.History.FindPrefix(ctx, prefix)
	if err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		r.warn("%v", err)
	}
	var found []history.AppKey
	for _, a := range apps {
		found = append(found, a.AppKey)
	}
	return found, nil
}

// listedByBackend finds apps that the history lacks by their ID prefix in the list of the default
// backend, which is on this machine.
func (r *Runner) listedByBackend(ctx context.Context, prefix string) []history.AppKey {
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
	var found []history.AppKey
	for _, a := range apps {
		if strings.HasPrefix(a.ID, prefix) {
			found = append(found, history.AppKey{Backend: names[0], ID: a.ID})
		}
	}
	return found
}

var (
	logHandle = pattern.Lazy(`^(\w+://[^/]*/[^/]+)(?:/([^/]+)(?:/((?:\d+,?)+))?)?$`)
	logShort  = pattern.Lazy(`^([^/]+)(?:/([^/]+)(?:/((?:\d+,?)+))?)?$`)
)

// ResolveLog finds app, role and replicas of APP[/ROLE[/ID,…]], where APP is anything that
// Resolve accepts; role "" and no ids mean all.
func (r *Runner) ResolveLog(
	ctx context.Context, text string,
) (ref history.AppKey, role string, ids []int, err error) {
	app, role, ids, err := parseLog(text)
	if err != nil {
		return history.AppKey{}, "", nil, err
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
			return "", "", nil, fmt.Errorf("`%s`: invalid replica %s", text, part)
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return m[1], m[2], ids, nil
}
