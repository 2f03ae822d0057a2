package replica

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/grammar"
	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/backend"
	"torchx/runtime/runner"
)

// NewCopy returns the command `cp`.
func NewCopy(f *program.Factory) *cli.Command {
	return &cli.Command{
		Name:  "cp",
		Usage: "copy files of a replica",
		UsageText: "SOURCE TARGET\n" +
			"torchx cp -:results copy\n" +
			"torchx cp config.yaml sh/sh/0:config.yaml\n" +
			"torchx cp -:results - > results.tar",
		Description: "Copy a file or a folder from a running replica, HANDLE[/ROLE[/ID]]:PATH, to a local path, or the other way. A relative " +
			"PATH begins in the replica's folder. As with `docker cp`, a folder is copied into a target that exists, SOURCE/. copies its " +
			"contents, files of the same name are replaced, and - is a tar archive on stdin or stdout. Nothing is written outside of the " +
			"target. " + oneReplica + program.HandleHelp,
		Action: func(c *cli.Context) error {
			if err := program.AtMost(c, 2); err != nil {
				return err
			}
			if c.NArg() < 2 {
				return program.Usagef("cp", "missing %s",
					[]string{"SOURCE and TARGET", "TARGET"}[c.NArg()])
			}
			return cp(c.Context, f, c.Args().Get(0), c.Args().Get(1))
		},
	}
}

func cp(ctx context.Context, f *program.Factory, source, target string) error {
	from, to := parsePath(source), parsePath(target)
	switch {
	case from.replica == "" && to.replica == "":
		return &grammar.UsageError{Command: "cp", HasRemedy: true, Text: fmt.Sprintf("neither %s nor %s names a replica: write HANDLE:PATH, such as -:results", ui.QuoteWord(source), ui.QuoteWord(target))}
	case from.replica != "" && to.replica != "":
		return &grammar.UsageError{Command: "cp", HasRemedy: true, Text: fmt.Sprintf("both are in replicas: copy to a local path first, `torchx cp %s .`", source)}
	}
	r, err := f.Runner(ctx)
	if err != nil {
		return err
	}
	in, err := runner.FindInside(ctx, r, from.replica+to.replica, "cp", func(c backend.Capabilities) backend.FileCopier { return c.Files })
	if err != nil {
		return err
	}
	t := transfer{f, in}
	switch {
	case from.replica == "":
		err = t.upload(ctx, source, to.path)
	case target == "-":
		err = t.download(ctx, from.path)
	default:
		err = t.fetch(ctx, from.path, target)
	}
	var quiet program.QuietError
	if err == nil || errors.As(err, &quiet) || ctx.Err() != nil {
		return errors.Join(context.Cause(ctx), err)
	}
	return fmt.Errorf("copy %s to %s failed: %w", source, target, err)
}

// location is an argument of cp.
type location struct {
	replica string // "": path is a local one
	path    string
}

// parsePath splits HANDLE[/ROLE[/ID]]:PATH. IDs of apps may contain colons, too: the path begins
// after the ID of a replica, else at the first ":/", else after the last colon.
func parsePath(text string) location {
	if text == "-" || text == "" || text[0] == '/' || text[0] == '.' {
		return location{path: text}
	}
	at := -1
	for i := range len(text) {
		if text[i] == ':' && endsInID(text[:i]) {
			at = i
			break
		}
	}
	for i := 0; at < 0 && i+1 < len(text); i++ {
		if text[i] == ':' && text[i+1] == '/' && !strings.HasPrefix(text[i:], "://") {
			at = i
		}
	}
	if at < 0 {
		at = strings.LastIndexByte(text, ':')
	}
	if at < 0 || strings.HasPrefix(text[at:], "://") {
		return location{path: text}
	}
	return location{text[:at], text[at+1:]}
}

// endsInID reports whether text ends with /ID.
func endsInID(text string) bool {
	slash := strings.LastIndexByte(text, '/')
	id := text[slash+1:]
	return slash > 0 && text[slash-1] != '/' && id != "" && strings.Trim(id, "0123456789") == "" &&
		strings.Contains(text[:slash], "/")
}

// transfer is one call of cp.
type transfer struct {
	*program.Factory
	in runner.Inside[backend.FileCopier]
}

// read runs the replica's part of a download beside use.
func (t transfer) read(ctx context.Context, from string, use func(archive io.Reader) error) error {
	archive, w := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := t.in.Backend.ReadFiles(ctx, t.in.Ref.ID, t.in.Replica, from, w)
		_ = w.CloseWithError(err) // never fails
		ended <- err
	}()
	err := use(archive)
	if err == nil { // what follows the end of the archive
		_, err = io.Copy(io.Discard, archive)
	}
	_ = archive.CloseWithError(errStopped) // never fails
	if readErr := <-ended; readErr != nil && !errors.Is(readErr, errStopped) {
		return readErr // it is the cause of err
	}
	return err
}

var errStopped = errors.New("stopped")

// download prints an archive.
func (t transfer) download(ctx context.Context, from string) error {
	if ui.IsTerminal(t.Out) {
		return program.Usagef("cp", "stdout is a terminal: a tar archive is not shown, redirect it to a file")
	}
	return t.read(ctx, from, func(archive io.Reader) error {
		_, err := io.Copy(t.Out, archive)
		return err
	})
}

// base returns the name of a file in an archive, "" if the archive has the contents of a folder.
func base(name string) string {
	switch b := path.Base(path.Clean(name)); b {
	case ".", "..", "/":
		return ""
	default:
		return b
	}
}

// isContents reports whether a source selects the contents of a folder.
func isContents(source string) bool {
	return base(source) == "" || strings.HasSuffix(source, "/.")
}
