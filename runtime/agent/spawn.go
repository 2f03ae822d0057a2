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
	ready, process, err := b.passLock(exe, lock, early)
	if err != nil {
		return &backend.StartError{Code: spec.ExitNotStarted, Err: fmt.Errorf("start agent: %w", err)}
	}
	defer ready.Close()
	Reap(process)
	var answer readyAnswer
	line, err := bufio.NewReader(ready).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &answer)
	} else if h, err := readHolder(b.path(lockFile)); early != nil && err == nil && h.PID == 0 {
		return Spawn(exe, b, lock, nil) // it died before it took the app
	}
	if err != nil {
		log := b.path(logFile)
		return &backend.StartError{Code: spec.ExitNotStarted, Err: fmt.Errorf("agent ended before the app started: %s (see %s)", endCause(log), log)}
	}
	if !answer.OK {
		return &backend.StartError{Code: answer.Code, Err: errors.New(answer.Error)}
	}
	return nil
}

// passLock passes the lock to the agent, which it starts unless early lives. The answer of the
// agent comes from ready.
func (b Bundle) passLock(
	exe string, lock *filelock.Lock, early *Early,
) (ready *os.File, process *os.Process, err error) {
	if early != nil {
		if ready, process, err = early.take(lock.File); err == nil {
			return ready, process, nil
		}
	}
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
