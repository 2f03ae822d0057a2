package analysis

import (
	"slices"
	"strings"

	"torchx/starlark/specmodule"
)

// Item is a completion.
type Item struct {
	*Symbol
	// Text replaces the word at the cursor.
	Text string
	// Rank orders items: nearer definitions have smaller ranks.
	Rank int
	// Plain is set for a keyword, path or string, which is not a name.
	Plain bool
}

// The ranks of items.
const (
	rankArgument = iota
	rankLocal
	rankGlobal
	rankBuiltin
	rankWord
)

// words are the keywords.
var words = []string{
	"and", "break", "continue", "def", "elif", "else", "for", "if", "in", "lambda", "load", "not", "or", "pass", "return",
}

// Complete lists the completions at an offset, and the start of the word that they replace. It also
// works on a line that does not parse.
func (f *File) Complete(l Loader, offset int) (items []Item, from int) {
	c := f.At(offset)
	p := &completion{file: f, loader: l, offset: offset, cursor: &c}
	switch {
	case c.Region == InComment:
	case c.Region == InString:
		p.inString()
	case c.Chain != "":
		for _, s := range f.MembersOf(l, offset, c.Chain) {
			p.name(s, rankLocal)
		}
	case c.Before == "def" || c.Before == "for" || p.isNewParameter():
		// The author is typing a new name.
	default:
		p.arguments()
		p.names()
	}
	return p.matching(), c.Start
}

type completion struct {
	file   *File
	loader Loader
	offset int
	cursor *Cursor
	items  []Item
}

func (p *completion) name(s *Symbol, rank int) {
	p.items = append(p.items, Item{Symbol: s, Text: s.Name, Rank: rank})
}

func (p *completion) text(text string) {
	p.items = append(p.items, Item{Symbol: &Symbol{Name: text, Kind: Constant}, Text: text, Plain: true})
}

// matching keeps items with the prefix at the cursor, each name once.
func (p *completion) matching() []Item {
	word := strings.ToLower(p.cursor.Word)
	seen := map[string]bool{}
	return slices.DeleteFunc(p.items, func(i Item) bool {
		duplicate := seen[i.Text]
		seen[i.Text] = true
		return duplicate || !strings.HasPrefix(strings.ToLower(i.Text), word)
	})
}

// isNewParameter reports whether the author is typing the name of a new parameter.
func (p *completion) isNewParameter() bool {
	n := len(p.cursor.Brackets)
	return n > 0 && p.cursor.Brackets[n-1].Head && p.cursor.Brackets[n-1].Argument == ""
}

// arguments offers the missing arguments of the call.
func (p *completion) arguments() {
	call := p.cursor.Call()
	if call == nil || call.Argument != "" || p.cursor.Before != "(" && p.cursor.Before != "," &&
		p.cursor.Before != "" {
		return
	}
	fn := p.file.Lookup(p.loader, p.offset, call.Callee)
	if fn == nil {
		return
	}
	positional := call.Index - len(call.Given)
	for i, param := range fn.Params {
		if param.Star || i < positional || slices.Contains(call.Given, param.Name) {
			continue
		}
		s := &Symbol{Name: param.Name, Kind: Parameter, Signature: param.Text, Doc: param.Doc}
		p.items = append(p.items, Item{Symbol: s, Text: param.Name + " = ", Rank: rankArgument})
	}
}

// names offers all names in scope.
func (p *completion) names() {
	for _, s := range p.file.Locals(p.offset) {
		if s.Start != p.cursor.Start {
			p.name(s, rankLocal)
		}
	}
	for _, s := range p.file.Globals() {
		if s.Label != "" {
			s = p.file.loaded(p.loader, s)
		}
		if s.Start != p.cursor.Start || s.File != p.file {
			p.name(s, rankGlobal)
		}
	}
	for _, s := range Builtins() {
		p.name(s, rankBuiltin)
	}
	for _, w := range words {
		p.items = append(p.items, Item{Symbol: &Symbol{Name: w}, Text: w, Rank: rankWord, Plain: true})
	}
}

// inString offers labels and names of load(), and the choices of an argument.
func (p *completion) inString() {
	n := len(p.cursor.Brackets)
	if n == 0 {
		return
	}
	b := &p.cursor.Brackets[n-1]
	switch {
	case b.Callee == "load" && b.Index == 0:
		p.labels()
	case b.Callee == "load" && len(b.Texts) > 0:
		p.exports(b.Texts)
	case b.Open == '[' && b.Callee == "specs.named_resources", b.Callee == "specs.get_named_resources",
		b.Callee == "specs.resource" && b.Argument == "h":
		p.resources()
	default:
		p.choices(b)
	}
}

// resources offers the named resources of the project.
func (p *completion) resources() {
	var project []specmodule.NamedResource
	for _, name := range p.loader.Resources(p.file) {
		project = append(project, specmodule.NamedResource{Name: name})
	}
	for _, name := range specmodule.NamedResourceNames(project...) {
		p.text(name)
	}
}

// labels offers labels for load(), folder by folder.
func (p *completion) labels() {
	word := p.cursor.Word
	folder := word[:strings.LastIndexByte(word, '/')+1]
	if folder == "" || folder == "/" {
		for _, label := range append([]string{"./", "//"}, p.loader.Roots(p.file)...) {
			p.text(label)
		}
		folder = "./"
	}
	for _, name := range p.loader.Entries(p.file, folder) {
		p.text(folder + name)
	}
}

// exports offers the names of a loaded file that the statement does not load yet.
func (p *completion) exports(texts []string) {
	from, err := p.loader.Load(p.file, texts[0])
	if err != nil {
		return
	}
	for _, s := range from.Exports() {
		if !slices.Contains(texts[1:], s.Name) {
			p.name(s, rankGlobal)
		}
	}
}

// choices offers the values of the argument at the cursor.
func (p *completion) choices(b *Bracket) {
	if b.Callee == "" || b.Head {
		return
	}
	fn := p.file.Lookup(p.loader, p.offset, b.Callee)
	i := fn.ParameterIndex(b)
	if i < 0 {
		return
	}
	param := &fn.Params[i]
	for _, c := range param.Choices {
		p.text(c)
	}
	if param.Resource {
		p.resources()
	}
}

// ParameterIndex returns the index of the parameter for the argument at the cursor, or -1.
func (s *Symbol) ParameterIndex(b *Bracket) int {
	if s == nil {
		return -1
	}
	if b.Argument != "" {
		return slices.IndexFunc(s.Params, func(p Param) bool { return p.Name == b.Argument })
	}
	for i := range s.Params {
		if s.Params[i].Star || i == b.Index {
			return i
		}
	}
	return -1
}
