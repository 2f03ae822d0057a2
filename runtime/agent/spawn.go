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

// Spawn passes the lock of a bundle to its agent and returns when every replica has started. Early
// is the agent if it was started before; nil: Spawn starts it. Errors: *backend.StartError.
func Spawn(exe string, b Bundle, lock *filelock.Lock, early *Early) error {
	answer, err := spawn(exe, b, lock, early)
	if err == nil && !answer.OK {
		return &backend.StartError{Code: answer.Code, Err: errors.New(answer.Error)}
	}
	if err != nil {
		return &backend.StartError{Code: spec.ExitNotStarted, Err: err}
	}
	return nil
}

func spawn(exe string, b Bundle, lock *filelock.Lock, early *Early) (a readyAnswer, err error) {
	var r *os.File
	var process *os.Process
	if early != nil {
		r, process, err = early.take(lock.File)
	}
	if early == nil || err != nil {
		r, process, err = b.start(exe, lock)
	}
	if err != nil {
		return a, fmt.Errorf("start agent: %w", err)
	}
	defer r.Close()
	line, err := bufio.NewReader(r).ReadBytes('\n')
	if h, holderErr := readHolder(b.path(lockFile)); err != nil && early != nil && holderErr == nil && h.PID == 0 {
		Reap(process)
		return spawn(exe, b, lock, nil) // it died before it took the app
	}
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

// start starts the agent, whose answer comes from the file.
func (b Bundle) start(exe string, lock *filelock.Lock) (ready *os.File, process *os.Process, err error) {
	ready, w, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	process, err = b.supervisor().Start(exe, lock.File, w)
	if err = errors.Join(err, w.Close()); err != nil {
		return nil, nil, errors.Join(err, ready.Close())
	}
	return ready, process, nil
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
