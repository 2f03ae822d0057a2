// Package mcp is the command mcp: a server of the Model Context Protocol on stdin and stdout, through
// which agents launch and watch apps. Each tool runs a command line of this program and returns its
// JSON, so that an agent sees what a user sees, secrets are hidden, and folders need the same trust.
//
//	server    reads messages, one JSON object a line, and answers them (JSON-RPC 2.0)
//	tool      a command with its input; tools lists them
//	answer    what a tool returns: text, and JSON by a schema of docs/schema
//	resource  a document by its URI: pages, runs and their logs
package mcp

import (
	"cmp"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/tty"
)

// NewMCP returns the command `mcp`.
func NewMCP(f *program.Factory) *cli.Command {
	var readOnly bool
	var dir string
	return &cli.Command{
		Name:  "mcp",
		Usage: "serve coding assistants (MCP)",
		UsageText: "[--read-only] [--dir DIR]\n" +
			"torchx mcp --read-only",
		Description: "Speak the Model Context Protocol on stdin and stdout: tools to find and explain components, plan, run, sweep, wait, cancel, " +
			"read status, logs and metrics, and compare and diff runs, and resources with runs, logs and this documentation. Your agent starts it: see `torchx help agents`. " +
			"Secrets are hidden, and a folder whose settings are not trusted runs nothing.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "read-only", Usage: "offer no tool that runs or cancels apps", Destination: &readOnly},
			&cli.StringFlag{Name: "dir", Usage: "work in the project `DIR` (default: the current folder)", Destination: &dir},
		},
		Action: func(c *cli.Context) error {
			if err := program.NoArguments(c); err != nil {
				return err
			}
			if tty.IsTerminalInput(f.In) {
				f.Say("waiting for an agent on stdin and stdout (see `torchx help agents`); Ctrl-D ends it")
			}
			s := newServer(f, f.Env.Absolute(cmp.Or(dir, f.Env.Dir)), readOnly)
			return s.serve(c.Context, f.Input(c.Context), f.Out)
		},
	}
}
