package logview

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"torchx/runtime/backend"
)

const (
	// Tail is the number of lines at the end of an output of which LastLines selects some.
	Tail = 400
	// maxLast is the number of lines that LastLines returns.
	maxLast = 20
	// maxAfter is the number of lines at the end of an output that LastLines returns after an
	// error that precedes them.
	maxAfter = 4
)

// LastLines returns the lines that explain how an output ended: at most 20, as a terminal shows
// them, without colors. They are the last ones, or if an error precedes these, the lines up to the
// error and the last four. The log should be opened with Tail. Errors: those of the log.
func LastLines(ctx context.Context, log backend.LogReader) ([]string, error) {
	d := display{cursors: map[backend.Stream]*cursor{}}
	for {
		b, err := log.Next(ctx)
		if errors.Is(err, io.EOF) {
			return selectLast(d.text()), nil
		}
		if err != nil {
			return nil, err
		}
		d.write(b.Stream, b.Data)
	}
}

func selectLast(lines []string) []string {
	if len(lines) <= maxLast {
		return lines
	}
	start, at := lastError(lines)
	if at < 0 || at >= len(lines)-maxLast {
		return lines[len(lines)-maxLast:]
	}
	end := min(at+1, len(lines)-maxAfter)
	start = max(start, end-(maxLast-maxAfter-1))
	left := fmt.Sprintf("[%d lines are left out]", len(lines)-maxAfter-end)
	return slices.Concat(lines[start:end], []string{left}, lines[len(lines)-maxAfter:])
}

// launcherError is the error of torchrun, which follows that of the program.
const launcherError = "ChildFailedError"

// lastError returns the first and the last line of the last traceback, or else of the last line
// with an error and those before it; -1 if there is none.
func lastError(lines []string) (start, at int) {
	at = -1
	for i, line := range lines {
		if !strings.Contains(line, "Traceback (most recent call last)") {
			continue
		}
		end := endOfTraceback(lines, i)
		if at < 0 || !strings.Contains(lines[end], launcherError) {
			start, at = i, end
		}
	}
	for i := len(lines) - 1; i >= 0 && at < 0; i-- {
		if isError(unprefixed(lines[i])) {
			at = i
		}
	}
	return start, at
}

// endOfTraceback returns the line with the exception of a traceback of Python.
func endOfTraceback(lines []string, start int) int {
	for i := start + 1; i < len(lines); i++ {
		if line := unprefixed(lines[i]); line != "" && !strings.HasPrefix(line, " ") {
			return i
		}
	}
	return len(lines) - 1
}

// unprefixed returns a line without the rank that torchrun writes before it: "[rank0]: ".
func unprefixed(line string) string {
	if rank, rest, ok := strings.Cut(line, "]: "); ok && strings.HasPrefix(rank, "[") {
		return rest
	}
	return line
}

// errorStarts begin lines of errors; errorWords are in such lines.
var (
	errorStarts = []string{"panic:", "fatal", "error", "Error", "ERROR", "FATAL", "CRITICAL", "Exception in thread", "Segmentation fault", "Killed"}
	errorWords  = []string{"Error:", "Exception:", " error:", " ERROR ", " FATAL ", " CRITICAL ", "panicked at", "out of memory", "command not found"}
)

func isError(line string) bool {
	return slices.ContainsFunc(errorStarts, func(s string) bool { return strings.HasPrefix(line, s) }) ||
		slices.ContainsFunc(errorWords, func(s string) bool { return strings.Contains(line, s) })
}
