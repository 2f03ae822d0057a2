package local

import (
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

// childEnv joins a replica's environment to the one it inherits: its own values
// win, its PATH comes before the inherited one.
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
	set(pathVariable, spec.JoinPath(path, inherited))
	if v, _ := env.Get(unbufferedVariable); v == "" {
		set(unbufferedVariable, "x")
	}
	all := make([]string, len(env))
	for i, e := range env {
		all[i] = e.Key + "=" + e.Value
	}
	return all
}
