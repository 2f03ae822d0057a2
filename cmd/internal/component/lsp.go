package component

import (
	"errors"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/tty"
	"torchx/components"
	"torchx/starlark/lsp"
)

// sourcesFolder is the folder in TORCHX_HOME for files that editors open but that are not on
// disk, such as built-in components.
const sourcesFolder = "sources"

// NewLSP returns the command `lsp`.
func NewLSP(f *program.Factory) *cli.Command {
	return &cli.Command{
		Name:  "lsp",
		Usage: "run the language server",
		UsageText: "[--stdio]\n" +
			"torchx lsp --stdio",
		Description: "Speak the Language Server Protocol on stdin and stdout: diagnostics, completion, hover, signatures, definitions, " +
			"formatting and quick fixes for component files. Your editor starts it: see `torchx help editors`. No file is " +
			"evaluated, and stdout carries only the protocol.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "stdio", Usage: "accepted because editors pass it; stdin and stdout are always used"},
			&cli.StringFlag{Name: "clientProcessId", Usage: "accepted; the client says `PID` in the protocol, too", Hidden: true},
		},
		Action: func(c *cli.Context) error {
			if err := program.NoArguments(c); err != nil {
				return err
			}
			return serveEditor(f, c)
		},
	}
}

func serveEditor(f *program.Factory, c *cli.Context) error {
	libraries := f.OpenLibraries()
	config := lsp.Config{
		Dir: f.Env.Dir, Builtins: components.FS, Version: program.Version, Alive: processAlive,
		Library: libraries.Open, Libraries: libraries.Names, Folder: libraries.Folder, Resources: f.ResourceNamesOf,
		Log: func(line string) { f.Line("lsp: ", line) },
	}
	if home, err := f.Env.Home(); err == nil {
		config.Extracted = filepath.Join(home, sourcesFolder)
	}
	if tty.IsTerminalInput(f.In) {
		f.Say("waiting for an editor on stdin and stdout (see `torchx help editors`); Ctrl-D ends it")
	}
	err := lsp.Serve(c.Context, f.In, f.Out, config)
	if errors.Is(err, lsp.ErrNoShutdown) {
		return program.QuietError(program.ExitError) // the editor disconnected
	}
	return err
}
