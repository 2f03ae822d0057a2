package program

import (
	"runtime"
	"runtime/debug"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/ui"
)

// Version is the version of torchx: of the last release in a build from a checkout. The linker sets
// it and the commit in a release (cmd/torchx/release), which is built without git.
var Version = "0.1.0"

var commit, date string

type versionInfo struct {
	Version  string        `json:"version"`
	Commit   ui.NullString `json:"commit"`
	Revision ui.NullString `json:"revision"` // Commit, by its earlier name
	Date     ui.NullString `json:"date"`     // of the commit, RFC 3339
	Modified bool          `json:"modified"` // built from a checkout with changes
	Go       string        `json:"go"`
	OS       string        `json:"os"`
	Arch     string        `json:"arch"`
	Modules  []module      `json:"modules"`
}

type module struct {
	Path    string `json:"path"`
	Version string `json:"version"`
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
		Description: "Print the version of torchx, the commit that it was built from, and its platform. With --json also print the date of the commit and the Go modules that torchx contains.",
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

func readVersion() (v versionInfo) {
	v = versionInfo{
		Version: Version, Commit: ui.NullString(commit), Date: ui.NullString(date),
		Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH, Modules: []module{},
	}
	defer func() { v.Revision = v.Commit }()
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	for _, m := range info.Deps {
		v.Modules = append(v.Modules, module{m.Path, m.Version})
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Commit = ui.NullString(s.Value)
		case "vcs.time":
			v.Date = ui.NullString(s.Value)
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
	if v.Commit != "" {
		text += " " + string(v.Commit[:min(12, len(v.Commit))])
		if v.Modified {
			text += "+changes"
		}
	}
	return text
}
