package component

import (
	"maps"
	"slices"
)

// DocArg is an entry `name (type): text` of a docstring's Args section.
type DocArg struct {
	Name string // without stars
	Type string // as written, "" if there is none
	Help string // one line
	Line int    // of the entry, counted from 0 at the opening quotes
}

// ParseDoc takes a docstring apart without running anything: what it says beside
// its sections on arguments and results, and the arguments in their order.
func ParseDoc(doc string) (text string, args []DocArg) {
	parsed := parseDocstring(doc)
	for _, name := range slices.Sorted(maps.Keys(parsed.Args)) {
		a := parsed.Args[name]
		args = append(args, DocArg{name, a.Type, a.Help, a.Line})
	}
	slices.SortStableFunc(args, func(a, b DocArg) int { return a.Line - b.Line })
	return parsed.Text, args
}
