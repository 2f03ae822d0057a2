// Package page has the command ui, which serves a page of this machine's runs to a browser.
//
//	page         the command, the server, and where other commands find it
//	page/api     who may: token, key, cookie, host, origin; /api/v1, by calls of commands
//	page/stream  changes of files as server-sent events
//	web          what the browser loads
package page

import (
	"context"
	"errors"
	"time"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/program"
)

// options are the flags of `ui`. Their JSON form is the argument of a server in the background.
type options struct {
	Port       string `json:"port"`
	Listen     string `json:"listen"`
	Cert       string `json:"cert"`
	Key        string `json:"key"`
	ReadOnly   bool   `json:"read_only"`
	Background bool   `json:"background"`

	open, stop bool
	path       string // of the first page
	// patience is how long a server in the background waits for a client before it ends.
	patience time.Duration
}

// idleLimit is how long a server in the background runs without a client.
const idleLimit = 24 * time.Hour

// NewUI returns the command `ui`.
func NewUI(f *program.Factory) *cli.Command {
	o := &options{patience: idleLimit}
	return &cli.Command{
		Name:  "ui",
		Usage: "show runs in a browser",
		UsageText: "[HANDLE] [-d] [--open] [--port N] [--listen ADDRESS|unix:PATH] [--read-only]\n" +
			"torchx ui -d\n" +
			"torchx ui -d --open -\n" +
			"torchx ui --stop",
		Description: "Serve a page that lists runs and shows their states, logs, curves and files while they change, and print its URL. " +
			"The page can cancel, rerun, tag, note and delete runs; --read-only refuses that. With HANDLE the URL is that of a run. Only " +
			"browsers of this machine can reach the page, and only with the token in the URL; `ssh -L PORT:127.0.0.1:PORT MACHINE` " +
			"forwards it. Another --listen address needs --cert and --key. With -d the page is served in the background until --stop, or " +
			"until it had no visitor for a day. One server is enough: later calls print its URL, and `torchx status` shows it. " +
			program.SecretsHelp + " " + program.HandleHelp,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "detach", Aliases: []string{"d"}, Usage: "serve in the background", Destination: &o.Background},
			&cli.BoolFlag{Name: "open", Usage: "open the page in your browser", Destination: &o.open},
			&cli.StringFlag{Name: "port", Usage: "listen on port `N` (default: a free one)", Destination: &o.Port},
			&cli.StringFlag{Name: "listen", Usage: "listen on `ADDRESS`, HOST or HOST:PORT, or on a socket, unix:PATH (default: 127.0.0.1)", Destination: &o.Listen},
			&cli.StringFlag{Name: "cert", Usage: "`FILE` with the TLS certificate", Destination: &o.Cert},
			&cli.StringFlag{Name: "key", Usage: "`FILE` with the key of the certificate", Destination: &o.Key},
			&cli.BoolFlag{Name: "read-only", Usage: "refuse everything that changes a run", Destination: &o.ReadOnly},
			&cli.BoolFlag{Name: "stop", Usage: "end the server of this TORCHX_HOME", Destination: &o.stop},
		},
		Action: func(c *cli.Context) error {
			if err := program.AtMost(c, 1); err != nil {
				return err
			}
			o.Cert, o.Key = absolute(f, o.Cert), absolute(f, o.Key)
			return run(c.Context, f, o, c.Args().First())
		},
	}
}

func absolute(f *program.Factory, path string) string {
	if path == "" {
		return ""
	}
	return f.Env.Absolute(path)
}

func run(ctx context.Context, f *program.Factory, o *options, handle string) error {
	home, err := f.Env.Home()
	if err != nil {
		return err
	}
	if o.stop {
		return stop(ctx, f, home, o, handle)
	}
	if _, err := o.address(f); err != nil {
		return err
	}
	o.path = "/"
	if handle != "" {
		_, ref, err := f.Resolve(ctx, handle)
		if err != nil {
			return err
		}
		o.path = program.RunPath(ref.Backend, ref.ID)
	}
	found := program.FindPage(home)
	switch {
	case found != nil && o.matches(f, found):
		f.Say("torchx ui runs already, as process %d (torchx ui --stop ends it)", found.PID)
		return announce(ctx, f, home, o, found)
	case found != nil && o.Background:
		return errors.New("torchx ui runs already with other options: end it with `torchx ui --stop`")
	case o.Background:
		return start(ctx, f, home, o)
	}
	return serve(ctx, f, home, o)
}

// matches reports whether a server that runs is what the options ask for.
func (o *options) matches(f *program.Factory, i *program.PageServer) bool {
	if o.ReadOnly != i.ReadOnly && o.ReadOnly {
		return false
	}
	if o.Listen == "" && o.Port == "" {
		return true
	}
	a, err := o.address(f)
	return err == nil && a.String() == i.Listen
}

// announce prints the URL and opens it.
func announce(
	ctx context.Context, f *program.Factory, home string, o *options, i *program.PageServer,
) error {
	link := i.Link(o.path)
	if err := f.Printf("%s\n", link); err != nil {
		return err
	}
	if o.open {
		if err := browse(ctx, home, link); err != nil {
			f.Warn("the page was not opened: %v", err)
		}
	}
	return nil
}
