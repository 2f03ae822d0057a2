package local

import (
	"path/filepath"
	"strings"

	"torchx/runtime/spec"
)

// unbufferedVariable makes Python replicas write their output at once.
const unbufferedVariable = "PYTHONUNBUFFERED"

// termVariable names the kind of the terminal; "xterm" is what docker run -t sets.
const (
	termVariable = "TERM"
	termDefault  = "xterm"
)

// terminalEnv sets TERM for a replica on a terminal: the submitter's, else a default.
func terminalEnv(env []string) []string {
	for _, e := range env {
		if v, ok := strings.CutPrefix(e, termVariable+"="); ok && v != "" {
			return env
		}
	}
	return append(env, termVariable+"="+termDefault)
}

// withoutCwd returns the PATH of a replica's own environment without the working folder
// that the plan puts behind it, as TorchX's does: its programs would hide those of the
// inherited PATH.
func withoutCwd(path, cwd string) string {
	if path == cwd {
		return ""
	}
	return strings.TrimSuffix(path, string(filepath.ListSeparator)+cwd)
}

// searchPath joins a replica's own PATH and the inherited one. Empty entries, and relative
// ones of the inherited PATH, would be the working folder or lie in it.
func searchPath(own, inherited string) string {
	var entries []string
	for _, e := range filepath.SplitList(own) {
		if e != "" {
			entries = append(entries, e)
		}
	}
	for _, e := range filepath.SplitList(inherited) {
		if filepath.IsAbs(e) {
			entries = append(entries, e)
		}
	}
	return strings.Join(entries, string(filepath.ListSeparator))
}

// childEnv joins a replica's environment to the one it inherits: its own values
// win, its PATH comes before the inherited one. An empty PATH is left out, since shells
// take it for the working folder.
func childEnv(parent []string, own spec.Map[string]) []string {
	env := spec.Map[string]{}
	index := make(map[string]int, len(parent)+len(own))
	set := func(k, v string) {
		if i, ok := index[k]; ok {
			env[i].Value = v
			return
		}
		index[k] = len(env)
		env = append(env, spec.Entry[string]{Key: k, Value: v})
	}
	for _, e := range parent {
		if k, v, ok := strings.Cut(e, "="); ok {
			set(k, v)
		}
	}
	inherited, _ := env.Get(pathVariable)
	for _, e := range own {
		set(e.Key, e.Value)
	}
	path, _ := own.Get(pathVariable)
	set(pathVariable, searchPath(path, inherited))
	if v, _ := env.Get(unbufferedVariable); v == "" {
		set(unbufferedVariable, "x")
	}
	all := make([]string, 0, len(env))
	for _, e := range env {
		if e.Key != pathVariable || e.Value != "" {
			all = append(all, e.Key+"="+e.Value)
		}
	}
	return all
}
