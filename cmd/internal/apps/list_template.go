package apps

import (
	"bufio"
	"bytes"
	"encoding/json"
	"strings"
	"text/template"
	"text/template/parse"

	"torchx/cmd/internal/program"
	"torchx/runtime/history"
)

// newTemplateWriter returns a writer of a template. One that ranges over "." prints all apps at
// the end, another each app.
func newTemplateWriter(out *bufio.Writer, text string) (listWriter, error) {
	t, err := template.New("list").Option("missingkey=error").Funcs(template.FuncMap{"json": jsonOf}).Parse(text)
	if err != nil {
		return nil, templateError(err)
	}
	if text == "" {
		return nil, program.Usagef("list", "the template is empty: write -o 'go-template={{.app_id}}'")
	}
	if rangesOverAll(t.Root) {
		return &allTemplate{template: t, out: out}, nil
	}
	var line bytes.Buffer
	return &lineWriter{out: out, line: func(a *history.View) error {
		fields, err := templateFields(a)
		if err != nil {
			return err
		}
		line.Reset()
		if err := t.Execute(&line, fields); err != nil {
			return templateError(err)
		}
		if !bytes.HasSuffix(line.Bytes(), []byte("\n")) {
			line.WriteByte('\n')
		}
		_, err = out.Write(line.Bytes())
		return err
	}}, nil
}

// allTemplate executes a template once, for all apps.
type allTemplate struct {
	template *template.Template
	out      *bufio.Writer
	apps     []map[string]any
}

func (w *allTemplate) add(a *history.View) error {
	fields, err := templateFields(a)
	w.apps = append(w.apps, fields)
	return err
}

func (w *allTemplate) end() error {
	if err := w.template.Execute(w.out, w.apps); err != nil {
		return templateError(err)
	}
	return w.out.Flush()
}

// rangesOverAll reports whether a template has a {{range .}} outside of others.
func rangesOverAll(list *parse.ListNode) bool {
	for _, node := range list.Nodes {
		if r, ok := node.(*parse.RangeNode); ok && len(r.Pipe.Cmds) == 1 &&
			len(r.Pipe.Cmds[0].Args) == 1 && r.Pipe.Cmds[0].Args[0].Type() == parse.NodeDot {
			return true
		}
	}
	return false
}

// templateFields returns an app as --json has it, with whole numbers as integers.
func templateFields(a *history.View) (map[string]any, error) {
	o := newListObject(a)
	data, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	var fields map[string]any
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, err
	}
	if o.ExitCode != nil {
		fields["exit_code"] = *o.ExitCode
	}
	return fields, nil
}

func jsonOf(v any) (string, error) {
	data, err := json.Marshal(v)
	return string(data), err
}

// templateError returns a usage error without the template package's preamble.
func templateError(err error) error {
	text := strings.TrimPrefix(err.Error(), "template: list:")
	if _, after, ok := strings.Cut(text, `executing "list" at `); ok {
		text = after
	}
	return program.Usagef("list", "the template is invalid: %s",
		strings.Replace(text, "map has no entry for key", "no field", 1))
}
