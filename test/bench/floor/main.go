// Floor does the minimum of a program with torchx's libraries: it starts, prints a line and
// exits. With an argument it first waits for EOF on its input.
package main

import (
	"io"
	"os"

	_ "github.com/docker/cli/cli/config"
	_ "github.com/docker/docker/client"
	_ "github.com/fsnotify/fsnotify"
	_ "github.com/google/go-containerregistry/pkg/name"
	_ "github.com/urfave/cli/v2"
	_ "go.starlark.net/starlark"
	_ "k8s.io/api/batch/v1"
	_ "k8s.io/api/core/v1"
	_ "k8s.io/client-go/rest"
	_ "k8s.io/client-go/tools/clientcmd"
	_ "modernc.org/sqlite"
)

func main() {
	if len(os.Args) > 1 {
		_, _ = io.Copy(io.Discard, os.Stdin)
	}
	_, _ = os.Stdout.WriteString("floor\n")
}
