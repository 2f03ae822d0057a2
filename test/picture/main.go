// Command picture runs a short session of torchx on a pseudo-terminal and writes the screen
// as an SVG: `make picture`. The session is real, so the picture can be regenerated.
package main

import (
	"context"
	"fmt"
	"html"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/creack/pty"
)

const (
	columns    = 80
	lineHeight = 19 // pixels
	charWidth  = 8.4
	margin     = 16
)

// session is the typed commands. Their component is train, below.
var session = []string{
	"torchx run train.star:train --epochs 2",
	"torchx run -d train.star:train --epochs 900   # leave it, close the terminal",
	"torchx list                                   # from any other one",
	"torchx cancel --wait -",
	"torchx run train.star:train --data no.csv",
	"echo $?",
}

const train = `
def train(epochs = 3, data = "train.csv", workers = 2):
    """Trains on several workers.

    Args:
        epochs (int): passes over the data
        data (str): the data
        workers (int): number of workers
    """
    script = 'if [ $2 = no.csv ]; then echo "cannot open $2" >&2; exit 3; fi; for e in $(seq $1); do echo epoch $e loss 0.$((9 - e % 9)); sleep 0.2; done'
    return specs.AppDef(name = "train", roles = [specs.Role(
        name = "worker", image = "", entrypoint = "sh", args = ["-c", script.replace("$", "$$"), "sh", str(epochs), data],
        num_replicas = workers, resource = specs.resource(cpu = 1, memMB = 512),
    )])
`

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("usage: picture TORCHX FILE.svg")
	}
	screen, err := run(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(os.Args[2], []byte(svg(screen)), 0o644); err != nil { //nolint:gosec // a public picture
		log.Fatal(err)
	}
}

// run returns the screen of the terminal.
func run(program string) (string, error) {
	dir, err := os.MkdirTemp("", "picture")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	program, err = filepath.Abs(program)
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(dir, "train.star"), []byte(train), 0o600); err != nil {
		return "", err
	}
	var screen strings.Builder
	code := 0
	for _, line := range session {
		fmt.Fprintf(&screen, "\x1b[32m$\x1b[0m %s\n", line)
		cmd := exec.CommandContext(context.Background(), "bash", "-c",
			fmt.Sprintf("(exit %d)\n%s", code, line))
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(program)+":"+os.Getenv("PATH"),
			"HOME="+dir, "TORCHX_HOME="+dir+"/.torchx", "TERM=xterm-256color")
		terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: columns})
		if err != nil {
			return "", err
		}
		_, _ = io.Copy(&screen, terminal) // ends with an error when the program does
		_ = cmd.Wait()                    // its exit code is shown
		code = cmd.ProcessState.ExitCode()
	}
	return strings.ReplaceAll(screen.String(), "\r", ""), nil
}

// colors maps the SGR parameters that torchx prints to colors.
var colors = map[string]string{
	"31": "#f47067", "32": "#8ddb8c", "33": "#daaa3f", "34": "#6cb6ff", "35": "#dcbdfb", "36": "#76e3ea",
	"91": "#ff938a", "92": "#8ddb8c", "93": "#eac55f", "94": "#96d0ff", "95": "#eecdff", "96": "#b3f0ff",
	"90": "#768390", "2": "#768390",
}

// svg draws lines of text with SGR colors.
func svg(screen string) string {
	var lines []string
	for line := range strings.Lines(screen) {
		for line = strings.TrimRight(line, "\n"); ; {
			head, rest := wrap(line)
			lines = append(lines, head)
			if line = rest; line == "" {
				break
			}
		}
	}
	width, height := columns*charWidth+2*margin, len(lines)*lineHeight+2*margin
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%d" viewBox="0 0 %.0f %d" role="img" aria-label="A session of torchx in a terminal">`+"\n", width, height, width, height)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" rx="8" fill="#1c2128"/>`+"\n"+`<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="14" fill="#cdd9e5" xml:space="preserve">`+"\n")
	for i, line := range lines {
		fmt.Fprintf(&b, `<text x="%d" y="%d">%s</text>`+"\n", margin,
			margin+(i+1)*lineHeight-5, spans(line))
	}
	b.WriteString("</g>\n</svg>\n")
	return b.String()
}

// wrap splits a line at the width of the terminal. Escape sequences have no width.
func wrap(line string) (head, rest string) {
	width, inEscape := 0, false
	for i, r := range line {
		switch {
		case inEscape:
			inEscape = r != 'm'
		case r == '\x1b':
			inEscape = true
		case width == columns:
			return line[:i], line[i:]
		default:
			width++
		}
	}
	return line, ""
}

// spans turns SGR sequences into colored spans.
func spans(line string) string {
	var b strings.Builder
	color, weight := "", ""
	for part := range strings.SplitSeq(line, "\x1b[") {
		if codes, text, ok := strings.Cut(part, "m"); ok &&
			strings.Trim(codes, "0123456789;") == "" && b.Len() > 0 {
			for code := range strings.SplitSeq(codes, ";") {
				switch {
				case code == "" || code == "0":
					color, weight = "", ""
				case code == "1":
					weight = ` font-weight="bold"`
				case colors[code] != "":
					color = fmt.Sprintf(` fill="%s"`, colors[code])
				}
			}
			part = text
		}
		fmt.Fprintf(&b, "<tspan%s%s>%s</tspan>", color, weight, html.EscapeString(part))
	}
	return strings.ReplaceAll(b.String(), "<tspan></tspan>", "")
}
