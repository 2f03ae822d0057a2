package backend

import (
	"fmt"
	"strings"

	"torchx/runtime/history"
	"torchx/runtime/spec"
)

// After is an app that must end before another one starts. Its text form is "HANDLE:ok" or
// "HANDLE:any".
type After struct {
	App history.AppKey
	Any bool // however it ends; else it must succeed
}

// Suffixes of the text form.
const (
	afterOK  = ":ok"
	afterAny = ":any"
)

// CutAfter splits HANDLE[:ok|any], where HANDLE is anything that names an app.
func CutAfter(text string) (handle string, anyEnd bool) {
	if handle, anyEnd = strings.CutSuffix(text, afterAny); anyEnd {
		return handle, true
	}
	return strings.TrimSuffix(text, afterOK), false
}

func (a After) String() string {
	if a.Any {
		return a.App.Handle() + afterAny
	}
	return a.App.Handle() + afterOK
}

// MarshalText implements encoding.TextMarshaler.
func (a After) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler. It accepts canonical handles only.
func (a *After) UnmarshalText(text []byte) error {
	handle, anyEnd := CutAfter(string(text))
	h, err := spec.ParseHandle(handle)
	if err != nil {
		return err
	}
	*a = After{history.AppKey{Backend: h.Backend, ID: h.AppID}, anyEnd}
	return nil
}

// Event names what the app waits for: "local://torchx/prepare-x to succeed".
func (a After) Event() string {
	if a.Any {
		return a.App.Handle() + " to end"
	}
	return a.App.Handle() + " to succeed"
}

// WaitReason is the message of an app that waits for others, at least one.
func WaitReason(list []After) string {
	text := spec.AfterMark + list[0].Event()
	if more := len(list) - 1; more > 0 {
		text += fmt.Sprintf(" (and %d more)", more)
	}
	return text
}

// UnmetError means that an app does not start because another one did not end as required.
type UnmetError struct {
	After After
	How   string // "ended FAILED"
}

func (e *UnmetError) Error() string {
	return fmt.Sprintf("not started: %s %s, and must succeed", e.After.App.Handle(), e.How)
}
