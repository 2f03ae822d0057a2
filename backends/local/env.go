package local

import (
	"path/filepath"
	"strings"

	"torchx/runtime/spec"
)

// unbufferedVariable makes Python replicas write their output without buffering.
const unbufferedVariable = "PYTHONUNBUFFERED"

// termVariable is the type of the terminal; docker run -t sets it to "xterm".
const (
	termVariable = "TERM"
	termDefault  = "xterm"
)

// terminalEnv sets TERM for a replica on a terminal, unless the submitter's is set.
func terminalEnv(env []string) []string {
	for _, e := range env {
		if v, ok := strings.CutPrefix(e, termVariable+"="); ok && v != "" {
			return env
		}
	}
	return append(env, termVariable+"="+termDefault)
}

// withoutCwd returns the PATH of a replica's own environment without the working folder,
// which the plan appends as TorchX does: its programs would hide those of the inherited
// PATH.
func withoutCwd(path, cwd string) string {
	if path == cwd {
		return ""
	}
	return strings.TrimSuffix(path, string(filepath.ListSeparator)+cwd)
}

// searchPath joins a replica's own PATH and the inherited one. It drops empty entries and
// relative ones of the inherited PATH, which refer to the working folder.
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

// childEnv returns a replica's environment: its own variables override inherited ones, and
// its PATH precedes the inherited one. An empty PATH is omitted, because shells would
// search the working folder.
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
