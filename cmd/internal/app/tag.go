package app

import (
	"context"
	"errors"
	"strings"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/history"
)

// NewTag returns the command `tag`.
func NewTag(f *program.Factory) *cli.Command {
	return &cli.Command{
		Name:  "tag",
		Usage: "label apps",
		UsageText: "HANDLE... KEY=VALUE... KEY-...\n" +
			"torchx tag - team=vision baseline=\n" +
			"torchx tag - baseline-\n" +
			"torchx tag -",
		Description: "Add tags to apps, or replace or remove them: KEY=VALUE sets a tag, KEY= a tag without a value, KEY- removes one. " +
			"Without any of these, print the tags. `torchx run --tag` tags a new app, `torchx list --tag` finds apps by tags. " +
			program.HandleHelp,
		Action: func(c *cli.Context) error {
			handles, change, err := parseTagWords(c.Args().Slice())
			if err != nil {
				return program.Usagef("tag", "%v", err)
			}
			return eachApp(c.Context, f, handles, func(ctx context.Context, handle string) error {
				return tag(ctx, f, handle, change)
			})
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

func tag(ctx context.Context, f *program.Factory, handle string, c history.LabelChange) error {
	r, ref, err := f.Resolve(ctx, handle)
	if err != nil {
		return err
	}
	if len(c.Set)+len(c.Remove) > 0 {
		_, err := r.SetLabels(ctx, ref, c)
		return err
	}
	labels, err := r.Labels(ctx, ref)
	if err != nil {
		return err
	}
	for _, key := range ui.Keys(labels.Tags) {
		if err := f.Printf("%s\n", tagText(key, labels.Tags[key])); err != nil {
			return err
		}
	}
	return nil
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
