package manual

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/grammar"
	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
)

// CompleteCommand is the hidden command that the scripts of `torchx completion` call with the words
// of the line up to the cursor, the program's name first. It prints one line for each
// possible word, value TAB explanation, and directives, which begin with a colon.
const CompleteCommand = "__complete"

// Directives for the script.
const (
	completeFiles   = ":files"   // also offer files
	completeFolders = ":folders" // also offer folders
	completeOpen    = ":open"    // no space after a completed word
)

// suggestion is a possible word at the cursor, with an explanation.
type suggestion struct{ value, about string }

// completer answers one request.
type completer struct {
	*program.Factory
	grammar  *grammar.Grammar
	commands []*cli.Command
	global   []cli.Flag
	line     partialLine
	current  string // the word at the cursor, up to the cursor

	out    []suggestion
	files  bool
	folder bool
}

// partialLine holds the parsed words before the cursor.
type partialLine struct {
	verb        *grammar.Verb
	positionals []string
	flags       map[string]string // value by the flag's first name
	pending     *grammar.Flag     // the flag whose value is at the cursor
	plain       bool              // after "--": all words are positionals
}

// Complete prints the completions of words. It prints no messages; what it cannot look up is
// omitted.
func Complete(ctx context.Context, f *program.Factory, words []string) error {
	if len(words) == 0 {
		return nil
	}
	f = f.With(func(c *program.Factory) { c.Err = io.Discard })
	app := f.CommandLine()
	c := &completer{
		Factory: f, grammar: program.GrammarOf(app), commands: app.Commands, global: app.Flags,
		current: words[len(words)-1],
	}
	if len(words) > 1 {
		c.line = read(c.grammar, words[1:len(words)-1])
		c.find(ctx)
	}
	return f.Print(c.text())
}

// text returns the answer: each word once that begins with the word at the cursor.
func (c *completer) text() string {
	var b strings.Builder
	seen := map[string]bool{}
	open := false
	for _, s := range c.out {
		if !strings.HasPrefix(s.value, c.current) || seen[s.value] ||
			strings.ContainsAny(s.value, "\t\n") {
			continue
		}
		seen[s.value] = true
		open = open || strings.HasSuffix(s.value, "=") || strings.HasSuffix(s.value, "/") ||
			strings.HasSuffix(s.value, ":")
		b.WriteString(s.value)
		if s.about != "" {
			b.WriteString("\t" + strings.ReplaceAll(ui.OneLine(s.about), "\t", " "))
		}
		b.WriteByte('\n')
	}
	for _, d := range []struct {
		name string
		set  bool
	}{{completeFiles, c.files}, {completeFolders, c.folder}, {completeOpen, open}} {
		if d.set {
			b.WriteString(d.name + "\n")
		}
	}
	return b.String()
}

func (c *completer) add(value, about string) { c.out = append(c.out, suggestion{value, about}) }

// read parses the words before the cursor; it ignores mistakes.
func read(g *grammar.Grammar, words []string) partialLine {
	l := partialLine{flags: map[string]string{}}
	for _, w := range words {
		switch {
		case l.pending != nil:
			l.flags[l.pending.Name], l.pending = w, nil
		case l.plain || l.inComponent():
			l.positionals = append(l.positionals, w)
		case w == "--" && l.verb != nil:
			l.plain = true
		case grammar.IsFlag(w):
			l.flag(g, w)
		case l.verb == nil:
			l.verb = known(g.Verbs, w)
		case l.verb.IsGroup(w, len(l.positionals)):
			l.verb = known(l.verb.Subs, w)
		default:
			l.positionals = append(l.positionals, w)
		}
	}
	return l
}

// known returns the command that a word names; an unknown command takes nothing.
func known(verbs map[string]*grammar.Verb, word string) *grammar.Verb {
	if v := verbs[word]; v != nil {
		return v
	}
	return &grammar.Verb{Name: word, Flags: grammar.Flags{}}
}

// inComponent reports whether further words belong to a component.
func (l *partialLine) inComponent() bool {
	return l.verb != nil && l.verb.Stops > 0 && len(l.positionals) >= l.verb.Stops
}

func (l *partialLine) flag(g *grammar.Grammar, word string) {
	spelling, value, hasValue := strings.Cut(word, "=")
	f := g.Find(l.verb, spelling)
	switch {
	case f == nil:
	case f.TakesValue && !hasValue:
		l.pending = f
	default:
		l.flags[f.Name] = value
	}
}

// find collects the possible words at the cursor.
func (c *completer) find(ctx context.Context) {
	spelling, value, hasValue := strings.Cut(c.current, "=")
	switch {
	case c.line.pending != nil:
		c.flagValue(ctx, c.line.pending.Name, c.current)
	case c.line.inComponent():
		c.componentArgument(ctx)
	case grammar.IsFlag(c.current) && hasValue && !c.line.plain:
		if f := c.grammar.Find(c.line.verb, spelling); f != nil && f.TakesValue {
			c.flagValue(ctx, f.Name, value)
			for i := range c.out {
				c.out[i].value = spelling + "=" + c.out[i].value
			}
		}
	case strings.HasPrefix(c.current, "-") && c.current != "-" && !c.line.plain:
		c.flagNames()
	case c.line.verb == nil:
		c.commandNames(c.commands)
	case c.line.verb.Subs != nil && len(c.line.positionals) == 0:
		c.commandNames(c.command().Subcommands)
		if c.line.verb.Operands {
			c.positional(ctx)
		}
	default:
		c.positional(ctx)
	}
}

func (c *completer) commandNames(commands []*cli.Command) {
	for _, cmd := range commands {
		if cmd.Hidden {
			continue
		}
		c.add(cmd.Name, cmd.Usage)
		for _, alias := range cmd.Aliases {
			if c.current != "" && !strings.HasPrefix(cmd.Name, c.current) {
				c.add(alias, cmd.Usage)
			}
		}
	}
	if c.current == "-" {
		c.flagNames()
	}
}

func (c *completer) command() *cli.Command {
	if c.line.verb == nil {
		return nil
	}
	return program.FindCommand(c.commands, c.line.verb.Name)
}

// verbName returns the full name of the command on the line, "" if there is none.
func (c *completer) verbName() string {
	if c.line.verb == nil {
		return ""
	}
	return c.line.verb.Name
}

// flags returns the flags that the command on the line takes.
func (c *completer) flags() []cli.Flag {
	if cmd := c.command(); cmd != nil {
		return slices.Concat(cmd.Flags, c.global)
	}
	return c.global
}

// flagNames offers each flag that may be given again, by its first name that begins with
// the word at the cursor.
func (c *completer) flagNames() {
	offered := map[string]bool{}
	for _, f := range c.flags() {
		d, name := grammar.Describe(f), f.Names()[0]
		_, given := c.line.flags[name]
		if d.Hidden || offered[name] || given && !d.Repeatable {
			continue
		}
		offered[name] = true
		for _, spelling := range spellings(f) {
			if strings.HasPrefix(spelling, c.current) {
				c.add(spelling, d.Usage)
				break
			}
		}
	}
	c.add("--help", "print help and exit")
}

// spellings returns the spellings of a flag, the long ones first.
func spellings(f cli.Flag) []string {
	var long, short []string
	for _, n := range f.Names() {
		if len(n) == 1 {
			short = append(short, "-"+n)
			continue
		}
		long = append(long, grammar.Spelling(n))
		if grammar.Spelling(n) != "--"+n {
			short = append(short, "--"+n)
		}
	}
	return append(long, short...)
}
