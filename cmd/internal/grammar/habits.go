package grammar

import (
	"slices"
	"strconv"
	"strings"

	"torchx/cmd/internal/ui"
)

// synonym is a flag of another tool that is read as a flag of this program, in commands
// that have that flag.
type synonym struct {
	words string // spellings, separated by spaces
	value string // the value that it must have, "" for any or none
	flag  string // what is read in its place; a flag with a value gets that of the synonym
}

// synonyms are few: a guess must be safe.
var synonyms = []synonym{
	{words: "-V", flag: "--version"},
	{words: "-help -? --usage", flag: "--help"},
	{words: "-o --output --format", value: "json", flag: "--json"},
	{words: "-ojson", flag: "--json"},
	{words: "-i -t -it -ti --interactive", flag: "--tty"},
	{words: "--background --bg", flag: "--detach"},
	{words: "-e --environment", flag: "--env"},
}

// synonym returns the flag to read for arg and the arguments behind it. It returns no flag
// if the line has that flag already.
func (p *parser) synonym(arg string, rest []string) (flag, after []string, ok bool) {
	spelling, value, hasValue := strings.Cut(arg, "=")
	for _, s := range synonyms {
		if !slices.Contains(strings.Fields(s.words), spelling) {
			continue
		}
		f := p.grammar.Find(p.verb, s.flag)
		switch {
		case f == nil && s.flag != "--help":
			continue
		case f != nil && f.TakesValue:
			return []string{strings.Replace(arg, spelling, s.flag, 1)}, rest, true
		case s.value == "" && !hasValue, s.value != "" && hasValue && value == s.value:
			after = rest
		case s.value != "" && !hasValue && len(rest) > 0 && rest[0] == s.value:
			after = rest[1:]
		default:
			continue
		}
		if f != nil && p.seen[f.Name] != "" {
			return nil, after, true
		}
		return []string{s.flag}, after, true
	}
	return nil, nil, false
}

// advice returns an error that names what to type instead of word, an unknown command or
// flag; nil if Habits do not have it. Advice for one command precedes advice for all.
func (p *parser) advice(what, word string) error {
	var found *Habit
	for i := range Habits {
		h := &Habits[i]
		isFor := slices.Contains(strings.Split(h.Verb, "|"), p.name())
		if (isFor || h.Verb == "") && slices.Contains(strings.Fields(h.Words), word) &&
			(found == nil || isFor && found.Verb == "") {
			found = h
		}
	}
	if found == nil {
		return nil
	}
	return &UsageError{Command: p.name(), Text: what + " " + ui.QuoteWord(word) + ": " + found.Answer(p.name()), HasRemedy: true}
}

// Answer returns the advice for a word that was typed for a command.
func (h *Habit) Answer(verb string) string {
	if verb == "" {
		return strings.ReplaceAll(h.Advice, " {verb}", "")
	}
	return strings.ReplaceAll(h.Advice, "{verb}", verb)
}

// countedFlag is the switch that other tools follow by a number of lines.
const countedFlag = "--tail"

// counted reads `--tail 5` of docker and kubectl as -n 5, and all or -1 as no flag: then
// it returns nil. Otherwise f is the switch itself.
func (p *parser) counted(
	f *Flag, value string, hasValue bool, rest []string,
) (*Flag, string, bool, []string) {
	lines, last, after := p.table()["n"], value, rest
	if !hasValue && len(rest) > 0 {
		last, after = rest[0], rest[1:]
	}
	_, err := strconv.ParseUint(last, 10, 63)
	switch {
	case lines == nil || !lines.TakesValue:
	case err == nil:
		return lines, last, true, after
	case last == "all" || last == "-1":
		return nil, "", false, after
	}
	return f, value, hasValue, rest
}
