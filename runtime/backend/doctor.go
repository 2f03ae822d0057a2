package backend

import (
	"context"
	"fmt"
	"time"
)

// Level is how a check came out.
type Level string

// The levels: with a warning apps run, but something is slow, missing or about
// to break; with a failure they do not.
const (
	LevelOK      Level = "ok"
	LevelWarning Level = "warning"
	LevelFailure Level = "failure"
)

// Check is one thing that `torchx doctor` looked at.
type Check struct {
	Name  string `json:"name"` // a word or two
	Level Level  `json:"level"`
	Text  string `json:"text"`          // what was found, one line
	Fix   string `json:"fix,omitempty"` // what to do about it, one line; "" if ok
}

// Doctor is a Backend that can tell more about its condition than a Prober: one
// check for each thing that apps need. It changes nothing and contacts no more
// than it must. RunExams helps to do it in time.
type Doctor interface {
	Doctor(ctx context.Context) []Check
}

// Fine is a check that found nothing wrong.
func Fine(name, format string, args ...any) Check {
	return Check{Name: name, Level: LevelOK, Text: fmt.Sprintf(format, args...)}
}

// Warned is a check that found something that apps can live with.
func Warned(name, fix, format string, args ...any) Check {
	return Check{Name: name, Level: LevelWarning, Text: fmt.Sprintf(format, args...), Fix: fix}
}

// Failed is a check that found why apps cannot run.
func Failed(name, fix, format string, args ...any) Check {
	return Check{Name: name, Level: LevelFailure, Text: fmt.Sprintf(format, args...), Fix: fix}
}

// Exam makes one check.
type Exam struct {
	Name string // of the check
	Run  func(ctx context.Context) Check
	// Minor: apps run without what is looked at, so no answer is but a warning.
	Minor bool
}

// late is the check of an exam that gave no answer.
func (e Exam) late(limit time.Duration) Check {
	c := Failed(e.Name, "see what hangs: a network file system, a driver or a server", "no answer within %v", limit)
	if e.Minor {
		c.Level = LevelWarning
	}
	return c
}

// RunExams runs exams side by side and returns their checks in order. One that
// gives no answer in time, even if it does not heed its context (a dead network
// file system blocks for ever), is left behind as a failure.
func RunExams(ctx context.Context, limit time.Duration, exams []Exam) []Check {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	results := make([]chan Check, len(exams))
	for i, e := range exams {
		results[i] = make(chan Check, 1)
		go func() { results[i] <- e.Run(ctx) }()
	}
	// Who heeds the context has something better to say than that it is late.
	late := time.NewTimer(limit + lateness)
	defer late.Stop()
	checks := make([]Check, len(exams))
	over := false
	for i, e := range exams {
		if !over {
			select {
			case checks[i] = <-results[i]:
				continue
			case <-late.C:
				over = true
			}
		}
		select {
		case checks[i] = <-results[i]:
		default:
			checks[i] = e.late(limit)
		}
	}
	return checks
}

// lateness is what an exam may take beyond its time to say why.
const lateness = 500 * time.Millisecond

// Examine returns what a backend says about its condition: a Doctor's checks, a
// Prober's one, or none.
func Examine(ctx context.Context, b Backend) []Check {
	switch b := b.(type) {
	case Doctor:
		return b.Doctor(ctx)
	case Prober:
		if err := b.Probe(ctx); err != nil {
			return []Check{Failed("reachable", "", "%v", err)}
		}
		return []Check{Fine("reachable", "it answers")}
	}
	return nil
}
