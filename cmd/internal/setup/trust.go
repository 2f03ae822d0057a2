package setup

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/config"
	"torchx/runtime/consent"
)

// newTrust returns the command `config trust`.
func newTrust(f *program.Factory) *cli.Command {
	var revoke, asJSON bool
	return &cli.Command{
		Name:  "trust",
		Usage: "trust the settings of a folder, or files that can run programs",
		UsageText: "[--revoke] [--json] [FILE ...]\n" +
			"torchx config trust .torchxconfig\n" +
			"torchx config trust kubeconfig.yaml\n" +
			"torchx config trust --revoke .torchxconfig\n" +
			"torchx config trust",
		Description: "Trust the .torchxconfig of a folder: its settings that run programs, grant rights, pass on your environment, write " +
			"outside of the folder, or choose another identity, image, registry or place on a cluster. Other settings, such as " +
			"cpu, tags or a queue, need no trust. Read the file first. trust prints these settings. Trust holds until one of them " +
			"changes, or a script that on_end names. On a terminal, run asks instead. Other files, such as a kubeconfig with a " +
			"credential program, can be trusted by themselves. What you choose yourself, with -cfg, in the environment or in " +
			"~/.torchxconfig, needs no trust. Without FILE, list what you trust.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "revoke", Usage: "no longer trust the files or folders", Destination: &revoke},
			program.JSONFlag(&asJSON),
		},
		Action: func(c *cli.Context) error {
			list, err := f.TrustedList()
			if err != nil {
				return err
			}
			if c.NArg() > 0 && asJSON {
				return program.Usagef("config trust", "--json lists what you trust: leave out FILE")
			}
			if c.NArg() > 0 {
				return trust(f, list, c.Args().Slice(), revoke)
			}
			if revoke {
				return program.Usagef("config trust",
					"missing FILE: name the files or folders to revoke")
			}
			return printTrusted(f, list, asJSON)
		},
	}
}

func trust(f *program.Factory, list consent.List, files []string, revoke bool) error {
	var paths []string
	for _, file := range files {
		path := f.Env.Absolute(file)
		if _, err := os.Stat(path); err == nil && filepath.Base(path) == config.FileName {
			path = filepath.Dir(path)
		}
		paths = append(paths, path)
	}
	if revoke {
		return list.Revoke(paths...)
	}
	all, err := f.Trust(paths...)
	if err != nil {
		return err
	}
	var named []string
	for _, path := range all {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			f.Say("trusted settings of %s:", f.ShortPath(filepath.Join(path, config.FileName)))
			if err := f.SaySettings(path); err != nil {
				return err
			}
		} else if len(all) > len(paths) {
			named = append(named, path)
		}
	}
	if len(named) > 0 {
		f.Say("trusted files and their programs: %s", strings.Join(named, ", "))
	}
	return nil
}

// trustedFile is an element of `config trust --json`.
type trustedFile struct {
	File      string        `json:"file"`
	SHA256    ui.NullString `json:"sha256"`
	Consent   string        `json:"consent"` // what consentOf returns
	TrustedAt time.Time     `json:"trusted_at"`
}

// consentOf returns "trusted", "changed", "missing" or "revoked".
func consentOf(list consent.List, e consent.Entry) (string, error) {
	if e.Sum == "" {
		return "revoked", nil
	}
	if _, err := os.Stat(e.Path); errors.Is(err, fs.ErrNotExist) {
		return "missing", nil
	}
	err := list.Check(e.Path)
	if errors.Is(err, consent.ErrChanged) {
		return "changed", nil
	}
	return "trusted", err
}

func printTrusted(f *program.Factory, list consent.List, asJSON bool) error {
	entries, err := list.Entries()
	if err != nil {
		return err
	}
	all := []trustedFile{}
	tab := ui.Table{Header: []string{"FILE", "STATE", "SINCE"}}
	for _, e := range entries {
		state, err := consentOf(list, e)
		if err != nil {
			return err
		}
		all = append(all, trustedFile{e.Path, ui.NullString(e.Sum), state, e.TrustedAt.UTC()})
		tab.Add(ui.NewCell(f.ShortPath(e.Path), ""), ui.NewCell(state, ""),
			ui.NewCell(e.TrustedAt.Local().Format(time.DateTime), ui.AnsiDim))
	}
	if asJSON {
		return f.PrintJSON(all)
	}
	if len(all) == 0 {
		f.Say("no files are trusted")
		return nil
	}
	return tab.Write(f.Out, f.OutStyle)
}
