package main

import (
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"torchx/runtime/suggest"
)

// flagSpec is what the argument normaliser knows of a flag.
type flagSpec struct {
	name       string // the first of its names: what urfave is given
	takesValue bool
	repeatable bool
	global     bool
}

// flagTable finds a flag by each of its names, written with '-' for '_'.
type flagTable map[string]*flagSpec

// verb is a command as the argument normaliser sees it.
type verb struct {
	name  string // with that of its group: "component test"
	flags flagTable
	subs  map[string]*verb // of a group of commands, by name and alias
	// stops: the first positional ends the flags of this program, and what
	// follows belongs to somebody else (a component).
	stops bool
}

// grammar is the command line's shape: flags of the program and its commands.
type grammar struct {
	global flagTable
	verbs  map[string]*verb // by name and alias
}

func newFlagTable(flags []cli.Flag, global bool) flagTable {
	t := flagTable{}
	for _, f := range flags {
		names := f.Names()
		s := &flagSpec{name: names[0], global: global}
		if v, ok := f.(cli.DocGenerationFlag); ok {
			s.takesValue = v.TakesValue()
		}
		if v, ok := f.(cli.DocGenerationSliceFlag); ok {
			s.repeatable = v.IsSliceFlag()
		}
		for _, n := range names {
			t[dashed(n)] = s
		}
	}
	return t
}

// newGrammar reads the shape of the command line off its definition; stops
// names the commands whose first positional ends the flags.
func newGrammar(flags []cli.Flag, commands []*cli.Command, stops ...string) *grammar {
	g := &grammar{global: newFlagTable(flags, true)}
	g.verbs = g.verbsOf("", commands, stops)
	return g
}

// verbsOf reads commands, those of groups too; prefix is the group's name.
func (g *grammar) verbsOf(prefix string, commands []*cli.Command, stops []string) map[string]*verb {
	verbs := map[string]*verb{}
	for _, c := range commands {
		v := &verb{name: prefix + c.Name, flags: newFlagTable(c.Flags, false)}
		v.stops = slices.Contains(stops, v.name)
		for n, f := range g.global {
			if v.flags[n] == nil {
				v.flags[n] = f
			}
		}
		if len(c.Subcommands) > 0 {
			v.subs = g.verbsOf(v.name+" ", c.Subcommands, stops)
		}
		for _, n := range c.Names() {
			verbs[n] = v
		}
	}
	return verbs
}

func dashed(name string) string { return strings.ReplaceAll(name, "_", "-") }

// normalised is a command line in the one form that urfave reads: each flag by
// its first name as --name=value before the positionals.
type normalised struct {
	globals     []string
	verb        string // "" if no command is given; with its group: "component test"
	help        bool   // --help or -h was given
	flags       []string
	positionals []string
}

// args returns the command line after the program's name.
func (n *normalised) args() []string {
	out := append([]string{}, n.globals...)
	if n.verb == "" {
		return out
	}
	out = append(out, strings.Fields(n.verb)...)
	out = append(out, n.flags...)
	return append(append(out, "--"), n.positionals...)
}

// normalise puts a command line (without the program's name) into the form that
// urfave reads, which by itself would stop at the first positional, take a
// repeated flag silently and know neither "_" for "-" nor our hints.
func (g *grammar) normalise(args []string) (*normalised, error) {
	p := &argParser{grammar: g, out: &normalised{}, seen: map[string]string{}}
	for len(args) > 0 {
		var err error
		if args, err = p.step(args); err != nil {
			return p.out, err
		}
	}
	return p.out, nil
}

type argParser struct {
	grammar *grammar
	out     *normalised
	verb    *verb
	seen    map[string]string // flag name to the spelling it was given in
}

// step consumes the first argument, or several, and returns the rest.
func (p *argParser) step(args []string) ([]string, error) {
	arg := args[0]
	switch {
	case arg == "--" && p.verb != nil && p.verb.subs == nil:
		p.out.positionals = append(p.out.positionals, args[1:]...)
		return nil, nil
	case isFlag(arg):
		return p.flag(arg, args[1:])
	case p.verb == nil:
		return args[1:], p.command(arg, p.grammar.verbs)
	case p.verb.subs != nil:
		return args[1:], p.command(arg, p.verb.subs)
	case p.verb.stops:
		p.out.positionals = append(p.out.positionals, args...)
		return nil, nil
	}
	p.out.positionals = append(p.out.positionals, arg)
	return args[1:], nil
}

func (p *argParser) command(word string, known map[string]*verb) error {
	v := known[word]
	if v == nil {
		return usagef(p.name(), "unknown command %s.%s", quoteWord(word), suggest.Hint(word, keys(known)))
	}
	p.verb, p.out.verb = v, v.name
	return nil
}

// flag consumes the flag arg, whose value may be the first of rest.
func (p *argParser) flag(arg string, rest []string) ([]string, error) {
	spelling, value, hasValue := strings.Cut(arg, "=")
	f := p.find(spelling)
	if f == nil && (arg == "--help" || arg == "-h") {
		p.out.help = true
		return rest, nil
	}
	if f == nil && !hasValue {
		f, spelling, value, hasValue = p.attached(arg)
	}
	if f == nil {
		return nil, p.unknown(spelling)
	}
	if before, ok := p.seen[f.name]; ok && !f.repeatable {
		return nil, usagef(p.name(), "%s is specified more than once%s", spelling, alsoAs(before, spelling))
	}
	p.seen[f.name] = spelling
	if !f.takesValue {
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

func (p *argParser) name() string {
	if p.verb == nil {
		return ""
	}
	return p.verb.name
}

func (p *argParser) table() flagTable {
	if p.verb == nil {
		return p.grammar.global
	}
	return p.verb.flags
}

// find looks a flag up by its spelling, with one or two dashes.
func (p *argParser) find(spelling string) *flagSpec {
	return p.table()[dashed(strings.TrimPrefix(strings.TrimPrefix(spelling, "-"), "-"))]
}

// attached reads a number that is glued to its one-letter flag: -n20.
func (p *argParser) attached(arg string) (f *flagSpec, spelling, value string, ok bool) {
	if len(arg) < 3 || arg[1] == '-' {
		return nil, arg, "", false
	}
	if _, err := strconv.ParseUint(arg[2:], 10, 63); err != nil {
		return nil, arg, "", false
	}
	f = p.table()[arg[1:2]]
	if f == nil || !f.takesValue {
		return nil, arg, "", false
	}
	return f, arg[:2], arg[2:], true
}

func (p *argParser) unknown(spelling string) error {
	name := dashed(strings.TrimLeft(spelling, "-"))
	names, hint := append(keys(p.table()), "help"), ""
	known, ok := onlyLonger(name, names)
	if !ok {
		known, ok = suggest.Closest(name, names)
	}
	if ok {
		hint = " Did you mean " + dashes(known) + "?"
	}
	return usagef(p.name(), "unknown flag %s.%s", quoteWord(spelling), hint)
}

// onlyLonger is the only one of names that begins with name.
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

func (p *argParser) addBool(f *flagSpec, spelling, value string, hasValue bool) error {
	if hasValue {
		if _, err := strconv.ParseBool(value); err != nil {
			return usagef(p.name(), "%s is a switch: %s is neither true nor false", spelling, quoteWord(value))
		}
		p.add(f, value)
		return nil
	}
	p.add(f, "true")
	return nil
}

func (p *argParser) add(f *flagSpec, value string) {
	to := &p.out.flags
	if f.global {
		to = &p.out.globals
	}
	*to = append(*to, "--"+f.name+"="+value)
}

// isFlag tells flags from positionals: "-" is the last app, "-/role" a part of it.
func isFlag(arg string) bool {
	return len(arg) > 1 && arg[0] == '-' && arg != "--" && arg[1] != '/'
}

// looksLikeFlag tells a flag from a value: negative numbers are values.
func looksLikeFlag(arg string) bool {
	if arg != "--" && !isFlag(arg) {
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

// dashes writes a flag's name as it is typed.
func dashes(name string) string {
	if len(name) == 1 || name == "cfg" {
		return "-" + name
	}
	return "--" + name
}
