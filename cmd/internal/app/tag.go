package app

import (
	"context"
	"errors"
	"strings"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/history"
	"torchx/runtime/runner"
)

// labelsObject is `tag --json` and `note --json` of one app.
type labelsObject struct {
	Handle string            `json:"handle"`
	AppID  string            `json:"app_id"`
	Tags   map[string]string `json:"tags"`
	Note   ui.NullString     `json:"note"`
}

func newLabelsObject(ref runner.Ref, l history.Labels) labelsObject {
	o := newOriginObject(l, "", "")
	return labelsObject{ref.Handle(), ref.ID, o.Tags, o.Note}
}

// NewTag returns the command `tag`.
func NewTag(f *program.Factory) *cli.Command {
	asJSON := false
	return &cli.Command{
		Name:  "tag",
		Usage: "label apps",
		UsageText: "HANDLE... [KEY=VALUE...] [KEY-...] [--json]\n" +
			"torchx tag - team=vision baseline=\n" +
			"torchx tag - baseline-\n" +
			"torchx tag - --json",
		Description: "Add tags to apps, or replace or remove them: KEY=VALUE sets a tag, KEY= a tag without a value, KEY- removes one. " +
			"Without any of these, print the tags. `torchx run --tag` tags a new app, `torchx list --tag` finds apps by tags. " +
			program.HandleHelp,
		Flags: []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "print the labels as JSON, after the change", Destination: &asJSON}},
		Action: func(c *cli.Context) error {
			if c.NArg() == 0 {
				return program.Missing(c, "HANDLE")
			}
			handles, change, err := parseTagWords(c.Args().Slice())
			if err != nil {
				return program.Usagef("tag", "%v", err)
			}
			all := []labelsObject{}
			err = eachApp(c.Context, f, handles, func(ctx context.Context, handle string) error {
				ref, labels, err := changeLabels(ctx, f, handle, change)
				all = append(all, newLabelsObject(ref, labels))
				if err != nil || asJSON || len(change.Set)+len(change.Remove) > 0 {
					return err
				}
				return printTags(f, labels.Tags)
			})
			if asJSON && err == nil {
				err = f.PrintMaskedJSON(all)
			}
			return err
		},
	}
}

// parseTagWords splits handles from the tags behind them. The first tag has a "=", or a "-"
// at its end.
func parseTagWords(words []string) (handles []string, c history.LabelChange, err error) {
	isTag := func(word string) bool {
		return strings.Contains(word, "=") || len(word) > 1 && strings.HasSuffix(word, "-")
	}
	first := 0
	for first < len(words) && !isTag(words[first]) {
		first++
	}
	if first == 0 {
		return nil, c, errors.New("missing HANDLE")
	}
	c.Set = map[string]string{}
	for _, word := range words[first:] {
		key, removes := strings.CutSuffix(word, "-")
		if removes = removes && !strings.Contains(word, "="); !removes {
			key = word
		}
		key, value, _, err := history.ParseTag(key)
		switch {
		case err != nil:
			return nil, c, err
		case removes:
			c.Remove = append(c.Remove, key)
		default:
			c.Set[key] = value
		}
	}
	return words[:first], c, nil
}

// changeLabels changes the labels of an app, if c is not empty, and returns them.
func changeLabels(ctx context.Context, f *program.Factory, handle string, c history.LabelChange) (ref runner.Ref, l history.Labels, err error) {
	r, ref, err := f.Resolve(ctx, handle)
	if err != nil {
		return ref, l, err
	}
	if len(c.Set)+len(c.Remove) == 0 && c.Note == nil {
		l, err = r.Labels(ctx, ref)
	} else {
		l, err = r.SetLabels(ctx, ref, c)
	}
	return ref, l, err
}

func printTags(f *program.Factory, tags map[string]string) error {
	if len(tags) == 0 {
		return nil
	}
	return f.Printf("%s\n", ui.Clean(history.FormatTags(tags, "\n"), true))
}

// NewNote returns the command `note`.
func NewNote(f *program.Factory) *cli.Command {
	asJSON := false
	return &cli.Command{
		Name:  "note",
		Usage: "describe an app",
		UsageText: "HANDLE [TEXT] [--json]\n" +
			"torchx note - 'baseline with the old tokenizer'\n" +
			"torchx note -",
		Description: "Set the note of an app, which `torchx describe` shows and `torchx list --search` finds. An empty TEXT removes it. " +
			"Without TEXT, print the note. " +
			program.HandleHelp,
		Flags: []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "print the labels as JSON, after the change", Destination: &asJSON}},
		Action: func(c *cli.Context) error {
			words, change := c.Args().Slice(), history.LabelChange{}
			if len(words) == 0 {
				return program.Missing(c, "HANDLE")
			}
			if text := strings.Join(words[1:], " "); len(words) > 1 {
				if err := history.CheckNote(text); err != nil {
					return program.Usagef("note", "%v", err)
				}
				change.Note = &text
			}
			ref, labels, err := changeLabels(c.Context, f, words[0], change)
			switch {
			case err != nil:
				return err
			case asJSON:
				return f.PrintMaskedJSON(newLabelsObject(ref, labels))
			case change.Note != nil || labels.Note == "":
				return nil
			}
			return f.Printf("%s\n", ui.Clean(labels.Note, true))
		},
	}
}
