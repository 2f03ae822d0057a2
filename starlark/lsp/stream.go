package lsp

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sourcegraph/jsonrpc2"
)

// Limits of a message in bytes. A file has at most 1 MiB, which may take 6 MiB in JSON; a larger
// one is diagnosed as too large up to the limit of a message, since decoding that takes a second.
const (
	maxHeader  = 4096 // of a line
	maxMessage = 16 << 20
)

// stream reads messages. An invalid message is answered with an error and skipped; the connection
// ends if the next message cannot be found.
type stream struct {
	jsonrpc2.ObjectStream // for writing
	in                    *bufio.Reader
	log                   func(format string, args ...any)
}

func newStream(in io.Reader, out io.Writer, log func(format string, args ...any)) stream {
	return stream{
		jsonrpc2.NewBufferedStream(pipes{strings.NewReader(""), out}, jsonrpc2.VSCodeObjectCodec{}),
		bufio.NewReaderSize(in, maxHeader), log,
	}
}

// ReadObject returns io.EOF for every error, because the connection does not log it.
func (s stream) ReadObject(v any) error {
	for {
		body, err := s.next()
		var bad *jsonrpc2.Error
		switch {
		case err == nil:
			if err = read(body, v); err == nil {
				s.endAt(body)
				return nil
			}
			errors.As(err, &bad)
		case !errors.As(err, &bad):
			if !errors.Is(err, io.EOF) {
				s.refuse(&jsonrpc2.Error{Code: jsonrpc2.CodeParseError, Message: err.Error() + ": closing the connection"})
			}
			return io.EOF
		}
		s.refuse(bad)
	}
}

// endAt drops all input after the message by which a client ends the connection.
func (s stream) endAt(body []byte) {
	const longest = 200 // bytes of an exit message
	var m struct{ Method string }
	if len(body) < longest && json.Unmarshal(body, &m) == nil && m.Method == "exit" {
		s.in.Reset(strings.NewReader(""))
	}
}

// refuse answers a message whose ID is unknown.
func (s stream) refuse(why *jsonrpc2.Error) {
	s.log("%s", why.Message)
	answer := map[string]any{"jsonrpc": "2.0", "id": nil, "error": why}
	if err := s.WriteObject(answer); err != nil {
		s.log("cannot answer: %v", err)
	}
}

// next returns the next message. The error is io.EOF, a *jsonrpc2.Error for a skipped message, or
// another error if the next message cannot be found.
func (s stream) next() ([]byte, error) {
	size, err := s.header()
	if err != nil {
		return nil, err
	}
	if size > maxMessage {
		if _, err := io.CopyN(io.Discard, s.in, size); err != nil {
			return nil, errors.New("the input ends inside a message")
		}
		return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidRequest, Message: fmt.Sprintf("the message has %d bytes, over the limit of %d", size, maxMessage)}
	}
	body := make([]byte, size)
	if _, err := io.ReadFull(s.in, body); err != nil {
		return nil, errors.New("the input ends inside a message")
	}
	return body, nil
}

// header reads the header of a message and returns the message's size.
func (s stream) header() (size int64, err error) {
	size = -1
	for first := true; ; first = false {
		line, err := s.in.ReadSlice('\n')
		switch {
		case errors.Is(err, io.EOF) && first && len(line) == 0:
			return 0, io.EOF
		case err != nil:
			return 0, errors.New("the input ends inside the header of a message, or a header line is too long")
		}
		name, value, _ := strings.Cut(strings.TrimSpace(string(line)), ":")
		switch {
		case name == "" && size < 0:
			return 0, errors.New("the header of a message has no Content-Length")
		case name == "":
			return size, nil
		case strings.EqualFold(name, "Content-Length"):
			if size, err = strconv.ParseInt(strings.TrimSpace(value), 10, 64); err != nil || size < 0 {
				return 0, fmt.Errorf("Content-Length is %.40q, want a number of bytes", value)
			}
		}
	}
}

// read decodes a message. The error is a *jsonrpc2.Error.
func read(body []byte, v any) error {
	reflect.ValueOf(v).Elem().SetZero() // clear the fields of a rejected message
	if !utf8.Valid(body) {
		return failure(jsonrpc2.CodeParseError, "the message is not UTF-8")
	}
	err := json.Unmarshal(body, v)
	if syntax := new(json.SyntaxError); errors.As(err, &syntax) {
		return failure(jsonrpc2.CodeParseError,
			"the message is not JSON: %v at byte %d", err, syntax.Offset)
	}
	if err != nil {
		return failure(jsonrpc2.CodeInvalidRequest, "not a message of the protocol: %.200v", err)
	}
	return nil
}

// pipes are the two directions of a connection. Its caller closes them.
type pipes struct {
	io.Reader
	io.Writer
}

// Close does nothing.
func (pipes) Close() error { return nil }
