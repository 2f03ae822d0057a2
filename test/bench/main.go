// Bench measures torchx as its users see it, each figure next to a floor that was
// measured in the same run: machines differ, ratios travel.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// bench is one line of the table.
type bench struct {
	name, floorName string
	torchx, floor   func() error
	runs            int
	bytes           int64 // read by each run; 0: the time is the figure
}

func main() {
	bin := flag.String("torchx", "bin/torchx", "the program to measure")
	runs := flag.Int("runs", 11, "runs of each line")
	size := flag.Int64("log", 256<<20, "bytes of the log that is read")
	flag.Parse()
	if err := run(*bin, *runs, *size); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(bin string, runs int, size int64) error {
	bin, err := filepath.Abs(bin)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "torchx-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	w := &world{bin: bin, dir: dir}
	benches, err := w.benches(runs, size)
	if err != nil {
		return err
	}
	t := tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "what\ttorchx\tfloor\tratio\tfloor is")
	for _, b := range benches {
		if err := b.print(t); err != nil {
			return fmt.Errorf("%s: %w", b.name, err)
		}
	}
	return t.Flush()
}

// print runs both sides in turn, so that both see the same machine.
func (b bench) print(t *tabwriter.Writer) error {
	var ours, floors []time.Duration
	for range b.runs {
		d, err := timed(b.torchx)
		if err != nil {
			return err
		}
		ours = append(ours, d)
		if d, err = timed(b.floor); err != nil {
			return fmt.Errorf("floor: %w", err)
		}
		floors = append(floors, d)
	}
	o, f := median(ours), median(floors)
	fmt.Fprintf(t, "%s\t%s\t%s\t%.2f\t%s\n", b.name, b.figure(o), b.figure(f), float64(o)/float64(f), b.floorName)
	return nil
}

func (b bench) figure(d time.Duration) string {
	if b.bytes > 0 {
		return fmt.Sprintf("%.0f MB/s", float64(b.bytes)/1e6/d.Seconds())
	}
	return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
}

func timed(f func() error) (time.Duration, error) {
	start := time.Now()
	err := f()
	return time.Since(start), err
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// world is the folder and the program of one run.
type world struct{ bin, dir string }

func (w *world) benches(runs int, size int64) ([]bench, error) {
	floor := filepath.Join(w.dir, "floor")
	if err := w.sh("go build -trimpath -o " + floor + " ./test/bench/floor"); err != nil {
		return nil, err
	}
	handle, file, err := w.makeLog(size)
	if err != nil {
		return nil, err
	}
	log := func(name, script string) bench {
		return bench{
			name, "cat of the same bytes", w.command(w.bin + " log " + script + " > /dev/null"),
			w.command("cat " + file + " > /dev/null"), min(runs, 5), size,
		}
	}
	return []bench{
		{"torchx version", "a Go program with the same libraries", w.command(w.bin + " version"), w.command(floor), runs, 0},
		{"run --dryrun dist.ddp", "the same", w.command(w.bin + " run --dryrun dist.ddp -j 2x2 --script x.py"), w.command(floor), runs, 0},
		{"run utils.echo to its end", "sh -c 'echo hello world'", w.command(w.bin + " run utils.echo"), w.command("echo hello world"), runs, 0},
		{
			"100 replicas of /bin/true", "a shell starting 100", w.command(w.bin + " run utils.binary --entrypoint /bin/true --num_replicas 100"),
			w.command("i=0; while [ $i -lt 100 ]; do /bin/true & i=$((i+1)); done; wait"), runs, 0,
		},
		{"list", "a Go program with the same libraries", w.command(w.bin + " list"), w.command(floor), runs, 0},
		{"status", "the same", w.command(w.bin + " status " + handle), w.command(floor), runs, 0},
		log("log, one replica", handle+"/lines/0"),
		log("log, with prefixes", handle),
		log("log --regex, with prefixes", handle+" --regex 7777"),
	}, nil
}

// makeLog runs an app that prints size bytes in lines of 100.
func (w *world) makeLog(size int64) (handle, file string, err error) {
	logs := filepath.Join(w.dir, "logs")
	line := strings.Repeat("x", 92)
	script := fmt.Sprintf(`seq -f "%%07.0f %s" %d`, line[:91], size/100)
	component := filepath.Join(w.dir, "lines.star")
	source := fmt.Sprintf("def lines():\n    \"\"\"Prints lines.\"\"\"\n    return specs.AppDef(name = \"lines\", roles = [specs.Role(name = \"lines\", image = \"\", entrypoint = \"sh\", args = [\"-c\", %q])])\n", script)
	if err := os.WriteFile(component, []byte(source), 0o600); err != nil {
		return "", "", err
	}
	out, err := w.exec(w.bin + " run -d -cfg log_dir=" + logs + " " + component + ":lines")
	if err != nil {
		return "", "", err
	}
	handle = strings.TrimSpace(out)
	if _, err := w.exec(w.bin + " wait " + handle); err != nil {
		return "", "", err
	}
	id := handle[strings.LastIndexByte(handle, '/')+1:]
	return handle, filepath.Join(logs, "torchx", id, "lines", "0", "stdout.log"), nil
}

func (w *world) command(script string) func() error {
	return func() error { return w.sh(script) }
}

func (w *world) sh(script string) error {
	_, err := w.exec(script)
	return err
}

func (w *world) exec(script string) (string, error) {
	cmd := exec.CommandContext(context.Background(), "sh", "-c", script)
	cmd.Env = append(os.Environ(), "TORCHX_HOME="+filepath.Join(w.dir, "home"))
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w: %s", script, err, stderr.String())
	}
	return stdout.String(), nil
}
