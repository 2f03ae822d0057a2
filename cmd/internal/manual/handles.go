package manual

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/backend"
	"torchx/runtime/history"
	"torchx/runtime/spec"
	"torchx/runtime/sweep"
	"torchx/state"
)

// maxHandles bounds how many handles are offered: a longer list does not help.
const maxHandles = 100

// wantsLive lists the commands that need a running app.
var wantsLive = []string{"attach", "cancel", "exec", "port-forward", "wait"}

// maxSearched bounds how many apps are read to find some that are not trials of sweeps.
const maxSearched = 2000

// offered returns the newest apps without trials of sweeps, which are too many; all is false if
// there may be more.
func offered(
	ctx context.Context, db *state.DB, filter history.Filter,
) (apps []history.App, all bool, err error) {
	for filter.Limit = maxHandles; ; filter.Limit = maxSearched {
		if apps, err = db.List(ctx, filter); err != nil {
			return nil, false, err
		}
		isLast := len(apps) < filter.Limit
		found := len(apps)
		apps = slices.DeleteFunc(apps, func(a history.App) bool { return a.ParentRunID != "" && a.Tags[sweep.SweepTag] == a.ParentRunID })
		all = isLast && len(apps) == found
		if isLast || len(apps) >= maxHandles || filter.Limit == maxSearched {
			return apps[:min(len(apps), maxHandles)], all, nil
		}
	}
}

// handles offers app IDs, newest first, and whole handles if the word begins as one; with
// parts also the roles and replicas of an app.
func (c *completer) handles(ctx context.Context, command string, parts bool) {
	if parts {
		if handle, rest, ok := cutHandle(c.current); ok {
			c.replicas(ctx, handle, rest)
			return
		}
	}
	db := c.PeekHistory(ctx)
	if db == nil {
		return
	}
	if !slices.Contains(c.line.positionals, "-") {
		c.add("-", "the most recent app")
	}
	filter := history.Filter{Limit: maxHandles}
	_, force := c.line.flags["force"]
	switch {
	case slices.Contains(wantsLive, command):
		filter.States = history.LiveStates()
	case command == "delete" && !force:
		filter.States = history.TerminalStates()
	}
	apps, all, err := offered(ctx, db, filter)
	if err != nil {
		return
	}
	if !all && c.current != "" {
		older, err := db.FindPrefix(ctx, c.current[strings.LastIndexByte(c.current, '/')+1:])
		if err == nil {
			apps = append(apps, older...)
		}
	}
	for i := range apps {
		a := &apps[i]
		value := a.ID
		handle := spec.Handle{Backend: a.Backend, Session: spec.Session, AppID: a.ID}.String()
		if c.current != "" && strings.HasPrefix(handle, c.current) &&
			!strings.HasPrefix(value, c.current) {
			value = handle
		}
		if !slices.Contains(c.line.positionals, a.ID) &&
			!slices.Contains(c.line.positionals, handle) {
			c.add(value, fmt.Sprintf("%s, %s ago", a.State, ui.Age(time.Since(*a.SubmittedAt))))
		}
	}
}

// cutHandle splits HANDLE/REST, where HANDLE may contain "://" and a session.
func cutHandle(text string) (handle, rest string, ok bool) {
	from := 0
	if i := strings.Index(text, "://"); i >= 0 {
		session := strings.IndexByte(text[i+3:], '/')
		if session < 0 {
			return "", "", false
		}
		from = i + 3 + session + 1
	}
	i := strings.IndexByte(text[from:], '/')
	if i < 0 {
		return "", "", false
	}
	return text[:from+i], text[from+i+1:], true
}

// replicas offers HANDLE/ROLE, then HANDLE/ROLE/ID.
func (c *completer) replicas(ctx context.Context, handle, rest string) {
	role, _, within := strings.Cut(rest, "/")
	for _, r := range c.rolesOf(ctx, handle) {
		switch {
		case !within:
			c.add(handle+"/"+r.Name, fmt.Sprintf("%d replicas", r.NumReplicas))
		case r.Name == role:
			before := c.current[:max(strings.LastIndexByte(c.current, ','), strings.LastIndexByte(c.current, '/'))+1]
			for id := range min(r.NumReplicas, maxHandles) {
				c.add(fmt.Sprintf("%s%d", before, id), "")
			}
		}
	}
}

// record returns the record of a handle, an ID or "-"; nil if it is not known.
func (c *completer) record(ctx context.Context, handle string) *history.App {
	db := c.PeekHistory(ctx)
	if db == nil {
		return nil
	}
	if handle == "-" {
		if last, err := db.Last(ctx); err == nil {
			return &last
		}
		return nil
	}
	apps, err := db.FindPrefix(ctx, handle[strings.LastIndexByte(handle, '/')+1:])
	if err != nil || len(apps) != 1 {
		return nil
	}
	return &apps[0]
}

// capabilities returns the record of an app and what its backend can do; nil if one is not known.
func (c *completer) capabilities(
	ctx context.Context, handle string,
) (*history.App, *backend.Capabilities) {
	row := c.record(ctx, handle)
	reg, err := c.Registry()
	if row == nil || err != nil {
		return nil, nil
	}
	can, err := reg.Capabilities(row.Backend)
	if err != nil {
		return nil, nil
	}
	return row, &can
}

// componentOf returns the component of an app, "" if it is unknown, and a factory for the
// folder where the app was run.
func (c *completer) componentOf(ctx context.Context, handle string) (string, *program.Factory) {
	row := c.record(ctx, handle)
	if row == nil || row.Modules == nil {
		return "", nil
	}
	return row.Component, c.InDir(row.Cwd)
}
