package migrate

import (
	"encoding/json"
	"fmt"
)

// node is a node of Python's syntax tree, as dump.py prints it.
type node struct {
	kind           string // the class: "Call", "Name", …
	line, col, end int    // from 1; end is the last line
	fields         map[string]json.RawMessage
	parsed         map[string]any // fields that were asked for: *node, []*node
}

// comment is a comment of the program.
type comment struct {
	Line  int    `json:"line"`
	Alone bool   `json:"alone"` // it has the line for itself
	Text  string `json:"text"`  // with its #
}

// UnmarshalJSON keeps the fields as they are until they are asked for.
func (n *node) UnmarshalJSON(data []byte) error {
	if err := json.Unmarshal(data, &n.fields); err != nil {
		return err
	}
	n.parsed = map[string]any{}
	n.kind, n.line, n.col, n.end = n.text("_"), n.number("line"), n.number("col"), n.number("end")
	if n.kind == "" {
		return fmt.Errorf("a node has no class: %.80s", data)
	}
	return nil
}

// text returns a field that is a string, "" if it is none.
func (n *node) text(field string) string {
	var s string
	_ = json.Unmarshal(n.fields[field], &s) // another type stands for nothing
	return s
}

func (n *node) number(field string) int {
	var i int
	_ = json.Unmarshal(n.fields[field], &i) // another type stands for nothing
	return i
}

func (n *node) flag(field string) bool { return string(n.fields[field]) == "true" }

// node returns a field that is a node, else nil.
func (n *node) node(field string) *node {
	if n == nil {
		return nil
	}
	if v, ok := n.parsed[field].(*node); ok {
		return v
	}
	raw := n.fields[field]
	if len(raw) == 0 || raw[0] != '{' {
		return nil
	}
	v := &node{}
	if json.Unmarshal(raw, v) != nil {
		return nil
	}
	n.parsed[field] = v
	return v
}

// list returns a field that is a list of nodes; a null within it is nil.
func (n *node) list(field string) []*node {
	if n == nil {
		return nil
	}
	if v, ok := n.parsed[field].([]*node); ok {
		return v
	}
	var v []*node
	if json.Unmarshal(n.fields[field], &v) != nil {
		return nil
	}
	n.parsed[field] = v
	return v
}

func (n *node) is(kinds ...string) bool {
	if n == nil {
		return false
	}
	for _, k := range kinds {
		if n.kind == k {
			return true
		}
	}
	return false
}

// isName reports whether n is the variable called name.
func (n *node) isName(name string) bool { return n.is("Name") && n.text("id") == name }

// isString reports whether n is a string constant, and returns it.
func (n *node) isString() (string, bool) {
	if n.is("Constant") && n.text("type") == "str" {
		return n.text("text"), true
	}
	return "", false
}

// isComprehension reports whether n makes a list, set or generator of what it iterates.
func (n *node) isComprehension() bool { return n.is("ListComp", "SetComp", "GeneratorExp") }

// isNone reports whether n is the constant None.
func (n *node) isNone() bool { return n.is("Constant") && n.text("type") == "NoneType" }

// children returns all nodes directly below n, in the order of the source.
func (n *node) children() []*node {
	if n == nil {
		return nil
	}
	var out []*node
	for name, raw := range n.fields {
		switch {
		case len(raw) == 0:
		case raw[0] == '{':
			out = append(out, n.node(name))
		case raw[0] == '[':
			for _, c := range n.list(name) {
				if c != nil {
					out = append(out, c)
				}
			}
		}
	}
	sortByPlace(out)
	return out
}

// walk calls f for n and all below it until f says not to go down.
func (n *node) walk(f func(*node) bool) {
	if n == nil || !f(n) {
		return
	}
	for _, c := range n.children() {
		c.walk(f)
	}
}
