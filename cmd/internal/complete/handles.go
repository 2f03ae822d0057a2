package complete

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/history"
	"torchx/runtime/spec"
	"torchx/state"
)

// maxHandles are offered at most: more is no help.
const maxHandles = 100

// wantsLive are the commands that make sense of a running app only.
var wantsLive = []string{"attach", "cancel", "wait"}

// handles offers app ids, the newest first, and whole handles once one is begun;
// with parts also the roles and replicas behind an id.
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
	c.add("-", "the app that was submitted last")
	filter := history.Filter{Limit: maxHandles}
	_, force := c.line.flags["force"]
	switch {
	case slices.Contains(wantsLive, command):
		filter.States = history.LiveStates()
	case command == "delete" && !force:
		filter.States = history.TerminalStates()
	}
	apps, err := db.List(ctx, filter)
	if err != nil {
		return
	}
	if len(apps) == maxHandles && c.current != "" {
		older, err := db.FindPrefix(ctx, c.current[strings.LastIndexByte(c.current, '/')+1:])
		if err == nil {
			apps = append(apps, older...)
		}
	}
	for i := range apps {
		a := &apps[i]
		value := a.ID
		handle := spec.Handle{Backend: a.Backend, Session: spec.Session, AppID: a.ID}.String()
		if c.current != "" && strings.HasPrefix(handle, c.current) && !strings.HasPrefix(value, c.current) {
			value = handle
		}
		if !slices.Contains(c.line.positionals, value) {
			c.add(value, fmt.Sprintf("%s, %s ago", a.State, ui.Age(time.Since(a.SubmittedAt))))
		}
	}
}

// cutHandle splits HANDLE/REST, where HANDLE may hold "://" and a session.
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

// recorded is the app that a handle, an id or "-" means, as it was submitted.
func (c *completer) recorded(ctx context.Context, handle string) *spec.App {
	db := c.PeekHistory(ctx)
	if db == nil {
		return nil
	}
	row, err := c.rowOf(ctx, db, handle)
	var app spec.App
	if err != nil || json.Unmarshal(row.App, &app) != nil {
		return nil
	}
	return &app
}

// componentOf returns the component that an app was made by, "" if none is known, and
// a factory for the folder that the app was run in.
func (c *completer) componentOf(ctx context.Context, handle string) (string, *program.Factory) {
	db := c.PeekHistory(ctx)
	if db == nil {
		return "", nil
	}
	row, err := c.rowOf(ctx, db, handle)
	if err != nil || row.Modules == nil {
		return "", nil
	}
	return row.Component, c.InDir(row.Cwd)
}

func (c *completer) rowOf(ctx context.Context, db *state.DB, handle string) (history.App, error) {
	if handle == "-" {
		return db.Last(ctx)
	}
	apps, err := db.FindPrefix(ctx, handle[strings.LastIndexByte(handle, '/')+1:])
	if err != nil || len(apps) != 1 {
		return history.App{}, history.ErrNotFound
	}
	return apps[0], nil
}
