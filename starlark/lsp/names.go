package lsp

import (
	"fmt"
	"strings"

	"torchx/starlark/analysis"
)

// completion lists the completions at an offset.
func (s *snapshot) completion(offset int) (completionList, error) {
	items, from := s.file.Complete(s, offset)
	list := completionList{Items: make([]completionItem, len(items))}
	at := s.rangeOf(min(from, offset), offset)
	for i, item := range items {
		list.Items[i] = completionItem{
			Label: item.Text, Kind: completionKind(item), Detail: item.Signature,
			SortText: fmt.Sprintf("%d%s", item.Rank, item.Name), TextEdit: textEdit{at, item.Text},
		}
		if item.Doc != "" {
			doc := s.markup(item.Doc)
			list.Items[i].Documentation = &doc
		}
		if item.Rank == 0 && !item.Plain { // arguments keep the order of the function
			list.Items[i].Label, list.Items[i].FilterText = item.Name+" =", item.Name
			list.Items[i].SortText = fmt.Sprintf("0%03d", i)
		}
	}
	return list, nil
}

// completionKind returns the CompletionItemKind of an item.
func completionKind(i analysis.Item) int {
	switch {
	case i.Plain && i.Rank > 0:
		return 14 // Keyword
	case i.Plain && strings.HasSuffix(i.Text, "/"):
		return 19 // Folder
	case i.Plain && strings.HasSuffix(i.Text, ".star"):
		return 17 // File
	case i.Plain:
		return 12 // Value
	}
	return itemKinds[i.Kind]
}

// itemKinds are CompletionItemKinds: function, variable, constant, property, field, module, class.
var itemKinds = map[analysis.Kind]int{
	analysis.Function: 3, analysis.Variable: 6, analysis.Constant: 21, analysis.Parameter: 10,
	analysis.Field: 5, analysis.Module: 9, analysis.Type: 7,
}

// hover describes the word at an offset; null if it is unknown.
func (s *snapshot) hover(offset int) (*hover, error) {
	r := s.file.Reference(s, offset)
	if r == nil {
		return nil, nil
	}
	h := &hover{Range: s.rangeOf(r.From, r.To)}
	if r.Loaded != nil {
		h.Contents = s.markup("`" + r.Loaded.Name + "`")
		return h, nil
	}
	h.Contents = s.markup(describe(r.Symbol))
	return h, nil
}

// describe returns the description of a symbol in Markdown.
func describe(sym *analysis.Symbol) string {
	text := "```starlark\n" + sym.Signature + "\n```"
	if sym.Label != "" {
		text += "\nfrom `" + sym.Label + "`"
	}
	if sym.Doc != "" {
		text += "\n\n" + sym.Doc
	}
	return text
}

// signature describes the open call at an offset; null for none.
func (s *snapshot) signature(offset int) (*signatureHelp, error) {
	c := s.file.At(offset)
	call := c.EnclosingCall()
	if call == nil || c.Region == analysis.InComment {
		return nil, nil
	}
	fn := s.file.Lookup(s, offset, call.Callee)
	if fn == nil || !fn.Callable {
		return nil, nil
	}
	info := signatureInformation{Label: strings.TrimPrefix(fn.Signature, "def "), Parameters: []parameterInformation{}}
	for _, p := range fn.Params {
		param := parameterInformation{Label: p.Text}
		if p.Doc != "" {
			doc := s.markup(p.Doc)
			param.Documentation = &doc
		}
		info.Parameters = append(info.Parameters, param)
	}
	if doc, _, _ := strings.Cut(fn.Doc, "\n\n"); doc != "" {
		short := s.markup(doc)
		info.Documentation = &short
	}
	// After the last parameter, no parameter is highlighted.
	active := fn.ParameterIndex(call)
	if active < 0 {
		active = len(fn.Params)
	}
	return &signatureHelp{Signatures: []signatureInformation{info}, ActiveParameter: active}, nil
}

// definition returns the location where the word at an offset is defined; none for built-in names.
func (s *snapshot) definition(offset int) ([]location, error) {
	r := s.file.Reference(s, offset)
	none := []location{}
	if r == nil {
		return none, nil
	}
	file, from, to := r.Loaded, 0, 0
	if file == nil {
		if r.File == nil {
			return none, nil
		}
		file, from, to = r.File, r.Start, r.End
	}
	uri, err := s.uriOfFile(file)
	if err != nil {
		return none, err
	}
	return []location{{uri, s.enc.textRange(&file.Lines, from, to)}}, nil
}

// uriOfFile returns the URI by which an editor opens a file.
func (s *snapshot) uriOfFile(file *analysis.File) (string, error) {
	if file == s.file || file.Source == nil || s.file.Source != nil &&
		file.Source.Key() == s.file.Source.Key() {
		return s.uri, nil
	}
	path, err := s.files.path(file)
	if err != nil {
		return "", err
	}
	return uriOf(path), nil
}

// symbols lists the definitions of the document.
func (s *snapshot) symbols() any {
	tree := []documentSymbol{}
	flat := []symbolInformation{}
	for _, sym := range s.file.Globals() {
		if sym.Label != "" || sym.File != s.file {
			continue
		}
		kind := map[analysis.Kind]int{analysis.Function: 12, analysis.Constant: 14}[sym.Kind]
		if kind == 0 {
			kind = 13 // Variable
		}
		whole := s.rangeOf(min(sym.From, sym.Start), max(sym.To, sym.End))
		tree = append(tree, documentSymbol{sym.Name, strings.TrimPrefix(sym.Signature, "def "), kind, whole, s.rangeOf(sym.Start, sym.End)})
		flat = append(flat, symbolInformation{sym.Name, kind, location{s.uri, whole}})
	}
	if s.client.TextDocument.DocumentSymbol.Hierarchical {
		return tree
	}
	return flat
}
