package diff

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/pmezard/go-difflib/difflib"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
)

// comparison is what `diff --json` prints.
type comparison struct {
	Equal   bool      `json:"equal"`
	A       *diffSide `json:"a"`
	B       *diffSide `json:"b"`
	Changes []change  `json:"changes"`

	parts []string // that were compared
}

// change is one difference. A is missing for what was added, B for what was removed.
type change struct {
	Part string `json:"part"` // one of diffParts
	Op   string `json:"op"`   // "add", "remove" or "replace"
	Path string `json:"path"` // a JSON pointer (RFC 6901) into A's part; into B's for "add"
	A    any    `json:"a,omitempty"`
	B    any    `json:"b,omitempty"`
}

// compare finds the differences of two sides that are planned. Values that look like
// secrets are compared, but not shown.
func compare(t *program.Factory, a, b *diffSide, only string) (*comparison, error) {
	c := &comparison{A: a, B: b, Changes: []change{}}
	for _, part := range diffParts {
		if only == "" || only == part {
			c.parts = append(c.parts, part)
		}
	}
	shownA, err := maskedTree(t, a.parts)
	if err != nil {
		return nil, err
	}
	shownB, err := maskedTree(t, b.parts)
	if err != nil {
		return nil, err
	}
	for _, part := range c.parts {
		d := differ{part: part}
		d.value("", a.parts[part], b.parts[part])
		for _, ch := range d.changes {
			if ch.Op != "add" {
				ch.A = at(shownA[part], ch.Path)
			}
			if ch.Op != "remove" {
				ch.B = at(shownB[part], ch.pathInB)
			}
			c.Changes = append(c.Changes, ch.change)
		}
	}
	c.Equal = len(c.Changes) == 0
	return c, nil
}

// maskedTree is a copy of the parts with what looks like a secret hidden.
func maskedTree(t *program.Factory, parts map[string]any) (map[string]any, error) {
	data, err := t.MaskedJSON(parts)
	if err != nil {
		return nil, err
	}
	var out map[string]any
	return out, json.Unmarshal(data, &out)
}

// differ collects the differences of two JSON values.
type differ struct {
	part    string
	changes []located
}

type located struct {
	change
	pathInB string
}

func (d *differ) add(op, a, b string) {
	path := a
	if op == "add" {
		path = b
	}
	d.changes = append(d.changes, located{change{Part: d.part, Op: op, Path: path}, b})
}

// value compares what is at one path; pathA and pathB differ behind list items that
// were added or removed.
func (d *differ) value(path string, a, b any) { d.at(path, path, a, b) }

func (d *differ) at(pathA, pathB string, a, b any) {
	mapA, okA := a.(map[string]any)
	mapB, okB := b.(map[string]any)
	if okA && okB {
		d.maps(pathA, pathB, mapA, mapB)
		return
	}
	listA, okA := a.([]any)
	listB, okB := b.([]any)
	if okA && okB {
		d.lists(pathA, pathB, listA, listB)
		return
	}
	if !reflect.DeepEqual(a, b) {
		d.add("replace", pathA, pathB)
	}
}

func (d *differ) maps(pathA, pathB string, a, b map[string]any) {
	names := ui.Keys(a)
	for _, k := range ui.Keys(b) {
		if _, both := a[k]; !both {
			names = append(names, k)
		}
	}
	slices.Sort(names)
	for _, k := range names {
		left, inA := a[k]
		right, inB := b[k]
		step := "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(k)
		switch {
		case !inB:
			d.add("remove", pathA+step, "")
		case !inA:
			d.add("add", "", pathB+step)
		default:
			d.at(pathA+step, pathB+step, left, right)
		}
	}
}

// lists pairs items that are equal or have the same name, and those that stand in the
// same place between such pairs.
func (d *differ) lists(pathA, pathB string, a, b []any) {
	m := difflib.NewMatcherWithJunk(itemNames(a), itemNames(b), false, nil)
	for _, op := range m.GetOpCodes() {
		i, j := op.I1, op.J1
		for ; i < op.I2 && j < op.J2; i, j = i+1, j+1 {
			d.at(pathA+"/"+strconv.Itoa(i), pathB+"/"+strconv.Itoa(j), a[i], b[j])
		}
		for ; i < op.I2; i++ {
			d.add("remove", pathA+"/"+strconv.Itoa(i), "")
		}
		for ; j < op.J2; j++ {
			d.add("add", "", pathB+"/"+strconv.Itoa(j))
		}
	}
}

// itemNames are texts by which items of two lists are told to be the same: the name
// of what has one, else all of it.
func itemNames(list []any) []string {
	names := make([]string, len(list))
	for i, item := range list {
		if m, ok := item.(map[string]any); ok {
			if name, ok := m["name"].(string); ok {
				names[i] = "name " + name
				continue
			}
		}
		data, err := json.Marshal(item)
		if err != nil { // it came from JSON
			data = fmt.Append(nil, item)
		}
		names[i] = string(data)
	}
	return names
}

// at returns what a JSON pointer leads to, nil if it leads nowhere.
func at(v any, path string) any {
	for _, step := range strings.Split(path, "/")[1:] {
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		switch x := v.(type) {
		case map[string]any:
			v = x[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i >= len(x) {
				return nil
			}
			v = x[i]
		default:
			return nil
		}
	}
	return v
}

// printComparison prints a unified diff for each part.
func printComparison(t *program.Factory, c *comparison, lines int) error {
	for _, part := range c.parts {
		of := func(ch change) bool { return ch.Part == part }
		if !slices.ContainsFunc(c.Changes, of) {
			continue
		}
		a, err := t.MaskedYAML(c.A.ordered[part])
		if err != nil {
			return err
		}
		b, err := t.MaskedYAML(c.B.ordered[part])
		if err != nil {
			return err
		}
		if a == b { // only secrets differ
			for _, ch := range c.Changes {
				if of(ch) {
					t.Say("%s%s differs, and looks like a secret: --show-secrets shows it", part, ui.OneLine(ch.Path))
				}
			}
			continue
		}
		if err := printPart(t, c, part, a, b, lines); err != nil {
			return err
		}
	}
	return nil
}

func printPart(t *program.Factory, c *comparison, part, a, b string, lines int) error {
	names := []string{ui.OneLine(c.A.Label), ui.OneLine(c.B.Label)}
	if c.A.Backend != c.B.Backend || names[0] == names[1] {
		names[0], names[1] = c.A.Backend+": "+names[0], c.B.Backend+": "+names[1]
	}
	text, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
		A: difflib.SplitLines(a), B: difflib.SplitLines(b), Context: lines,
		FromFile: part + " of " + t.Masked(names[0]), ToFile: part + " of " + t.Masked(names[1]),
	})
	if err != nil {
		return err
	}
	return t.Print(t.PaintDiff(ui.Clean(text, true)))
}
