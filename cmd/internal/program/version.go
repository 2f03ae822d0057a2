package program

import (
	"runtime"
	"runtime/debug"

	"github.com/urfave/cli/v2"
)

// Version is the version of torchx; a build from a checkout adds its revision.
const Version = "0.1.0"

type versionInfo struct {
	Version  string  `json:"version"`
	Revision *string `json:"revision"`
	Modified bool    `json:"modified"` // built from a checkout with changes
	Go       string  `json:"go"`
	OS       string  `json:"os"`
	Arch     string  `json:"arch"`
}

// NewVersion returns the command `version`.
func (f *Factory) NewVersion() *cli.Command {
	var asJSON bool
	return &cli.Command{
		Name:  "version",
		Usage: "print the version",
		UsageText: "[--json]\n" +
			"torchx version\n" +
			"torchx version --json",
		Description: "Print the version of torchx, the revision that it was built from, and its platform.",
		Flags:       []cli.Flag{JSONFlag(&asJSON)},
		Action: func(c *cli.Context) error {
			if err := NoArguments(c); err != nil {
				return err
			}
			if asJSON {
				return f.PrintJSON(readVersion())
			}
			return f.Printf("%s\n", versionLine())
		},
	}
}

func readVersion() versionInfo {
	v := versionInfo{Version: Version, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			revision := s.Value
			v.Revision = &revision
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}

// versionLine returns a line that begins like TorchX's: `torchx-<version>`.
func versionLine() string {
	v := readVersion()
	return "torchx-" + v.text() + " (" + v.Go + " " + v.OS + "/" + v.Arch + ")"
}

// VersionText returns the version with its revision: "0.1.0 5b1aeda01234".
func VersionText() string { return readVersion().text() }

func (v versionInfo) text() string {
	text := v.Version
	if v.Revision != nil {
		text += " " + (*v.Revision)[:min(12, len(*v.Revision))]
		if v.Modified {
			text += "+changes"
		}
	}
	return text
}
