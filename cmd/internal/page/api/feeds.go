package api

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"torchx/cmd/internal/page/stream"
	"torchx/cmd/internal/program"
	"torchx/runtime/backend"
	"torchx/runtime/history"
	"torchx/runtime/logstore"
	"torchx/runtime/metrics"
	"torchx/runtime/runner"
	"torchx/runtime/spec"
)

// Limits of one stream.
const (
	maxWatches = 32   // runs
	maxLive    = 1000 // whose folders are watched for the list
)

// changes answers with events.
func (a *API) changes(w http.ResponseWriter, r *http.Request) {
	var feeds []stream.Feed
	watches := r.URL.Query()["watch"]
	if len(watches) > maxWatches {
		fail(w, bad("watch: at most %d at once", maxWatches))
		return
	}
	for _, text := range watches {
		found, err := a.feeds(r.Context(), text)
		if err != nil {
			fail(w, err)
			return
		}
		feeds = append(feeds, found...)
	}
	a.hub.Serve(w, r, feeds)
}

// feeds returns the feeds of a watch: runs, run:ID or log:ID.
func (a *API) feeds(ctx context.Context, text string) ([]stream.Feed, error) {
	what, id, _ := strings.Cut(text, ":")
	if text == "runs" {
		return []stream.Feed{a.runsFeed()}, nil
	}
	if what != "run" && what != "log" || id == "" {
		return nil, bad("watch %q: want runs, run:ID or log:ID", text)
	}
	// All pages open their streams again when the server does.
	ref, err := a.refs.get(id, func() (runner.Ref, error) { return a.runner.Resolve(context.WithoutCancel(ctx), id) })
	if err != nil {
		return nil, err
	}
	if what == "log" {
		log := a.logFeed(ref)
		if a.isRemote(ref) {
			a.followed(&log, ref)
		}
		return []stream.Feed{log}, nil
	}
	folder, err := a.runner.Folder(ref)
	if err != nil {
		folder = "" // nothing of the app is on this machine
	}
	feed := func(kind, part string) stream.Feed {
		dir := filepath.Join(folder, part)
		return stream.Feed{
			Name: kind + ":" + ref.Handle(), Event: stream.Event{Kind: kind, AppID: ref.ID},
			Paths: func(context.Context) []string { return existing(folder, dir) },
			Print: func() string { return printOf(dir) },
		}
	}
	run := feed("run", "")
	a.labeled(&run, ref)
	if a.isRemote(ref) {
		a.observed(&run, ref)
	}
	return []stream.Feed{run, feed("metrics", metrics.Folder), feed("usage", "usage")}, nil
}

func (a *API) isRemote(ref runner.Ref) bool {
	can, err := a.runner.Backends.Capabilities(ref.Backend)
	return err == nil && !can.RunsHere
}

// labeled makes a feed follow the tags and the note of an app, which only the history has.
func (a *API) labeled(f *stream.Feed, ref runner.Ref) {
	if a.runner.History == nil {
		return
	}
	paths, files, labels := f.Paths, f.Print, ""
	f.Paths = func(ctx context.Context) []string {
		if app, err := a.runner.History.Get(ctx, ref.Backend, ref.ID); err == nil { // else it is locked, or changes soon
			labels = fmt.Sprint(app.Labels)
		}
		return append(paths(ctx), existing(a.home)...)
	}
	f.Print = func() string { return files() + labels }
}

// observed makes a feed follow an app that runs elsewhere.
func (a *API) observed(f *stream.Feed, ref runner.Ref) {
	files, seen := f.Print, newSeen()
	f.Print = func() string { return files() + seen.text() }
	f.Observe = func(ctx context.Context, changed func()) {
		defer a.runner.Observe(ref, func(s *spec.Status) {
			seen.set(s)
			changed()
		})()
		if s, err := a.runner.Wait(ctx, ref); err == nil {
			seen.set(s)
			changed()
		}
	}
}

// runsFeed tells when the list of runs changes: the history, or the state of a run that has not
// ended.
func (a *API) runsFeed() stream.Feed {
	home := a.home
	files := []string{home, filepath.Join(home, "live")}
	var live []string
	return stream.Feed{
		Name: "runs", Event: stream.Event{Kind: "runs"},
		Paths: func(ctx context.Context) []string {
			live = a.liveFolders(ctx)
			return existing(append(files, live...)...)
		},
		Print: func() string {
			text := stamp(filepath.Join(home, program.HistoryFile)) + stamp(filepath.Join(home, program.HistoryFile+"-wal"))
			for _, dir := range live {
				text += stamp(filepath.Join(dir, "starts.jsonl")) + stamp(filepath.Join(dir, "exits.jsonl")) + stamp(filepath.Join(dir, "status.json"))
			}
			return text
		},
	}
}

// liveFolders returns the folders of apps that have not ended.
func (a *API) liveFolders(ctx context.Context) (dirs []string) {
	if a.runner.History == nil {
		return nil
	}
	apps, err := a.runner.History.List(ctx,
		history.Filter{States: history.LiveStates(), Limit: maxLive})
	if err != nil {
		return nil // the history is locked: it changes soon
	}
	for i := range apps {
		if dir, err := a.runner.Folder(apps[i].AppKey); err == nil {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// logFeed tells when the log of a run grows.
func (a *API) logFeed(ref runner.Ref) stream.Feed {
	folder, err := a.runner.Folder(ref)
	if err != nil {
		folder = ""
	}
	var dirs []string
	known := ""
	return stream.Feed{
		Name: "log:" + ref.Handle(), Event: stream.Event{Kind: "log", AppID: ref.ID},
		Paths: func(ctx context.Context) []string {
			if now := printOf(folder); now != known || len(dirs) == 0 { // another attempt may have begun
				known, dirs = now, a.logDirs(ctx, ref)
			}
			paths := existing(folder)
			for _, dir := range dirs {
				if index := filepath.Join(dir, logstore.IndexFile); len(existing(index)) > 0 {
					paths = append(paths, index)
				} else {
					paths = append(paths, existing(dir)...)
				}
			}
			return paths
		},
		Print: func() string {
			var b strings.Builder
			for _, dir := range dirs {
				b.WriteString(stamp(filepath.Join(dir, logstore.IndexFile)))
			}
			return b.String() + known
		},
	}
}

// logDirs returns the folders of the last attempts of all replicas.
func (a *API) logDirs(ctx context.Context, ref runner.Ref) (dirs []string) {
	o, err := a.openLog(ctx, ref.Handle(), &LogQuery{})
	if err != nil {
		return nil
	}
	defer runner.CloseLogs(o.inputs)
	for _, in := range o.inputs {
		if counter, ok := in.Reader.(backend.LogCounter); ok {
			if c, err := counter.Count(); err == nil {
				dirs = append(dirs, c.Dir)
			}
		}
	}
	return dirs
}

// existing returns the paths that exist: others cannot be watched.
func existing(paths ...string) (found []string) {
	for _, path := range paths {
		if path == "" {
			continue
		}
		if _, err := os.Stat(path); err == nil {
			found = append(found, path)
		}
	}
	return found
}

// printOf returns sizes and times of what a folder holds.
func printOf(dir string) string {
	entries, err := os.ReadDir(dir)
	if dir == "" || err != nil {
		return ""
	}
	var b strings.Builder
	for _, e := range entries {
		b.WriteString(e.Name() + stamp(filepath.Join(dir, e.Name())))
	}
	return b.String()
}

// stamp returns the size and the time of a file.
func stamp(path string) string {
	info, err := os.Lstat(path)
	if err != nil {
		return " -"
	}
	return fmt.Sprintf(" %d %d", info.Size(), info.ModTime().UnixNano())
}
