package app

import (
	"context"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/history"
	"torchx/runtime/runner"
)

// NewTag returns the command `tag`.
func NewTag(f *program.Factory) *cli.Command {
	s, quiet := &selection{}, false
	return &cli.Command{
		Name:  "tag",
		Usage: "label apps",
		UsageText: "HANDLE... KEY=VALUE... KEY-...\n" +
			"torchx tag - team=vision baseline=\n" +
			"torchx tag - baseline-\n" +
			"torchx tag -\n" +
			"torchx tag --component 'dist.*' --since 2d --yes checked=",
		Description: "Add tags to apps, or replace or remove them: KEY=VALUE sets a tag, KEY= a tag without a value, KEY- removes one. " +
			"Without any of these, print the tags. `torchx run --tag` tags a new app, `torchx list --tag` finds apps by tags. " +
			program.HandleHelp + " " + selectHelp + "On a terminal tag then asks before it changes them; elsewhere --yes is needed.",
		Flags: slices.Concat([]cli.Flag{quietFlag(&quiet)}, s.flags("all apps"), s.changeFlags()),
		Action: func(c *cli.Context) error {
			handles, change, err := parseTagWords(c.Args().Slice())
			if err != nil {
				return program.Usagef("tag", "%v", err)
			}
			p := purpose{command: "tag", verb: "tag", past: "tagged", canTake: anyState}
			p.asks = len(change.Set)+len(change.Remove) > 0
			f := quietly(f, quiet)
			sel, err := s.apps(c, f, p, handles)
			switch {
			case err != nil || len(sel.targets) == 0:
				return err
			case p.asks:
				return setTags(c.Context, f, sel, change)
			}
			return printTags(c.Context, f, sel)
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

// setTags changes the tags of apps, and prints of how many if there may be several.
func setTags(ctx context.Context, f *program.Factory, sel selected, c history.LabelChange) error {
	set := func(ctx context.Context, ref runner.Ref) (history.Labels, error) {
		return sel.runner.SetLabels(ctx, ref, c)
	}
	changed := 0
	err := eachApp(ctx, f, sel.targets, parallel, set, func(runner.Ref, history.Labels) error {
		changed++
		return nil
	})
	if sel.several {
		f.Say("tagged %s", ui.Counted(changed, "app"))
	}
	return err
}

// printTags prints a line for each tag, which begins with the handle if there may be several apps.
func printTags(ctx context.Context, f *program.Factory, sel selected) error {
	return eachApp(ctx, f, sel.targets, parallel, sel.runner.Labels, func(ref runner.Ref, labels history.Labels) error {
		for _, key := range ui.Keys(labels.Tags) {
			line := tagText(key, labels.Tags[key])
			if sel.several {
				line = ref.Handle() + " " + line
			}
			if err := f.Printf("%s\n", line); err != nil {
				return err
			}
		}
		return nil
	})
}

// tagText returns a tag as it is typed.
func tagText(key, value string) string {
	if value == "" {
		return key
	}
	return key + "=" + value
}

// NewNote returns the command `note`.
func NewNote(f *program.Factory) *cli.Command {
	return &cli.Command{
		Name:  "note",
		Usage: "describe an app",
		UsageText: "HANDLE [TEXT]\n" +
			"torchx note - 'baseline with the old tokenizer'\n" +
			"torchx note -",
		Description: "Set the note of an app, which `torchx describe` shows and `torchx list --search` finds. An empty TEXT removes it. " +
			"Without TEXT, print the note. " +
			program.HandleHelp,
		Action: func(c *cli.Context) error {
			switch words := c.Args().Slice(); len(words) {
			case 0:
				return program.Usagef("note", "missing HANDLE")
			case 1:
				return printNote(c.Context, f, words[0])
			default:
				return setNote(c.Context, f, words[0], strings.Join(words[1:], " "))
			}
		},
	}
}

func setNote(ctx context.Context, f *program.Factory, handle, text string) error {
	if err := history.CheckNote(text); err != nil {
		return program.Usagef("note", "%v", err)
	}
	r, ref, err := f.Resolve(ctx, handle)
	if err != nil {
		return err
	}
	_, err = r.SetLabels(ctx, ref, history.LabelChange{Note: &text})
	return err
}

func printNote(ctx context.Context, f *program.Factory, handle string) error {
	r, ref, err := f.Resolve(ctx, handle)
	if err != nil {
		return err
	}
	labels, err := r.Labels(ctx, ref)
	if err != nil || labels.Note == "" {
		return err
	}
	return f.Printf("%s\n", labels.Note)
}
