package app

import (
	"cmp"
	"context"
	"slices"
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
	s, quiet, asJSON := &selection{}, false, false
	return &cli.Command{
		Name:  "tag",
		Usage: "label apps",
		UsageText: "HANDLE... [KEY=VALUE...] [KEY-...] [--json]\n" +
			"torchx tag - team=vision baseline=\n" +
			"torchx tag - baseline-\n" +
			"torchx tag - --json\n" +
			"torchx tag --component 'dist.*' --since 2d --yes checked=",
		Description: "Add tags to apps, or replace or remove them: KEY=VALUE sets a tag, KEY= a tag without a value, KEY- removes one. " +
			"Without any of these, print the tags. `torchx run --tag` tags a new app, `torchx list --tag` finds apps by tags. " +
			program.HandleHelp + " " + selectHelp + "On a terminal tag then asks before it changes them; elsewhere --yes is needed.",
		Flags: slices.Concat([]cli.Flag{
			&cli.BoolFlag{Name: "json", Usage: "print the labels as JSON, after the change", Destination: &asJSON},
			quietFlag(&quiet),
		}, s.flags("all apps"), s.changeFlags()),
		Action: func(c *cli.Context) error {
			handles, change, err := parseTagWords(c.Args().Slice())
			if err != nil {
				return program.Usagef("tag", "%v", err)
			}
			if s.dryRun && asJSON {
				return program.Usagef("tag", "--dry-run prints no JSON: `torchx list --json` does")
			}
			p := purpose{command: "tag", verb: "tag", past: "tagged", canTake: anyState}
			p.asks = len(change.Set)+len(change.Remove) > 0
			f := quietly(f, quiet)
			sel, err := s.apps(c, f, p, handles)
			if err != nil || s.dryRun {
				return err
			}
			return tag(c.Context, f, sel, change, asJSON)
		},
	}
}

// tag changes the tags of apps, if the change is not empty, else it prints them.
func tag(ctx context.Context, f *program.Factory, sel selected, change history.LabelChange, asJSON bool) error {
	all := []labelsObject{}
	changes := len(change.Set)+len(change.Remove) > 0
	act := func(ctx context.Context, ref runner.Ref) (history.Labels, error) {
		return changeLabels(ctx, sel.runner, ref, change)
	}
	err := eachApp(ctx, f, sel.targets, parallel, act, func(ref runner.Ref, labels history.Labels) error {
		all = append(all, newLabelsObject(ref, labels))
		switch {
		case changes || asJSON:
			return nil
		case sel.several:
			return printTags(f, ref.Handle()+" ", labels.Tags)
		}
		return printTags(f, "", labels.Tags)
	})
	if changes && sel.several && len(sel.targets) > 0 {
		f.Say("tagged %s", ui.Counted(len(all), "app"))
	}
	if asJSON && ctx.Err() == nil && (sel.several || err == nil) {
		return cmp.Or(f.PrintMaskedJSON(all), err)
	}
	return err
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

// changeLabels changes the labels of an app, if the change is not empty, and returns them.
func changeLabels(ctx context.Context, r *runner.Runner, ref runner.Ref, c history.LabelChange) (history.Labels, error) {
	if len(c.Set)+len(c.Remove) == 0 && c.Note == nil {
		return r.Labels(ctx, ref)
	}
	return r.SetLabels(ctx, ref, c)
}

// printTags prints a line for each tag, which begins with label.
func printTags(f *program.Factory, label string, tags map[string]string) error {
	for _, key := range ui.Keys(tags) {
		line := history.FormatTags(map[string]string{key: tags[key]}, "")
		if err := f.Printf("%s\n", label+ui.OneLine(line)); err != nil {
			return err
		}
	}
	return nil
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
			r, ref, err := f.Resolve(c.Context, words[0])
			if err != nil {
				return err
			}
			labels, err := changeLabels(c.Context, r, ref, change)
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
