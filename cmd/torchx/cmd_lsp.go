package main

import (
	"errors"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"torchx/components"
	"torchx/starlark/lsp"
)

// sourcesFolder is the folder in TORCHX_HOME with files that editors are shown of what
// is not on disk.
const sourcesFolder = "sources"

func (t *tool) lspCommand() *cli.Command {
	return &cli.Command{
		Name:      "lsp",
		Usage:     "be the language server of an editor",
		UsageText: "[--stdio]",
		Description: "Speak the Language Server Protocol on stdin and stdout: diagnostics, completion, hover, signatures, " +
			"definitions, formatting and quick fixes for component files. An editor starts it; docs/editors.md says how to tell yours. " +
			"Nothing is evaluated, and nothing else is written to stdout.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "stdio", Usage: "accepted, since editors give it; there is no other way"},
			&cli.StringFlag{Name: "clientProcessId", Usage: "accepted; the client says `PID` in the protocol, too", Hidden: true},
		},
		Action: func(c *cli.Context) error {
			if err := noArguments(c); err != nil {
				return err
			}
			return t.lsp(c)
		},
	}
}

func (t *tool) lsp(c *cli.Context) error {
	libraries := t.openLibraries()
	config := lsp.Config{
		Dir: t.env.dir, Builtins: components.FS, Version: version, Alive: processAlive,
		Library: libraries.Open, Libraries: libraries.Names, Folder: libraries.Folder, Resources: t.resourceNamesOf,
		Log: func(line string) { t.line("lsp: ", line) },
	}
	if home, err := t.env.home(); err == nil {
		config.Extracted = filepath.Join(home, sourcesFolder)
	}
	if isTerminalInput(t.in) {
		t.say("an editor speaks with this on stdin and stdout, see docs/editors.md; Ctrl-D ends it")
	}
	err := lsp.Serve(c.Context, t.in, t.out, config)
	if errors.Is(err, lsp.ErrNoShutdown) {
		return quietError{exitError} // there is nobody to read why
	}
	return err
}
