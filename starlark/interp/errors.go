package interp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"torchx/runtime/humanize"
	"torchx/starlark/explain"
)

// Error is any failure of a load or a call.
type Error struct {
	File string // as shown to the user; "" if the error is not about a file
	Line int    // 1-based; 0 if unknown
	Col  int    // 1-based, in characters; 0 if unknown
	Msg  string // may have several lines

	frames  []frame // innermost first
	further []frame // other problems of the same file; Name is the message
	cause   error
}

// A frame is a position in a file and the function around it.
type frame struct {
	Name    string
	Pos     syntax.Position
	excerpt excerpt
}

// Error returns one line: "file:line:col: message".
func (e *Error) Error() string {
	msg := oneLine(e.Msg)
	if n := len(e.further); n > 0 {
		msg = fmt.Sprintf("%s (and %d more)", msg, n)
	}
	if at := e.position(); at != "" {
		return oneLine(at) + ": " + msg
	}
	return msg
}

func (e *Error) position() string {
	switch {
	case e.File == "" || e.Line == 0:
		return e.File
	case e.Col == 0:
		return fmt.Sprintf("%s:%d", e.File, e.Line)
	}
	return fmt.Sprintf("%s:%d:%d", e.File, e.Line, e.Col)
}

// Unwrap returns the cause, such as a *LimitError, a context error or fs.ErrNotExist.
func (e *Error) Unwrap() error { return e.cause }

// LimitError says which limit an evaluation exceeded, in one line.
type LimitError struct {
	Limit string // "steps", "time", "memory" or "size"
	Msg   string
	At    string // "file:line:col", or the file; "" if unknown
}

func (e *LimitError) Error() string {
	if e.At == "" {
		return oneLine(e.Msg)
	}
	return oneLine(e.At + ": " + e.Msg)
}

// stopped returns the error of a run that exceeded a limit.
func stopped(limit, reason, hint string) *LimitError {
	return &LimitError{Limit: limit, Msg: "the evaluation " + reason + " and was stopped; " + hint}
}

const endlessLoop = "is there a loop that does not end?"

func (r *run) tooMuchMemory() *LimitError {
	reason := "needs more than " + humanize.RoundBytes(r.interp.cfg.MaxHeap) + " of memory"
	return stopped("memory", reason, "does a value grow without end?")
}

// report returns the *Error of a failed run.
func (r *run) report(err error) error {
	e := r.interp.Explain(err)
	var limit *LimitError
	if !errors.As(err, &limit) && IsStopped(err) {
		limit = r.limit.Load()
	}
	switch {
	case limit != nil:
		e.setLimit(limit)
	case r.ctx.Err() != nil && (IsStopped(err) || errors.Is(err, r.ctx.Err())):
		e.Msg, e.cause = "the evaluation was interrupted", context.Cause(r.ctx)
		if e.File == "" {
			e.File = r.subject
		}
	}
	return e
}

// setLimit makes limit the cause of e and gives it the position of e.
func (e *Error) setLimit(limit *LimitError) {
	l := *limit
	e.Msg = l.Msg
	if e.File == "" && l.At != "" {
		e.File = l.At
	}
	l.At = e.position()
	e.cause = &l
}

// Explain returns an *Error with the innermost position of err, an error of a call on a thread of
// i.
func (i *Interp) Explain(err error) *Error {
	inner := innermost(err)
	if known, ok := errors.AsType[*Error](err); ok {
		e := *known
		if inner != nil { // err occurred before any code of its file ran
			e.frames = append(e.frames[:len(e.frames):len(e.frames)], i.frames(inner.CallStack)...)
		}
		return &e
	}
	e := &Error{Msg: err.Error(), cause: err}
	if inner == nil {
		return e
	}
	e.Msg = withBuiltinName(inner)
	e.frames = i.frames(inner.CallStack)
	if len(e.frames) > 0 {
		e.at(e.frames[0].Pos)
	}
	if e.isLoad() {
		e.Msg += loadedBy(e.frames[1:])
		e.frames = nil
	}
	return e
}

// isLoad reports whether a load statement itself failed. The message has its line, so a backtrace
// would add nothing.
func (e *Error) isLoad() bool {
	if len(e.frames) == 0 || !strings.HasPrefix(e.frames[0].excerpt.from(), "load") {
		return false
	}
	return !slices.ContainsFunc(e.frames, func(f frame) bool { return f.Name != topLevel })
}

// loadedBy lists the chain of files that loaded the file of a message, nearest first.
func loadedBy(frames []frame) string {
	var positions []string
	for n, f := range frames {
		if n == maxFrames {
			positions = append(positions, fmt.Sprintf("… %d more", len(frames)-n))
			break
		}
		positions = append(positions, f.Pos.String())
	}
	if len(positions) == 0 {
		return ""
	}
	return " (loaded by " + strings.Join(positions, ", ") + ")"
}

func (e *Error) at(pos syntax.Position) {
	e.File, e.Line, e.Col = pos.Filename(), int(pos.Line), int(pos.Col)
}

// innermost returns the deepest evaluation error: load() wraps the error of the loaded file.
func innermost(err error) *starlark.EvalError {
	var inner *starlark.EvalError
	for {
		var next *starlark.EvalError
		if !errors.As(err, &next) {
			return inner
		}
		inner, err = next, next.Unwrap()
	}
}

// withBuiltinName returns the message of err, prefixed with the name of the failed built-in
// function unless the message contains the name.
func withBuiltinName(err *starlark.EvalError) string {
	if len(err.CallStack) == 0 || IsStopped(err) {
		return err.Msg
	}
	top := err.CallStack.At(0)
	if top.Pos.Filename() != builtinFile || isInternal(top.Name) {
		return err.Msg
	}
	name := top.Name[strings.LastIndexByte(top.Name, '.')+1:]
	if strings.Contains(err.Msg, name) {
		return err.Msg
	}
	return name + ": " + err.Msg
}

// builtinFile is the engine's file name for functions written in Go.
const builtinFile = "<builtin>"

// framesOf returns the frames of stack that are in Starlark files, innermost first.
func framesOf(stack starlark.CallStack) []frame {
	var list []frame
	for n := len(stack) - 1; n >= 0; n-- {
		if fr := stack[n]; fr.Pos.Filename() != builtinFile {
			list = append(list, frame{Name: fr.Name, Pos: fr.Pos})
		}
	}
	return list
}

// frames returns framesOf a stack. Only the frames that Detail can show get an excerpt, since
// finding a line takes time proportional to its number.
func (i *Interp) frames(stack starlark.CallStack) []frame {
	list := framesOf(stack)
	for n := range list[:min(len(list), maxFrames)] {
		list[n].excerpt = i.excerptAt(list[n].Pos)
	}
	return list
}

// maxProblems bounds the problems of one file in Detail.
const maxProblems = 5

// sourceProblem returns the *Error of a file that cannot be compiled.
func (i *Interp) sourceProblem(err error) error {
	var syn syntax.Error
	var res resolve.ErrorList
	var limit *positionError
	switch {
	case errors.As(err, &syn):
		return i.problem(syn.Pos, syn.Msg, err)
	case errors.As(err, &res):
		e := i.problem(res[0].Pos, explain.Name(res[0].Msg), err)
		for _, more := range res[1:min(len(res), maxProblems)] {
			e.further = append(e.further, frame{explain.Name(more.Msg), more.Pos, i.excerptAt(more.Pos)})
		}
		return e
	case errors.As(err, &limit):
		return i.problem(limit.pos, limit.err.Msg, limit.err)
	}
	return err
}

func (i *Interp) problem(pos syntax.Position, msg string, cause error) *Error {
	e := &Error{Msg: msg, cause: cause, frames: []frame{{"", pos, i.excerptAt(pos)}}}
	e.at(pos)
	return e
}

// maxLine bounds a message: fail() accepts megabytes.
const maxLine = 4096 // bytes

// oneLine makes text safe to print as one line on a terminal.
func oneLine(text string) string {
	if len(text) > maxLine {
		text = strings.ToValidUTF8(text[:maxLine], "") + "…"
	}
	if strings.IndexFunc(text, unicode.IsControl) < 0 {
		return text
	}
	return strings.TrimRight(strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case unicode.IsControl(r):
			return unicode.ReplacementChar
		}
		return r
	}, text), " ")
}

// IsStopped reports whether err means that the evaluation was stopped, so that the caller must
// return too.
func IsStopped(err error) bool {
	return err != nil && strings.Contains(err.Error(), "Starlark computation cancelled: ")
}
