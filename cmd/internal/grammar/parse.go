package grammar

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"torchx/cmd/internal/ui"
	"torchx/runtime/humanize"
)

// Line is a command line in the form that urfave reads: each flag by its first name as
// --name=value before the positionals.
type Line struct {
	Globals     []string
	Verb        string // "" if no command is given; with its group: "component test"
	Help        bool   // --help or -h was given
	Flags       []string
	Positionals []string
	// Early are flags of a command, with their values, on a line without a command.
	Early []string
}

// Args returns the command line after the program's name.
func (l *Line) Args() []string {
	out := slices.Clone(l.Globals)
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

// Normalize parses a command line (without the program's name). urfave alone would stop
// at the first positional, accept repeated flags and not treat "_" as "-". Flags of a
// command may precede it.
func (g *Grammar) Normalize(args []string) (*Line, error) {
	p := &parser{grammar: g, out: &Line{}, seen: map[string]string{}}
	for len(args) > 0 {
		var err error
		if args, err = p.step(args); err != nil {
			return p.out, err
		}
	}
	if len(p.out.Early) > 0 && !p.out.Help {
		return p.out, p.unknown(p.out.Early[0])
	}
	return p.out, nil
}

type parser struct {
	grammar *Grammar
	out     *Line
	verb    *Verb             // nil before the command
	seen    map[string]string // flag name to the spelling that was given
}

// step consumes the first argument, or several, and returns the arguments left to parse.
func (p *parser) step(args []string) ([]string, error) {
	arg := args[0]
	switch {
	case arg == "--" && p.verb != nil && !p.verb.IsGroup(arg, 0):
		p.out.Positionals = append(p.out.Positionals, args[1:]...)
		return nil, nil
	case IsFlag(arg):
		return p.flag(arg, args[1:])
	case p.verb == nil:
		return p.command(arg, args[1:], p.grammar.Verbs)
	case p.verb.IsGroup(arg, len(p.out.Positionals)):
		return p.command(arg, args[1:], p.verb.Subs)
	case p.verb.StopsAt(len(p.out.Positionals)):
		p.out.Positionals = append(p.out.Positionals, args...)
		return nil, nil
	}
	p.out.Positionals = append(p.out.Positionals, arg)
	return args[1:], nil
}

// command takes word as a command and returns the arguments left, with early flags first.
func (p *parser) command(word string, rest []string, known map[string]*Verb) ([]string, error) {
	v := known[word]
	if v == nil {
		if err := p.advice("unknown command", word); err != nil {
			return nil, err
		}
		if text := asArgument(word); p.verb == nil && text != "" {
			return nil, &UsageError{Text: fmt.Sprintf("unknown command %s: %s", ui.QuoteWord(word), text), HasRemedy: true}
		}
		return nil, usagef(p.name(), "unknown command %s.%s", ui.QuoteWord(word),
			humanize.Hint(word, ui.Keys(known)))
	}
	p.verb, p.out.Verb = v, v.Name
	if v.Subs == nil || v.Operands {
		rest = slices.Concat(p.out.Early, rest)
		p.out.Early = nil
	}
	return rest, nil
}

// asArgument returns what to type if word is a component or a script and not a
// command, "" for any other word.
func asArgument(word string) string {
	module, function, isDotted := strings.Cut(word, ".")
	switch {
	case path.Ext(word) == ".py":
		return fmt.Sprintf("`torchx run utils.python --script %s` runs a script", ui.QuoteWord(word))
	case strings.Contains(word, ".star"), strings.HasPrefix(word, "@"),
		isDotted && module != "" && function != "" && !strings.Contains(word, "/"):
		return fmt.Sprintf("`torchx run %s` runs a component", ui.QuoteWord(word))
	}
	return ""
}

// flag consumes the flag arg, whose value may be the first of rest.
func (p *parser) flag(arg string, rest []string) ([]string, error) {
	spelling, value, hasValue := strings.Cut(arg, "=")
	f := p.grammar.Find(p.verb, spelling)
	if f == nil && (arg == "--help" || arg == "-help" || arg == "-h") {
		p.out.Help = true
		return rest, nil
	}
	if f == nil && !hasValue {
		f, spelling, value, hasValue = p.attached(arg)
	}
	if f == nil {
		return p.otherFlag(arg, rest)
	}
	if !f.TakesValue && spelling == countedFlag {
		f, value, hasValue, rest = p.counted(f, value, hasValue, rest)
		if f == nil {
			return rest, nil
		}
	}
	if before, ok := p.seen[f.Name]; ok && !f.Repeatable {
		return nil, usagef(p.name(), "%s is specified more than once%s", spelling,
			alsoAs(before, spelling))
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

// otherFlag consumes a flag that the command does not have: a synonym or, before the
// command, a flag that the command may have.
func (p *parser) otherFlag(arg string, rest []string) ([]string, error) {
	if flag, after, ok := p.synonym(arg, rest); ok {
		return append(flag, after...), nil
	}
	commands := p.grammar.Verbs
	if p.verb != nil {
		commands = p.verb.Subs
	}
	if commands == nil {
		return nil, p.unknown(arg)
	}
	p.out.Early = append(p.out.Early, arg)
	if !strings.Contains(arg, "=") && len(rest) > 0 && !looksLikeFlag(rest[0]) &&
		commands[rest[0]] == nil {
		p.out.Early, rest = append(p.out.Early, rest[0]), rest[1:]
	}
	return rest, nil
}

func (p *parser) name() string {
	if p.verb == nil {
		return ""
	}
	return p.verb.Name
}

func (p *parser) table() Flags { return p.grammar.flags(p.verb) }

// attached reads a number without a space after its one-letter flag, -n20, and -20, which
// means -n 20 to head, tail and git.
func (p *parser) attached(arg string) (f *Flag, spelling, value string, ok bool) {
	name, digits := arg[1:2], arg[2:]
	if _, err := strconv.ParseUint(arg[1:], 10, 63); err == nil {
		name, digits = "n", arg[1:]
	}
	if _, err := strconv.ParseUint(digits, 10, 63); err != nil {
		return nil, arg, "", false
	}
	f = p.table()[name]
	if f == nil || !f.TakesValue {
		return nil, arg, "", false
	}
	return f, "-" + name, digits, true
}

func (p *parser) unknown(arg string) error {
	spelling, _, _ := strings.Cut(arg, "=")
	if owner := p.owner(spelling); owner != "" {
		return &UsageError{Command: p.name(), HasRemedy: true, Text: fmt.Sprintf("%s is an option of commands, such as `torchx %s %s`", spelling, owner, spelling)}
	}
	if err := p.advice("unknown flag", spelling); err != nil {
		return err
	}
	name := Canonical(strings.TrimLeft(spelling, "-"))
	names := append(ui.Keys(p.table()), "help")
	known, ok := onlyLonger(name, names)
	if !ok {
		known, ok = humanize.Closest(name, names)
	}
	switch {
	case ok:
		return usagef(p.name(), "unknown flag %s. Did you mean %s?",
			ui.QuoteWord(spelling), Spelling(known))
	case p.verb != nil && p.verb.Stops == 1:
		return usagef(p.name(), "unknown flag %s: arguments of a component follow it, `torchx %s COMPONENT %s …`",
			ui.QuoteWord(spelling), p.name(), spelling)
	}
	return usagef(p.name(), "unknown flag %s.", ui.QuoteWord(spelling))
}

// owner returns a command, or a command of the group, that has the flag; "" if none has.
func (p *parser) owner(spelling string) string {
	commands := p.grammar.Verbs
	if p.verb != nil {
		commands = p.verb.Subs
	}
	for _, name := range append([]string{"list", "run"}, ui.Keys(commands)...) {
		if v := commands[name]; v != nil && p.grammar.Find(v, spelling) != nil {
			return v.Name
		}
	}
	return ""
}

// onlyLonger returns the only name that begins with the given one, which has two letters
// or more.
func onlyLonger(name string, names []string) (found string, ok bool) {
	if len(name) < 2 {
		return "", false
	}
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
			return usagef(p.name(), "%s takes no value: %s is neither true nor false (write %s)",
				spelling, ui.QuoteWord(value), spelling)
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

// looksLikeFlag reports whether arg is a flag rather than a value: negative numbers are
// values.
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
