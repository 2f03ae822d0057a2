package compare

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/pmezard/go-difflib/difflib"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
)

// planComparison is the output of `diff --json`.
type planComparison struct {
	Equal   bool     `json:"equal"`
	A       *side    `json:"a"`
	B       *side    `json:"b"`
	Changes []change `json:"changes"`

	parts []string // those compared
}

// change is one difference. A is null if it was added, B if it was removed.
type change struct {
	Part string `json:"part"` // one of planParts
	Op   string `json:"op"`   // "add", "remove" or "replace"
	Path string `json:"path"` // a JSON pointer (RFC 6901) into A's part; into B's for "add"
	A    any    `json:"a"`
	B    any    `json:"b"`
}

// comparePlans finds the differences of two planned sides. Values that look like secrets are
// compared, but hidden.
func comparePlans(f *program.Factory, a, b *side, only string) (*planComparison, error) {
	c := &planComparison{A: a, B: b, Changes: []change{}}
	for _, part := range planParts {
		if only == "" || only == part {
			c.parts = append(c.parts, part)
		}
	}
	if a.parts[provenancePart] == nil || b.parts[provenancePart] == nil {
		if only == provenancePart {
			return nil, fmt.Errorf("where they come from is known only of two past apps that this version of torchx ran: name two handles")
		}
		c.parts = slices.DeleteFunc(c.parts, func(part string) bool { return part == provenancePart })
	}
	shownA, err := maskedTree(f, a.parts)
	if err != nil {
		return nil, err
	}
	shownB, err := maskedTree(f, b.parts)
	if err != nil {
		return nil, err
	}
	for _, part := range c.parts {
		for _, d := range compareJSON(a.parts[part], b.parts[part]) {
			ch := change{Part: part, Op: d.op, Path: d.path()}
			if d.op != opAdd {
				ch.A = valueAt(shownA[part], d.a)
			}
			if d.op != opRemove {
				ch.B = valueAt(shownB[part], d.b)
			}
			c.Changes = append(c.Changes, ch)
		}
	}
	c.Equal = len(c.Changes) == 0
	return c, nil
}

// maskedTree returns a copy of the parts with secrets hidden.
func maskedTree(f *program.Factory, parts map[string]any) (map[string]any, error) {
	data, err := f.MaskedJSON(parts)
	if err != nil {
		return nil, err
	}
	var out map[string]any
	return out, json.Unmarshal(data, &out)
}

// printComparison prints a unified diff for each part.
func printComparison(f *program.Factory, c *planComparison, lines int) error {
	for _, part := range c.parts {
		of := func(ch change) bool { return ch.Part == part }
		if !slices.ContainsFunc(c.Changes, of) {
			continue
		}
		a, err := f.MaskedYAML(c.A.ordered[part])
		if err != nil {
			return err
		}
		b, err := f.MaskedYAML(c.B.ordered[part])
		if err != nil {
			return err
		}
		if a == b { // only secrets differ
			for _, ch := range c.Changes {
				if of(ch) {
					f.Say("%s%s differs, but looks like a secret (use --show-secrets to see it)",
						part, ui.OneLine(ch.Path))
				}
			}
			continue
		}
		if err := printPart(f, c, part, a, b, lines); err != nil {
			return err
		}
	}
	return nil
}

func printPart(f *program.Factory, c *planComparison, part, a, b string, lines int) error {
	names := []string{ui.OneLine(c.A.Label), ui.OneLine(c.B.Label)}
	if c.A.Backend != c.B.Backend || names[0] == names[1] {
		names[0], names[1] = c.A.Backend+": "+names[0], c.B.Backend+": "+names[1]
	}
	text, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
		A: difflib.SplitLines(a), B: difflib.SplitLines(b), Context: lines,
		FromFile: part + " of " + f.Masked(names[0]), ToFile: part + " of " + f.Masked(names[1]),
	})
	if err != nil {
		return err
	}
	return f.Print(f.PaintDiff(ui.Clean(text, true)))
}
