package compare

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/outputs"
)

func newArtifacts(f *program.Factory) *cli.Command {
	var only string
	var asJSON bool
	return &cli.Command{
		Name:  "artifacts",
		Usage: "list the files that a run wrote",
		UsageText: "[--artifact NAME] HANDLE [--json]\n" +
			"torchx tracker list artifacts -\n" +
			"torchx tracker list artifacts --artifact model.pt echo",
		Description: "List the files and links below the folder $TORCHX_OUTPUT of a run. An artifact has the name of its file below that " +
			"folder. A terminal that is too narrow for all columns shows no METADATA. `torchx output` lists the other entries, too. " + program.HandleHelp,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "artifact", Usage: "only the artifact `NAME`", Destination: &only},
			program.JSONFlag(&asJSON),
		},
		Action: func(c *cli.Context) error {
			handle, err := program.OneArgument(c, "HANDLE")
			if err != nil {
				return err
			}
			return listArtifacts(c.Context, f, handle, only, asJSON)
		},
	}
}

// artifactObject is a file or a link.
type artifactObject struct {
	File       string        `json:"file"`
	Path       string        `json:"path"`
	Bytes      int64         `json:"bytes"`
	ModifiedAt time.Time     `json:"modified_at"`
	Target     ui.NullString `json:"target"`
}

// metadata returns the column METADATA: JSON, as TorchX prints a dictionary.
func (a *artifactObject) metadata() (string, error) {
	values := map[string]any{"bytes": a.Bytes, "modified_at": a.ModifiedAt}
	if a.Target != "" {
		values["target"] = a.Target
	}
	data, err := json.Marshal(values)
	return string(data), err
}

func listArtifacts(
	ctx context.Context, f *program.Factory, handle, only string, asJSON bool,
) error {
	r, ref, err := f.Resolve(ctx, handle)
	if err != nil {
		return err
	}
	out, err := r.Output(ctx, ref)
	if err != nil {
		return err
	}
	if !out.Here {
		return fmt.Errorf("the artifacts of %s are in %s, which only a pod can read: run `%s`",
			ref.Handle(), out.Place, out.Read)
	}
	all, unread := []artifactObject{}, false
	err = outputs.Walk(out.Place, func(e outputs.Entry) error {
		if e.Err != nil {
			unread = true
			f.Explain(fmt.Errorf("list the artifacts in %s: %w", ui.QuoteWord(e.Name), e.Err))
		}
		if kind := e.Mode.Type(); (kind == 0 || kind == fs.ModeSymlink) &&
			(only == "" || only == e.Name) {
			path := filepath.Join(out.Place, filepath.FromSlash(e.Name))
			all = append(all, artifactObject{e.Name, path, e.Size, e.Time.UTC(), ui.NullString(e.Target)})
		}
		return context.Cause(ctx)
	})
	if err != nil {
		return err
	}
	if err := printArtifacts(f, all, asJSON); err != nil {
		return err
	}
	if unread {
		return program.QuietError(program.ExitError)
	}
	return nil
}

func printArtifacts(f *program.Factory, all []artifactObject, asJSON bool) error {
	if asJSON {
		return f.PrintJSON(all)
	}
	tab := &ui.Table{Header: []string{"ARTIFACT", "PATH", "METADATA"}}
	for i := range all {
		metadata, err := all[i].metadata()
		if err != nil {
			return err
		}
		tab.Add(ui.NewCell(quoted(all[i].File), ""), ui.NewCell(quoted(all[i].Path), ""),
			ui.NewCell(metadata, ""))
	}
	return f.PrintTable(tab, func(width int) { tab.Fit(width, "METADATA") })
}

// quoted returns a name as it is, or quoted if it could control a terminal or be mistaken for
// another.
func quoted(name string) string {
	if ui.OneLine(name) != name {
		return strconv.Quote(name)
	}
	return name
}
