package apps

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
	o := NewOriginObject(&history.App{Labels: l})
	return labelsObject{ref.Handle(), ref.ID, o.Tags, o.Note}
}

// NewTag returns the command `tag`.
func NewTag(f *program.Factory) *cli.Command {
	s, quiet, asJSON := &Selection{}, false, false
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
			program.HandleHelp + " " + SelectHelp + "On a terminal tag then asks before it changes them; elsewhere --yes is needed.",
		Flags: slices.Concat([]cli.Flag{QuietFlag(&quiet), labelsFlag(&asJSON)},
			s.Flags("all apps"), s.ChangeFlags()),
		Action: func(c *cli.Context) error {
			handles, change, err := parseTagWords(c.Args().Slice())
			if err != nil {
				return program.Usagef("tag", "%v", err)
			}
			if s.dryRun && asJSON {
				return program.Usagef("tag", "--dry-run prints no JSON: `torchx list --json` does")
			}
			p := Purpose{Command: "tag", Verb: "tag", Past: "tagged", CanTake: AnyState}
			p.Asks = len(change.Set)+len(change.Remove) > 0
			f := Quietly(f, quiet)
			sel, err := s.Apps(c, f, p, handles)
			switch {
			case err != nil || len(sel.Targets) == 0 && !asJSON:
				return err
			case p.Asks:
				return setTags(c.Context, f, sel, change, asJSON)
			}
			return printTags(c.Context, f, sel, asJSON)
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

// labelsFlag returns the flag --json of commands that change labels.
func labelsFlag(to *bool) cli.Flag {
	return &cli.BoolFlag{Name: "json", Usage: "print the tags and the note as JSON, after a change", Destination: to}
}

// setTags changes the tags of apps, and prints of how many if there may be several.
func setTags(
	ctx context.Context, f *program.Factory, sel Selected, c history.LabelChange, asJSON bool,
) error {
	set := func(ctx context.Context, ref runner.Ref) (history.Labels, error) {
		return changeLabels(ctx, f, sel.Runner, ref, c)
	}
	all := []labelsObject{}
	err := EachApp(ctx, f, sel.Targets, Parallel, set, func(ref runner.Ref, labels history.Labels) error {
		all = append(all, newLabelsObject(ref, labels))
		return nil
	})
	if sel.Several {
		f.Say("tagged %s", ui.Counted(len(all), "app"))
	}
	if asJSON {
		err = cmp.Or(err, printLabels(f, sel, all))
	}
	return err
}

// printTags prints a line for each tag, which begins with the handle if there may be several apps.
func printTags(ctx context.Context, f *program.Factory, sel Selected, asJSON bool) error {
	all := []labelsObject{}
	err := EachApp(ctx, f, sel.Targets, Parallel, sel.Runner.Labels, func(ref runner.Ref, labels history.Labels) error {
		if asJSON {
			all = append(all, newLabelsObject(ref, labels))
			return nil
		}
		for line := range strings.Lines(history.FormatTags(labelMasker(f)(labels).Tags, "\n")) {
			line = ui.OneLine(line)
			if sel.Several {
				line = ref.Handle() + " " + line
			}
			if err := f.Printf("%s\n", line); err != nil {
				return err
			}
		}
		return nil
	})
	if asJSON {
		err = cmp.Or(err, printLabels(f, sel, all))
	}
	return err
}

// printLabels prints an array if there may be several apps, as `status --json` does.
func printLabels(f *program.Factory, sel Selected, all []labelsObject) error {
	switch {
	case sel.Several:
		return f.PrintMaskedJSON(all)
	case len(all) == 1:
		return f.PrintMaskedJSON(all[0])
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
			"Without TEXT, print the note. A secret that is printed as ****** stays as it is if TEXT has ****** in its place. " +
			program.HandleHelp,
		Flags: []cli.Flag{labelsFlag(&asJSON)},
		Action: func(c *cli.Context) error {
			words := c.Args().Slice()
			var change *string
			if len(words) == 0 {
				return program.Missing(c, "HANDLE")
			}
			if text := strings.Join(words[1:], " "); len(words) > 1 {
				if err := history.CheckNote(text); err != nil {
					return program.Usagef("note", "%v", err)
				}
				change = &text
			}
			ref, labels, err := setNote(c.Context, f, words[0], change)
			switch {
			case err != nil:
				return err
			case asJSON:
				return f.PrintMaskedJSON(newLabelsObject(ref, labels))
			case change != nil || labels.Note == "":
				return nil
			}
			return f.Printf("%s\n", ui.Clean(labelMasker(f)(labels).Note, true))
		},
	}
}

// setNote changes the note of an app, unless text is nil, and returns its labels.
func setNote(
	ctx context.Context, f *program.Factory, handle string, text *string,
) (ref runner.Ref, l history.Labels, err error) {
	r, ref, err := f.Resolve(ctx, handle)
	if err != nil {
		return ref, l, err
	}
	if text == nil {
		l, err = r.Labels(ctx, ref)
	} else {
		l, err = changeLabels(ctx, f, r, ref, history.LabelChange{Note: text})
	}
	return ref, l, err
}
