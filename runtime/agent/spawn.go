package agent

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"torchx/runtime/backend"
	"torchx/runtime/filelock"
	"torchx/runtime/safefile"
	"torchx/runtime/spec"
)

// readyAnswer is the line that the agent sends to the submitter.
type readyAnswer struct {
	OK    bool   `json:"ok"`
	Error string `json:"error,omitempty"`
	Code  int    `json:"code,omitempty"` // what `torchx run` exits with
}

func (r readyAnswer) encode() []byte {
	data, _ := json.Marshal(r) // plain fields cannot fail
	return append(data, '\n')
}

// Spawn starts the detached agent of a bundle, passes the lock to it and returns when every
// replica has started. Errors: *backend.StartError.
func Spawn(exe string, b Bundle, lock *filelock.Lock) error {
	answer, err := spawn(exe, b, lock)
	if err == nil && !answer.OK {
		return &backend.StartError{Code: answer.Code, Err: errors.New(answer.Error)}
	}
	if err != nil {
		return &backend.StartError{Code: spec.ExitNotStarted, Err: err}
	}
	return nil
}

func spawn(exe string, b Bundle, lock *filelock.Lock) (a readyAnswer, err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return a, fmt.Errorf("start agent: %w", err)
	}
	defer r.Close()
	process, err := b.life().Start(exe, lock.File, w)
	if err = errors.Join(err, w.Close()); err != nil {
		return a, fmt.Errorf("start agent: %w", err)
	}
	line, err := bufio.NewReader(r).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &a)
	}
	if err != nil {
		log := b.path(logFile)
		return a, fmt.Errorf("agent ended before the app started: %s (see %s)", endCause(log), log)
	}
	Reap(process)
	return a, nil
}

// endCause returns why an agent ended: the last line of its log, or the cause of a crash, of which
// the runtime prints a traceback.
func endCause(path string) string {
	data, err := safefile.ReadFile(path, maxFile)
	text := strings.TrimSpace(string(data))
	if err != nil || text == "" {
		return "no reason given"
	}
	for line := range strings.Lines(text) {
		switch line = strings.TrimSpace(line); {
		case strings.Contains(line, "failed to create new OS thread"), strings.Contains(line, "pthread_create failed"):
			return "the user has as many processes and threads as ulimit -u allows"
		case strings.HasPrefix(line, "fatal error: "), strings.HasPrefix(line, "panic: "):
			return line
		}
	}
	return text[strings.LastIndexByte(text, '\n')+1:]
}
