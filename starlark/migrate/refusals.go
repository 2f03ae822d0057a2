package migrate

import (
	_ "embed" // the table
	"strings"
	"sync"
)

//go:embed refusals.txt
var refusalsText string

// refusals returns the messages of refusals.txt by their keys.
var refusals = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(refusalsText) {
		if key, text, ok := strings.Cut(strings.TrimSpace(line), ": "); ok && key[0] != '#' {
			out[key] = text
		}
	}
	return out
})

// refuse notes a place that cannot be ported, with the message of a key of refusals.
func (p *porter) refuse(n *node, key string) value { return p.fail(n, "%s", refusals()[key]) }

// unsupported refuses a construct that is never ported.
func (p *porter) unsupported(n *node) value {
	if s, ok := refusals()[n.Kind]; ok {
		return p.fail(n, "%s", s)
	}
	return p.fail(n, "%s has no counterpart in Starlark", n.Kind)
}

// refuseName refuses an imported name.
func (p *porter) refuseName(n *node, full string) value {
	root, _, _ := strings.Cut(full, ".")
	key := "other"
	switch {
	case strings.HasPrefix(full, "."):
		key = "own file"
	case strings.Contains(" os pathlib subprocess shutil socket platform sys tempfile glob yaml configparser inspect importlib ", " "+root+" "):
		key = "os"
	case strings.Contains(" random time datetime uuid secrets ", " "+root+" "):
		key = "random"
	case root == "re":
		key = "re"
	case strings.Contains(" typing math json string shlex copy dataclasses enum collections itertools functools ", " "+root+" "):
		return p.fail(n, "%s has no counterpart in a component file: write its code here", full)
	case root == "torchx":
		return p.fail(n, "%s has no counterpart in a component file", full)
	}
	return p.fail(n, "%s has no counterpart in a component file: %s", full, refusals()[key])
}
