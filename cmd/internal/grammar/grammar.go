// Package grammar turns command lines into the only form that urfave/cli reads: flags
// before positionals, each flag by its first name. New reads commands and flags off their
// definitions, Grammar.Normalize turns arguments into a Line, and completion looks up flags
// and commands in the same tables. Words of other tools (docker, kubectl, git, Slurm) are
// in habitTable: the parser reads them as what they mean here or names the command.
package grammar

import (
	"strings"

	"github.com/urfave/cli/v2"
)

// Flag is a flag of a command or of the program.
type Flag struct {
	Name   string // the first of its names, which urfave gets
	global bool
	Description
}

// Description is what the definition of a flag says: the parser, help, completion and the manual
// read it here.
type Description struct {
	Placeholder string // of its value
	Usage       string // the explanation, without backquotes
	TakesValue  bool
	Repeatable  bool
	Hidden      bool
}

// Describe returns the description of a flag.
func Describe(f cli.Flag) (d Description) {
	if v, ok := f.(cli.DocGenerationFlag); ok {
		d.TakesValue, d.Placeholder, d.Usage = v.TakesValue(), "VALUE", v.GetUsage()
	}
	if parts := strings.SplitN(d.Usage, "`", 3); len(parts) > 1 {
		d.Placeholder, d.Usage = parts[1], strings.Join(parts, "")
	}
	if v, ok := f.(cli.DocGenerationSliceFlag); ok {
		d.Repeatable = v.IsSliceFlag()
	}
	if v, ok := f.(cli.VisibleFlag); ok {
		d.Hidden = !v.IsVisible()
	}
	return d
}

// Flags finds a flag by any of its names, written with '-' for '_'.
type Flags map[string]*Flag

// Verb is a command.
type Verb struct {
	Name  string // with that of its group: "component test"
	Flags Flags
	Subs  map[string]*Verb // commands of a group, by name and alias
	// Operands reports whether a group is a command, too: a first word that names none of its
	// commands is an argument.
	Operands bool
	// Stops is the number of positionals after which all words are positionals: they belong to a
	// component or to a command. 0: none are.
	Stops int
}

// Grammar holds the flags of the program and its commands.
type Grammar struct {
	global Flags
	Verbs  map[string]*Verb // by name and alias
}

// New returns the grammar of a program; stops tells which positional of a command ends the flags,
// counted from 1.
func New(flags []cli.Flag, commands []*cli.Command, stops map[string]int) *Grammar {
	g := &Grammar{global: newFlags(flags, true)}
	g.Verbs = g.verbsOf("", commands, stops)
	return g
}

func newFlags(flags []cli.Flag, global bool) Flags {
	t := Flags{}
	for _, f := range flags {
		names := f.Names()
		s := &Flag{Name: names[0], global: global, Description: Describe(f)}
		for _, n := range names {
			t[Canonical(n)] = s
		}
	}
	return t
}

// verbsOf returns commands and those of groups by name; prefix is the group's name.
func (g *Grammar) verbsOf(
	prefix string, commands []*cli.Command, stops map[string]int,
) map[string]*Verb {
	verbs := map[string]*Verb{}
	for _, c := range commands {
		v := &Verb{Name: prefix + c.Name, Flags: newFlags(c.Flags, false)}
		v.Stops, v.Operands = stops[v.Name], c.Args
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

// IsGroup reports whether a word after the operands names a command of v.
func (v *Verb) IsGroup(word string, operands int) bool {
	return v.Subs != nil && (!v.Operands || operands == 0 && v.Subs[word] != nil)
}

// StopsAt reports whether the next positional, after some, ends the flags.
func (v *Verb) StopsAt(positionals int) bool { return v.Stops > 0 && positionals+1 >= v.Stops }

// Find returns the flag of a command, or of the program if v is nil, by its spelling with
// one or two dashes; nil if the command has no such flag.
func (g *Grammar) Find(v *Verb, spelling string) *Flag {
	return g.flags(v)[Canonical(strings.TrimPrefix(strings.TrimPrefix(spelling, "-"), "-"))]
}

// flags returns the flags that a command takes, those of the program for nil.
func (g *Grammar) flags(v *Verb) Flags {
	if v == nil {
		return g.global
	}
	return v.Flags
}

// Canonical returns the name of a flag with '-' for '_'; both spellings are accepted.
func Canonical(name string) string { return strings.ReplaceAll(name, "_", "-") }

// Spelling returns a flag's name as it is typed: with one dash or two.
func Spelling(name string) string {
	if len(name) == 1 || name == "cfg" {
		return "-" + name
	}
	return "--" + name
}

// IsFlag reports whether arg is a flag: "-" is the most recent app, "-/role" a part of it, "-:path" a file.
func IsFlag(arg string) bool {
	return len(arg) > 1 && arg[0] == '-' && arg != "--" && arg[1] != '/' && arg[1] != ':'
}
