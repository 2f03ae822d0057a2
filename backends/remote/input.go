package remote

import (
	"bytes"
	"crypto/rand"
	"io"
	"sync"

	"torchx/runtime/backend"
)

// drainScript runs a command, and reads the input that it leaves: a node of Kubernetes never ends a
// command whose input is left unread. It prints the token $1 to stderr when the command is about to
// start, and after its end. $2 is the mark of the command.
const drainScript = `torchx_token=$1 torchx_mark=$2; shift 2
printf '\000%s\000' "$torchx_token" >&2
([ -z "$torchx_mark" ] || export ` + MarkVariable + `="$torchx_mark"; exec "$@"); torchx_code=$?
printf '\000%s\000' "$torchx_token" >&2
cat >/dev/null
exit $torchx_code`

// Drain returns a command that runs c with a mark and reads its input to the end, by sh and cat.
// Input is read from c.Stdin once the command starts, and until it ends: also a terminal's. If sh
// cannot start, no input was read.
func Drain(c backend.Command, mark string) backend.Command {
	token := rand.Text()
	input := &drainedInput{from: c.Stdin, started: make(chan struct{}), ended: make(chan struct{}), blocks: make(chan []byte)}
	c.Stderr = &tokenFilter{w: c.Stderr, token: []byte("\x00" + token + "\x00"), found: input.next}
	c.Stdin = input
	c.Args = append([]string{"sh", "-c", drainScript, "sh", token, mark}, c.Args...)
	return c
}

// drainedInput is input between two events: it blocks before the first and ends after the second.
type drainedInput struct {
	from           io.Reader
	started, ended chan struct{}
	events         int
	pump           sync.Once
	blocks         chan []byte // closed at the end of from
	rest           []byte
}

// next notes an event.
func (d *drainedInput) next() {
	switch d.events++; d.events {
	case 1:
		close(d.started)
	case 2:
		close(d.ended)
	}
}

func (d *drainedInput) Read(p []byte) (int, error) {
	<-d.started
	d.pump.Do(func() { go d.readAll() })
	if len(d.rest) == 0 {
		select {
		case block, open := <-d.blocks:
			if !open {
				return 0, io.EOF
			}
			d.rest = block
		case <-d.ended:
			return 0, io.EOF
		}
	}
	n := copy(p, d.rest)
	d.rest = d.rest[n:]
	return n, nil
}

// readAll reads the input; a read of a terminal cannot be interrupted.
func (d *drainedInput) readAll() {
	defer close(d.blocks)
	for {
		block := make([]byte, 32<<10)
		n, err := d.from.Read(block)
		if n > 0 {
			select {
			case d.blocks <- block[:n]:
			case <-d.ended:
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// tokenFilter drops a token from what is written, and calls found for each.
type tokenFilter struct {
	w     io.Writer
	token []byte
	found func()
	held  []byte // may be the start of a token
}

func (f *tokenFilter) Write(p []byte) (int, error) {
	f.held = append(f.held, p...)
	for {
		before, after, ok := bytes.Cut(f.held, f.token)
		if !ok {
			break
		}
		f.found()
		f.held = after
		if _, err := f.w.Write(before); err != nil {
			return 0, err
		}
	}
	n := len(f.held) - f.partial()
	if n == 0 {
		return len(p), nil
	}
	_, err := f.w.Write(f.held[:n])
	f.held = f.held[n:]
	return len(p), err
}

// partial returns how many bytes at the end of what is held are the start of a token.
func (f *tokenFilter) partial() int {
	for n := min(len(f.held), len(f.token)-1); n > 0; n-- {
		if bytes.HasSuffix(f.held, f.token[:n]) {
			return n
		}
	}
	return 0
}
