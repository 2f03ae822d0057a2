package compare

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/outputs"
	"torchx/runtime/runner"
)

func newArtifacts(f *program.Factory) *cli.Command {
	var only string
	var asJSON bool
	return &cli.Command{
		Name:  "artifacts",
		Usage: "list the files that a run wrote or recorded",
		UsageText: "[--artifact NAME] HANDLE [--json]\n" +
			"torchx tracker list artifacts -\n" +
			"torchx tracker list artifacts --artifact model.pt echo",
		Description: "List the files and links below the folder $TORCHX_OUTPUT of a run. An artifact has the name of its file below that " +
			"folder. Then come the artifacts that programs recorded by torchx.tracker, with their own metadata. A terminal that is too " +
			"narrow for all columns shows no METADATA. `torchx output` lists the other entries, too. " + program.HandleHelp,
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

// artifactObject is a file or a link, or what a program recorded.
type artifactObject struct {
	File       string          `json:"file"`
	Path       string          `json:"path"`
	Bytes      *int64          `json:"bytes"`       // nil if recorded
	ModifiedAt *time.Time      `json:"modified_at"` // nil if recorded
	Target     ui.NullString   `json:"target"`
	Metadata   json.RawMessage `json:"metadata"` // nil unless recorded
}

// metadata returns the column METADATA: JSON, as TorchX prints a dictionary.
func (a *artifactObject) metadata() (string, error) {
	if a.Bytes == nil {
		return jsonText(a.Metadata), nil
	}
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
	own, trackErr := readTracked(f, r, ref, handle)
	if trackErr != nil {
		return cmp.Or(err, trackErr)
	}
	all, unread := []artifactObject{}, false
	if err == nil {
		all, unread, err = outputArtifacts(ctx, f, r, ref)
	}
	if err != nil && len(own.artifacts) == 0 {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(own.artifacts)) {
		a := own.artifacts[name]
		all = append(all, artifactObject{File: name, Path: a.Path, Metadata: a.Metadata})
	}
	if only != "" {
		all = slices.DeleteFunc(all, func(a artifactObject) bool { return a.File != only })
	}
	if err := printArtifacts(f, all, asJSON); err != nil {
		return err
	}
	if unread {
		return program.QuietError(program.ExitError)
	}
	return nil
}

// outputArtifacts returns the files and links that an app wrote; unread is set if some could not be
// read.
func outputArtifacts(
	ctx context.Context, f *program.Factory, r *runner.Runner, ref runner.Ref,
) (all []artifactObject, unread bool, err error) {
	out, err := r.Output(ctx, ref)
	if err != nil {
		return nil, false, err
	}
	if !out.Here {
		return nil, false, fmt.Errorf("the artifacts of %s are in %s, which only a pod can read: run `%s`",
			ref.Handle(), out.Place, out.Read)
	}
	all = []artifactObject{}
	err = outputs.Walk(out.Place, func(e outputs.Entry) error {
		if e.Err != nil {
			unread = true
			f.Explain(fmt.Errorf("list the artifacts in %s: %w", ui.QuoteWord(e.Name), e.Err))
		}
		if kind := e.Mode.Type(); kind == 0 || kind == fs.ModeSymlink {
			path := filepath.Join(out.Place, filepath.FromSlash(e.Name))
			all = append(all, artifactObject{e.Name, path, &e.Size, ui.UTC(&e.Time), ui.NullString(e.Target), nil})
		}
		return context.Cause(ctx)
	})
	return all, unread, err
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
