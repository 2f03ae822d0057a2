package startest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"
)

// Job is the input of a worker.
type Job struct {
	Options Options `json:"options"`
	Tasks   []Task  `json:"tasks"`
}

// exitStuck is the exit code of a worker whose test cannot be stopped.
const exitStuck = 3

// flushEvery is how long a message may wait to be sent with others, to save writes at 10,000 tests a second.
const flushEvery = 20 * time.Millisecond

// Work runs a worker process: it reads a Job as JSON, runs it and writes Messages, one per line. exit
// ends the process if a test cannot be stopped. Errors are those of reading and writing.
func Work(ctx context.Context, h Host, in io.Reader, out io.Writer, exit func(code int)) error {
	var job Job
	if err := json.NewDecoder(in).Decode(&job); err != nil {
		return fmt.Errorf("read the job of a test worker: %w", err)
	}
	w := &messageWriter{out: bufio.NewWriterSize(out, 1<<16), eager: job.Options.Careful}
	w.encoder = json.NewEncoder(w.out)
	w.encoder.SetEscapeHTML(false)
	r, err := NewRunner(h, job.Options, w.write)
	if err != nil {
		return err
	}
	r.stuck = func() {
		w.flush()
		exit(exitStuck)
	}
	done := make(chan struct{})
	go w.flushAll(done)
	r.Run(ctx, job.Tasks)
	close(done)
	return w.flush()
}

// messageWriter writes messages in batches.
type messageWriter struct {
	mu      sync.Mutex
	out     *bufio.Writer
	encoder *json.Encoder
	eager   bool
	err     error
}

func (w *messageWriter) write(m Message) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.encoder.Encode(m); err != nil && w.err == nil {
		w.err = err
	}
	if w.eager && w.err == nil {
		w.err = w.out.Flush()
	}
}

func (w *messageWriter) flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = w.out.Flush()
	}
	return w.err
}

func (w *messageWriter) flushAll(done <-chan struct{}) {
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
			if w.flush() != nil {
				return // the reader has exited; Work returns the error
			}
		}
	}
}
