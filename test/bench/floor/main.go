// Floor is the least a program with torchx's libraries can do: start, print, end.
package main

import (
	"os"

	_ "github.com/fsnotify/fsnotify"
	_ "github.com/urfave/cli/v2"
	_ "go.starlark.net/starlark"
	_ "modernc.org/sqlite"
)

func main() { _, _ = os.Stdout.WriteString("floor\n") }
