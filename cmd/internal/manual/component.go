package manual

import (
	"context"
	"slices"
	"strings"
	"time"

	"torchx/starlark/component"
)

// completeTime bounds the evaluation of a component file while the user waits.
const completeTime = time.Second

// componentArgument offers the parameters of a component and their values. Files are
// offered if the component cannot be loaded.
func (c *completer) componentArgument(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, completeTime)
	defer cancel()
	c.files = !strings.HasPrefix(c.current, "-")
	found := c.componentOnLine(ctx)
	if found == nil {
		return
	}
	given := c.line.positionals[1:]
	option, value, hasValue := strings.Cut(c.current, "=")
	switch p := pendingParam(found, given); {
	case p != nil && !strings.HasPrefix(c.current, "-"):
		c.offer(p, "", c.current)
		if rest := variadic(found); rest != nil && p.IsSwitch() {
			c.offer(rest, "", c.current) // a switch needs no value
		}
	case optionsEnded(found, given) || !strings.HasPrefix(c.current, "-"):
		c.operand(found, given)
	case hasValue:
		if p := paramOf(found, option); p != nil {
			c.offer(p, option+"=", value)
		}
	default:
		c.params(found, given)
	}
}

// componentOnLine returns the component that the line runs, or nil.
func (c *completer) componentOnLine(ctx context.Context) *component.Component {
	name, f := c.line.positionals[0], c.Factory
	if c.line.verb.Name == "rerun" {
		name, f = c.componentOf(ctx, name)
	}
	if name == "" {
		return nil
	}
	loader, err := f.Loader()
	if err != nil {
		return nil
	}
	found, err := loader.Find(ctx, name)
	if err != nil {
		return nil
	}
	return found
}

// pendingParam returns the parameter whose option precedes the cursor, or nil.
func pendingParam(found *component.Component, given []string) *component.Param {
	if n := len(given); n > 0 && !strings.Contains(given[n-1], "=") &&
		!slices.Contains(given, "--") {
		return paramOf(found, given[n-1])
	}
	return nil
}

// optionsEnded reports whether further words can only be *args.
func optionsEnded(found *component.Component, given []string) bool {
	for i, word := range given {
		if word == "--" {
			return true
		}
		value := pendingParam(found, given[:i]) != nil
		if !strings.HasPrefix(word, "-") && !value {
			return true
		}
	}
	return false
}

// variadic returns the parameter *args, or nil.
func variadic(found *component.Component) *component.Param {
	for i := range found.Params {
		if found.Params[i].Variadic {
			return &found.Params[i]
		}
	}
	return nil
}

// operand offers values of *args, or options if the component has no *args.
func (c *completer) operand(found *component.Component, given []string) {
	if p := variadic(found); p != nil {
		c.offer(p, "", c.current)
		c.files = c.files && !strings.HasPrefix(c.current, "-")
		return
	}
	c.params(found, given)
}

// offer offers values of a parameter; before is the text before the value in the same word.
func (c *completer) offer(p *component.Param, before, typed string) {
	o := p.Offer()
	c.files = o.Files
	if o.List {
		done := typed[:strings.LastIndexByte(typed, ',')+1]
		before += done
		c.files = c.files && done == "" // a shell completes whole words only
	}
	for _, w := range o.Words {
		c.add(before+w, "")
	}
}

func (c *completer) params(found *component.Component, given []string) {
	c.files = false
	for i := range found.Params {
		p := &found.Params[i]
		used := slices.ContainsFunc(given, func(arg string) bool { return paramOf(found, arg) == p })
		if p.Variadic || used {
			continue
		}
		name := "--" + p.Name
		if p.Short() {
			name = "-" + p.Name
		}
		c.add(name, p.Help)
	}
	c.add("--help", "explain the component and its arguments")
}

// paramOf returns the parameter of an argument such as --name=value, or nil.
func paramOf(found *component.Component, arg string) *component.Param {
	name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
	if !strings.HasPrefix(arg, "-") {
		return nil
	}
	for i := range found.Params {
		if found.Params[i].Name == strings.ReplaceAll(name, "-", "_") {
			return &found.Params[i]
		}
	}
	return nil
}
