package image

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"

	"github.com/docker/docker/api/types/image"

	"torchx/backends/workspace"
)

// runBuildx builds with the buildx plugin of the docker program: BuildKit speaks
// a protocol of its own, which the engine's API does not have. why says what needs it.
func (b *Build) runBuildx(ctx context.Context, e Engine, why string) error {
	if err := b.buildx(ctx, e, "version").Run(); err != nil {
		return fmt.Errorf("%s needs BuildKit: install the docker buildx plugin, or do without it", why)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	sent := b.send(ctx)
	defer sent.close()
	c := b.buildx(ctx, e, b.arguments()...)
	c.Stdin = sent.body
	out := &output{build: b}
	err := runLines(c, out)
	if err != nil {
		out.showTail()
		return sent.because(fmt.Errorf("docker buildx: %w", err))
	}
	if name := sent.wait(); name != b.Name {
		_, _ = e.ImageRemove(context.WithoutCancel(ctx), b.Name, image.RemoveOptions{PruneChildren: true}) // it is not what its name says
		return errChanged
	}
	return nil
}

// buildx is the plugin, for the engine that we use.
func (b *Build) buildx(ctx context.Context, e Engine, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, "docker", append([]string{"buildx"}, args...)...)
	c.Env = append(os.Environ(), "DOCKER_HOST="+e.DaemonHost())
	return c
}

func (b *Build) arguments() []string {
	args := []string{"build", "--load", "--progress=plain", "--tag", b.Name, "--file", workspace.Dockerfile}
	for _, pair := range sorted(b.Tree.BuildArgs(b.Base)) {
		args = append(args, "--build-arg", pair)
	}
	for _, pair := range sorted(b.Labels) {
		args = append(args, "--label", pair)
	}
	return append(args, "-")
}

func sorted(m map[string]string) []string {
	var pairs []string
	for k, v := range m {
		pairs = append(pairs, k+"="+v)
	}
	slices.Sort(pairs)
	return pairs
}

// runLines runs a program and hands its output out by lines.
func runLines(c *exec.Cmd, out *output) error {
	r, w := io.Pipe()
	c.Stdout, c.Stderr = w, w
	read := make(chan struct{})
	go func() {
		defer close(read)
		in := bufio.NewReader(r)
		for {
			line, err := in.ReadString('\n')
			out.write(line)
			if err != nil {
				return
			}
		}
	}()
	err := c.Run()
	w.Close()
	<-read
	out.flush()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return fmt.Errorf("it ended with exit code %d, its output says why", exit.ExitCode())
	}
	return err
}
