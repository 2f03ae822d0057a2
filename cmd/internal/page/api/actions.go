package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"time"

	"torchx/runtime/backend"
	"torchx/runtime/history"
	"torchx/runtime/runner"
)

// Limits of the body of an action.
const (
	maxBody  = 1 << 20
	bodyTime = 30 * time.Second
)

// action returns a handler that decodes the body of a request and runs what do returns: the command
// line of an action on a run.
func action[T any](a *API, answers func(w http.ResponseWriter, out []byte, messages []string),
	do func(ref runner.Ref, body *T) ([]string, error),
) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body := new(T)
		if err := decode(w, r, body); err != nil {
			refuse(w, http.StatusBadRequest, err.Error())
			return
		}
		ref, err := a.runner.Resolve(r.Context(), handleOf(r))
		if err != nil {
			fail(w, err)
			return
		}
		args, err := do(ref, body)
		if err != nil {
			fail(w, err)
			return
		}
		// What was asked for is done although the client may go.
		out, messages, err := a.call(context.WithoutCancel(r.Context()), args...)
		if err != nil {
			fail(w, err)
			return
		}
		a.acted.Add(1) // before the client reads what changed
		answers(w, out, Messages(string(messages)))
	}
}

func decode(w http.ResponseWriter, r *http.Request, to any) error {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil ||
		kind != "application/json" {
		return errors.New("the body must be application/json")
	}
	if err := http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTime)); err != nil &&
		!errors.Is(err, http.ErrNotSupported) {
		return err
	}
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read the body: %w", err)
	}
	return nil
}

// done answers with what a command said.
func done(w http.ResponseWriter, _ []byte, messages []string) { answer(w, Done{messages}) }

// printed answers with the JSON that a command printed.
func printed(w http.ResponseWriter, out []byte, _ []string) { write(w, out) }

// forceBody is the body of cancel and delete.
type forceBody struct {
	Force bool `json:"force"`
}

type tagBody struct {
	Set    map[string]string `json:"set"`
	Remove []string          `json:"remove"`
}

type noteBody struct {
	Note string `json:"note"`
}

type rerunBody struct {
	Args []string `json:"args"`
}

// registerActions adds what changes runs.
func (a *API) registerActions(mux *http.ServeMux) {
	mux.HandleFunc("POST /api/v1/runs/{id}/cancel", action(a, done, func(ref runner.Ref, b *forceBody) ([]string, error) {
		return []string{"cancel", fmt.Sprintf("--force=%t", b.Force), "--", ref.Handle()}, nil
	}))
	mux.HandleFunc("POST /api/v1/runs/{id}/delete", action(a, done, func(ref runner.Ref, b *forceBody) ([]string, error) {
		return []string{"delete", fmt.Sprintf("--force=%t", b.Force), "--", ref.Handle()}, nil
	}))
	mux.HandleFunc("POST /api/v1/runs/{id}/tag", action(a, printed, tagArgs))
	mux.HandleFunc("POST /api/v1/runs/{id}/note", action(a, printed, func(ref runner.Ref, b *noteBody) ([]string, error) {
		return []string{"note", "--json", "--", ref.Handle(), b.Note}, nil
	}))
	mux.HandleFunc("POST /api/v1/runs/{id}/rerun", a.rerun)
}

// tagArgs returns the command line that changes tags.
func tagArgs(ref runner.Ref, b *tagBody) ([]string, error) {
	args := []string{"tag", "--json", "--", ref.Handle()}
	for _, key := range slices.Sorted(maps.Keys(b.Set)) {
		if key == "" || strings.Contains(key, "=") {
			return nil, bad("%q is not the name of a tag", key)
		}
		args = append(args, key+"="+b.Set[key])
	}
	for _, key := range b.Remove {
		if key == "" || strings.Contains(key, "=") {
			return nil, bad("%q is not the name of a tag", key)
		}
		args = append(args, key+"-")
	}
	return args, nil
}

// rerun starts a run again. A component may need any amount of memory, so it is evaluated by a
// process of its own; that is also the parent of the agent, which outlives this server.
func (a *API) rerun(w http.ResponseWriter, r *http.Request) {
	body := &rerunBody{}
	if err := decode(w, r, body); err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	ref, err := a.runner.Resolve(r.Context(), handleOf(r))
	if err != nil {
		fail(w, err)
		return
	}
	for _, arg := range body.Args {
		if strings.ContainsRune(arg, 0) {
			fail(w, bad("an argument has a NUL byte"))
			return
		}
		if arg == "--help" || arg == "-h" { // would print the help and run nothing
			fail(w, bad("%s is not an argument of a run", arg))
			return
		}
	}
	args, err := a.restore(r.Context(), ref, body.Args)
	if err != nil {
		fail(w, err)
		return
	}
	out, messages, err := a.spawn(context.WithoutCancel(r.Context()), "",
		append([]string{"rerun", "-d", ref.Handle()}, args...)...)
	if err != nil {
		fail(w, err)
		return
	}
	a.acted.Add(1)
	handle := strings.TrimSpace(string(out))
	answer(w, Started{Handle: handle, AppID: handle[strings.LastIndexByte(handle, '/')+1:], Messages: Messages(string(messages))})
}

// CallCommand is the hidden command that runs the command line on its stdin.
const CallCommand = "ui-call"

// spawn runs a command line in a process of its own, in a folder ("": that of this server). The
// process reads the command line from stdin, as other users can read its arguments.
func (a *API) spawn(
	ctx context.Context, dir string, args ...string,
) (out, messages []byte, err error) {
	if dir == "" {
		dir = a.program.Env.Dir
	}
	line, err := json.Marshal(args)
	if err != nil {
		return nil, nil, err
	}
	var stdout, stderr bytes.Buffer
	c := exec.CommandContext(ctx, a.program.Env.Exe, CallCommand)
	c.Stdin = bytes.NewReader(line)
	c.Dir, c.Env, c.Stdout, c.Stderr = dir, append(slices.Clone(a.program.Env.Vars), "NO_COLOR=1", "PWD="+dir), &stdout, &stderr
	ownGroup(c)
	err = c.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		err = &commandError{code: exit.ExitCode(), text: lastError(stderr.String())}
	}
	return stdout.Bytes(), stderr.Bytes(), err
}

// commandError is the failure of a command in a process of its own.
type commandError struct {
	code int
	text string
}

func (e *commandError) Error() string { return e.text }

// lastError returns the error that a command said, in its words.
func lastError(messages string) string {
	text := "the command failed"
	for _, line := range Messages(messages) {
		if why, ok := strings.CutPrefix(line, "error: "); ok {
			text = why
		}
	}
	return text
}

// form answers with the component of a run and the arguments that it was given.
func (a *API) form(w http.ResponseWriter, r *http.Request) {
	ref, err := a.runner.Resolve(r.Context(), handleOf(r))
	if err != nil {
		fail(w, err)
		return
	}
	past, err := a.runner.Recorded(r.Context(), ref)
	if err != nil {
		fail(w, err)
		return
	}
	if past.Component == "" || !past.Evaluated() {
		fail(w, backend.Errorf(backend.ErrNotFound, "%s was not made by a component: it has no arguments to change", ref.Handle()))
		return
	}
	shown, _, err := a.spawn(r.Context(), past.Cwd, "component", "show", "--json",
		"--", past.Component)
	if err != nil {
		fail(w, err)
		return
	}
	args := a.program.MaskedArgs(past.Args)
	answer(w, Form{Definition: shown, Args: append([]string{}, args...), Values: history.ArgumentValues(args), Folder: past.Cwd})
}
