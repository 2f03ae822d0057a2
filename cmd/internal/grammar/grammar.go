// Package grammar reads command lines into the one form that urfave/cli reads: flags
// before positionals, each by its first name. New takes the shape of the command line
// off its definition, Grammar.Normalize turns arguments into a Line, and completion
// looks up flags and commands in the same tables.
package grammar

import (
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/ui"
	"torchx/runtime/suggest"
)

// Flag is what the grammar knows of a flag.
type Flag struct {
	Name       string // the first of its names: what urfave is given
	TakesValue bool
	repeatable bool
	global     bool
}

// Flags finds a flag by each of its names, written with '-' for '_'.
type Flags map[string]*Flag

// Verb is a command.
type Verb struct {
	Name  string // with that of its group: "component test"
	Flags Flags
	Subs  map[string]*Verb // of a group of commands, by name and alias
	// Stops is whether the first positional ends the flags of this program: what
	// follows belongs to a component.
	Stops bool
}

// Grammar is the command line's shape: flags of the program and its commands.
type Grammar struct {
	global Flags
	Verbs  map[string]*Verb // by name and alias
}

func newFlags(flags []cli.Flag, global bool) Flags {
	t := Flags{}
	for _, f := range flags {
		names := f.Names()
		s := &Flag{Name: names[0], global: global}
		if v, ok := f.(cli.DocGenerationFlag); ok {
			s.TakesValue = v.TakesValue()
		}
		if v, ok := f.(cli.DocGenerationSliceFlag); ok {
			s.repeatable = v.IsSliceFlag()
		}
		for _, n := range names {
			t[Canonical(n)] = s
		}
	}
	return t
}

// New reads the shape of the command line off its definition; stops
// names the commands whose first positional ends the flags.
func New(flags []cli.Flag, commands []*cli.Command, stops ...string) *Grammar {
	g := &Grammar{global: newFlags(flags, true)}
	g.Verbs = g.verbsOf("", commands, stops)
	return g
}

// verbsOf reads commands, those of groups too; prefix is the group's name.
func (g *Grammar) verbsOf(prefix string, commands []*cli.Command, stops []string) map[string]*Verb {
	verbs := map[string]*Verb{}
	for _, c := range commands {
		v := &Verb{Name: prefix + c.Name, Flags: newFlags(c.Flags, false)}
		v.Stops = slices.Contains(stops, v.Name)
		for n, f := range g.global {
			if v.Flags[n] == nil {
				v.Flags[n] = f
			}
		}
		if len(c.Subcommands) > 0 {
			v.Subs = g.verbsOf(v.Name+" ", c.Subcommands, stops)
		}
		for _, n := range c.Names() {
			verbs[n] = v
		}
	}
	return verbs
}

// Canonical returns the name of a flag with '-' for '_', which are the same.
func Canonical(name string) string { return strings.ReplaceAll(name, "_", "-") }

// Line is a command line in the one form that urfave reads: each flag by
// its first name as --name=value before the positionals.
type Line struct {
	Globals     []string
	Verb        string // "" if no command is given; with its group: "component test"
	Help        bool   // --help or -h was given
	Flags       []string
	Positionals []string
}

// Args returns the command line after the program's name.
func (l *Line) Args() []string {
	out := append([]string{}, l.Globals...)
	if l.Verb == "" {
		return out
	}
	out = append(out, strings.Fields(l.Verb)...)
	out = append(out, l.Flags...)
	if len(l.Positionals) == 0 {
		return out
	}
	return append(append(out, "--"), l.Positionals...)
}

// Normalize puts a command line (without the program's name) into the form that
// urfave reads, which by itself would stop at the first positional, take a
// repeated flag silently and know neither "_" for "-" nor our hints.
func (g *Grammar) Normalize(args []string) (*Line, error) {
	p := &parser{grammar: g, out: &Line{}, seen: map[string]string{}}
	for len(args) > 0 {
		var err error
		if args, err = p.step(args); err != nil {
			return p.out, err
		}
	}
	return p.out, nil
}

type parser struct {
	grammar *Grammar
	out     *Line
	verb    *Verb             // nil before the command
	seen    map[string]string // flag name to the spelling it was given in
}

// step consumes the first argument, or several, and returns the rest.
func (p *parser) step(args []string) ([]string, error) {
	arg := args[0]
	switch {
	case arg == "--" && p.verb != nil && p.verb.Subs == nil:
		p.out.Positionals = append(p.out.Positionals, args[1:]...)
		return nil, nil
	case IsFlag(arg):
		return p.flag(arg, args[1:])
	case p.verb == nil:
		return args[1:], p.command(arg, p.grammar.Verbs)
	case p.verb.Subs != nil:
		return args[1:], p.command(arg, p.verb.Subs)
	case p.verb.Stops:
		p.out.Positionals = append(p.out.Positionals, args...)
		return nil, nil
	}
	p.out.Positionals = append(p.out.Positionals, arg)
	return args[1:], nil
}

func (p *parser) command(word string, known map[string]*Verb) error {
	v := known[word]
	if v == nil {
		return usagef(p.name(), "unknown command %s.%s", ui.QuoteWord(word), suggest.Hint(word, ui.Keys(known)))
	}
	p.verb, p.out.Verb = v, v.Name
	return nil
}

// flag consumes the flag arg, whose value may be the first of rest.
func (p *parser) flag(arg string, rest []string) ([]string, error) {
	spelling, value, hasValue := strings.Cut(arg, "=")
	f := p.grammar.Find(p.verb, spelling)
	if f == nil && (arg == "--help" || arg == "-h") {
		p.out.Help = true
		return rest, nil
	}
	if f == nil && !hasValue {
		f, spelling, value, hasValue = p.attached(arg)
	}
	if f == nil {
		return nil, p.unknown(spelling)
	}
	if before, ok := p.seen[f.Name]; ok && !f.repeatable {
		return nil, usagef(p.name(), "%s is specified more than once%s", spelling, alsoAs(before, spelling))
	}
	p.seen[f.Name] = spelling
	if !f.TakesValue {
		return rest, p.addBool(f, spelling, value, hasValue)
	}
	if !hasValue {
		if len(rest) == 0 || looksLikeFlag(rest[0]) {
			return nil, usagef(p.name(), "%s needs a value%s", spelling, dashHint(spelling, rest))
		}
		value, rest = rest[0], rest[1:]
	}
	p.add(f, value)
	return rest, nil
}

func (p *parser) name() string {
	if p.verb == nil {
		return ""
	}
	return p.verb.Name
}

func (p *parser) table() Flags { return p.grammar.flags(p.verb) }

// flags returns the flags that a command takes, those of the program for nil.
func (g *Grammar) flags(v *Verb) Flags {
	if v == nil {
		return g.global
	}
	return v.Flags
}

// Find returns the flag of a command, nil for the program itself, by its spelling
// with one or two dashes; nil if there is none.
func (g *Grammar) Find(v *Verb, spelling string) *Flag {
	return g.flags(v)[Canonical(strings.TrimPrefix(strings.TrimPrefix(spelling, "-"), "-"))]
}

// attached reads a number that is glued to its one-letter flag: -n20.
func (p *parser) attached(arg string) (f *Flag, spelling, value string, ok bool) {
	if len(arg) < 3 || arg[1] == '-' {
		return nil, arg, "", false
	}
	if _, err := strconv.ParseUint(arg[2:], 10, 63); err != nil {
		return nil, arg, "", false
	}
	f = p.table()[arg[1:2]]
	if f == nil || !f.TakesValue {
		return nil, arg, "", false
	}
	return f, arg[:2], arg[2:], true
}

func (p *parser) unknown(spelling string) error {
	name := Canonical(strings.TrimLeft(spelling, "-"))
	names, hint := append(ui.Keys(p.table()), "help"), ""
	known, ok := onlyLonger(name, names)
	if !ok {
		known, ok = suggest.Closest(name, names)
	}
	if ok {
		hint = " Did you mean " + Spelling(known) + "?"
	}
	return usagef(p.name(), "unknown flag %s.%s", ui.QuoteWord(spelling), hint)
}

// onlyLonger returns the only one of names that begins with name.
func onlyLonger(name string, names []string) (found string, ok bool) {
	for _, n := range names {
		if strings.HasPrefix(n, name) {
			if ok {
				return "", false
			}
			found, ok = n, true
		}
	}
	return found, ok
}

func (p *parser) addBool(f *Flag, spelling, value string, hasValue bool) error {
	if hasValue {
		if _, err := strconv.ParseBool(value); err != nil {
			return usagef(p.name(), "%s is a switch: %s is neither true nor false", spelling, ui.QuoteWord(value))
		}
		p.add(f, value)
		return nil
	}
	p.add(f, "true")
	return nil
}

func (p *parser) add(f *Flag, value string) {
	to := &p.out.Flags
	if f.global {
		to = &p.out.Globals
	}
	*to = append(*to, "--"+f.Name+"="+value)
}

// IsFlag tells flags from positionals: "-" is the last app, "-/role" a part of it.
func IsFlag(arg string) bool {
	return len(arg) > 1 && arg[0] == '-' && arg != "--" && arg[1] != '/'
}

// looksLikeFlag tells a flag from a value: negative numbers are values.
func looksLikeFlag(arg string) bool {
	if arg != "--" && !IsFlag(arg) {
		return false
	}
	_, err := strconv.ParseFloat(arg, 64)
	return err != nil
}

func alsoAs(before, now string) string {
	if before == now {
		return ""
	}
	return " (also as " + before + ")"
}

func dashHint(spelling string, rest []string) string {
	if len(rest) == 0 {
		return ""
	}
	return ": write " + spelling + "=VALUE if it begins with '-'"
}

// Spelling returns a flag's name as it is typed: with one dash or two.
func Spelling(name string) string {
	if len(name) == 1 || name == "cfg" {
		return "-" + name
	}
	return "--" + name
}
