package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"torchx/test/homedir"

	"github.com/urfave/cli/v2"

	"torchx/test/long"
)

// notRun are examples of help that are not run, with the reason.
var notRun = map[string]string{
	"torchx run --tty utils.sh -c 'exec python3'":                                 "needs a terminal",
	"torchx run --watch train.star:train":                                         "runs until Ctrl-C",
	"torchx attach --tty -":                                                       "needs a terminal",
	"torchx lib add acme https://github.com/acme/components.git v1.2.0":           "needs a network",
	"torchx lib add --path torchx/lib tools ssh://git@example.com/infra.git main": "needs a network",
	"torchx lib update acme@v1.3.0":                                               "needs a network",
	"torchx lsp --stdio":                                                          "needs an editor",
	"torchx exec -t - -- sh":                                                      "needs a terminal",
	"torchx port-forward - 6006":                                                  "runs until Ctrl-C",
	"torchx port-forward sh/sh/0 8080:80 9000":                                    "runs until Ctrl-C",
	`torchx completion zsh > "${fpath[1]}/_torchx"`:                               "needs zsh",
}

// exampleProject holds the files that examples read.
var exampleProject = map[string]string{
	"project/kubeconfig.yaml":            "apiVersion: v1\nkind: Config\n",
	"project/comp.py":                    "import torchx.specs as specs\n\n\ndef f(msg: str = \"hi\") -> specs.AppDef:\n    \"\"\"Prints.\"\"\"\n    return specs.AppDef(name=\"f\", roles=[specs.Role(name=\"f\", image=\"i\", entrypoint=\"echo\", args=[msg])])\n",
	"shared/greet.star":                  "def hello():\n    \"\"\"Greets.\"\"\"\n    return specs.AppDef(name = \"hello\", roles = [specs.Role(name = \"r\", image = \"\", entrypoint = \"echo\", args = [\"hello\"])])\n",
	"shared-fork/greet.star":             "def hello():\n    pass\n",
	"you/.config/fish/completions/.keep": "",
}

// TestHelpExamples runs the examples of each command's help as they are typed, after
//
//	torchx run utils.echo --msg hello
//	torchx lib add shared ../shared      (lib COMMAND)
//	touch .torchxconfig                  (config, config trust)
//	a sweep that draws values            (sweep resume)
//	an app that records a metric         (metrics, list)
//	an app in a file                     (import)
//	an app that runs                     (exec, cp)
//
// diff exits with 1 where it finds a difference.
func TestHelpExamples(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	eachCommand(commandLine().Commands, "", func(name string, c *cli.Command) {
		_, text, _ := strings.Cut(c.UsageText, "\n")
		examples := strings.Split(text, "\n")
		for _, e := range examples {
			seen[e] = true
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if !slices.Contains([]string{"run", "list", "log", "status"}, name) {
				long.Test(t)
			}
			runExamples(t, name, examples)
		})
	})
	for e := range notRun {
		if !seen[e] {
			t.Errorf("no help has the example %s, which is not run", e)
		}
	}
}

func runExamples(t *testing.T, name string, examples []string) {
	t.Helper()
	dir := homedir.New(t)
	for file, text := range exampleProject {
		path := filepath.Join(dir, file)
		must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must(t, os.WriteFile(path, []byte(text), 0o600))
	}
	env := append(os.Environ(), "HOME="+filepath.Join(dir, "you"), "TORCHX_HOME="+filepath.Join(dir, "home"), "TORCHXCONFIG=")
	ctx, cancel := context.WithTimeout(t.Context(), consoleTime)
	defer cancel()
	before := []string{"torchx run utils.echo --msg hello"}
	if strings.HasPrefix(name, "lib ") && name != "lib add" {
		before = append(before, "torchx lib add shared ../shared")
	}
	if name == "config" || name == "config trust" {
		before = append(before, "touch .torchxconfig")
	}
	if name == "sweep resume" {
		before = append(before, "torchx sweep --random 1 --choice msg=a,b utils.echo")
	}
	if name == "import" {
		before = append(before, "torchx export - -o run.tar.zst")
	}
	if name == "metrics" || name == "list" {
		before = append(before, `torchx run utils.sh -c 'echo "{\"step\": 1, \"loss\": 0.5}" >> $TORCHX_METRICS'`)
	}
	if name == "list" { // the history gets metrics after the end
		before = append(before, `until torchx list --sort 'min(loss)'; do sleep 0.1; done`)
	}
	if name == "exec" || name == "cp" {
		before = append(before, "mkdir results; touch results/a config.yaml", "torchx run -d utils.sh sleep 600")
	}
	// Apps that an example leaves running would hold the folder until they end.
	after := "for app in $(torchx list -q --state running); do torchx cancel --force --wait $app || exit; done"
	for _, line := range slices.Concat(before, examples, []string{after}) {
		if notRun[line] != "" {
			continue
		}
		cmd := exec.CommandContext(ctx, "bash", "-c", line)
		cmd.Dir, cmd.Env = filepath.Join(dir, "project"), env
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if err != nil && (name != "diff" || !errors.As(err, &exit) || exit.ExitCode() != 1) {
			t.Errorf("%s: %v\n%s", line, err, out)
		}
	}
}
