package image

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/docker/docker/api/types/build"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/api/types/registry"

	"torchx/backends/workspace"
	"torchx/runtime/backend"
)

const (
	// shortHash is how many digits of a hash are shown.
	shortHash = 8
	// tailLines of a quiet build are shown when it fails.
	tailLines = 20
)

// Build makes an image of a workspace.
type Build struct {
	Tree     *workspace.Tree
	Base     string // the image it is built from
	Name     string // what Tree.Name returned for Base
	Labels   map[string]string
	Quiet    bool // output is shown only if the build fails
	Progress backend.Progress
}

var errChanged = errors.New("files have changed since the app was planned: run it again")

// Run builds the image and names it. The name is given only if what was sent is
// what the name stands for, so a name never lies. Errors: one line; the build's
// output goes to Progress.
func (b *Build) Run(ctx context.Context, e Engine) (err error) {
	defer func() { b.tell(backend.Step{Ended: true, Failed: err != nil}) }()
	b.tell(backend.Step{Text: "sending files", Total: b.Tree.Bytes})
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if line, what := needsBuildKit(b.Tree.Dockerfile); what != "" {
		err = b.runBuildx(ctx, e, fmt.Sprintf("%s, line %d: %s", workspace.Dockerfile, line, what))
	} else {
		err = b.runClassic(ctx, e)
	}
	if err != nil {
		return fmt.Errorf("build the workspace %s from %s: %w", b.Tree.Projects[0].Path, b.Base, err)
	}
	return nil
}

// tell reports a step under the build's name, with as much of the hash as tells builds
// apart.
func (b *Build) tell(s backend.Step) {
	_, hash, _ := strings.Cut(b.Name, ":")
	s.Name = "build workspace " + hash[:min(len(hash), shortHash)]
	b.Progress.Tell(s)
}

// runClassic builds with the builder inside the engine.
func (b *Build) runClassic(ctx context.Context, e Engine) error {
	sent := b.send(ctx)
	defer sent.close()
	answer, err := e.ImageBuild(ctx, sent.body, b.options())
	if err != nil {
		return sent.because(err)
	}
	defer answer.Body.Close()
	id, out := "", &output{build: b}
	err = readMessages(answer.Body, func(m message) {
		if m.Aux.ID != "" {
			id = m.Aux.ID
		}
		_, _ = out.Write([]byte(m.Stream))
		if m.Status != "" { // a base image that is pulled
			b.tell(backend.Step{Text: m.Status})
		}
	})
	if out.end(err); err != nil {
		return sent.because(err)
	}
	if err := b.checkSent(ctx, e, sent, id); err != nil {
		return err
	}
	if id == "" {
		return errors.New("the engine does not say which image it has built")
	}
	return e.ImageTag(ctx, id, b.Name)
}

// checkSent removes an image that is not what its name stands for.
func (b *Build) checkSent(ctx context.Context, e Engine, sent *sending, id string) error {
	if sent.close(); sent.name == b.Name {
		return nil
	}
	_, _ = e.ImageRemove(context.WithoutCancel(ctx), id, image.RemoveOptions{PruneChildren: true}) // it would only take room
	return errChanged
}

func (b *Build) options() build.ImageBuildOptions {
	args := map[string]*string{}
	for k, v := range b.Tree.BuildArgs(b.Base) {
		args[k] = &v
	}
	auths := map[string]registry.AuthConfig{}
	for _, ref := range Bases(b.Tree.Dockerfile, b.Base) {
		if parsed, err := parse(ref); err == nil {
			if c, ok := parsed.credentials(); ok {
				auths[c.ServerAddress] = c
			}
		}
	}
	return build.ImageBuildOptions{
		Dockerfile: workspace.Dockerfile, BuildArgs: args, Labels: b.Labels, Version: build.BuilderV1,
		Remove: true, ForceRemove: true, // no container stays behind, failed or not
		AuthConfigs: auths,
	}
}

// runBuildx builds with the buildx plugin of the docker program: BuildKit has a
// protocol of its own, which the engine's API does not offer. why says what needs it.
func (b *Build) runBuildx(ctx context.Context, e Engine, why string) error {
	if err := buildx(ctx, e, "version").Run(); err != nil {
		return fmt.Errorf("%s needs BuildKit: install the docker buildx plugin, or do without it", why)
	}
	args := []string{"build", "--load", "--progress=plain", "--tag", b.Name, "--file", workspace.Dockerfile}
	args = append(args, pairs("--build-arg", b.Tree.BuildArgs(b.Base))...)
	args = append(args, pairs("--label", b.Labels)...)
	sent, out := b.send(ctx), &output{build: b}
	defer sent.close()
	c := buildx(ctx, e, append(args, "-")...)
	c.Stdin, c.Stdout, c.Stderr = sent.body, out, out
	err := c.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("it ended with exit code %d, its output says why", exit.ExitCode())
	}
	if out.end(err); err != nil {
		return sent.because(fmt.Errorf("docker buildx: %w", err))
	}
	return b.checkSent(ctx, e, sent, b.Name)
}

// buildx returns a command of the plugin, for the engine that we use.
func buildx(ctx context.Context, e Engine, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, "docker", append([]string{"buildx"}, args...)...)
	c.Env = append(os.Environ(), "DOCKER_HOST="+e.DaemonHost())
	return c
}

// pairs returns a flag for each entry, in order.
func pairs(flag string, m map[string]string) (args []string) {
	var all []string
	for k, v := range m {
		all = append(all, k+"="+v)
	}
	slices.Sort(all)
	for _, pair := range all {
		args = append(args, flag, pair)
	}
	return args
}

// sending is a build context on its way.
type sending struct {
	body *io.PipeReader
	done chan struct{}
	name string // what was sent stands for
	err  error
}

func (b *Build) send(ctx context.Context) *sending {
	r, w := io.Pipe()
	s := &sending{body: r, done: make(chan struct{})}
	go func() {
		defer close(s.done)
		s.name, s.err = b.Tree.Write(ctx, b.Base, &counter{out: w, build: b})
		w.CloseWithError(s.err)
	}()
	return s
}

// close returns when nothing is sent any more.
func (s *sending) close() {
	s.body.Close()
	<-s.done
}

// because returns why sending failed, or else what the engine made of what was sent.
func (s *sending) because(err error) error {
	s.close()
	if s.err != nil && !errors.Is(s.err, io.ErrClosedPipe) {
		return s.err
	}
	return err
}

// counter reports how much is sent.
type counter struct {
	out   io.Writer
	build *Build
	done  int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.out.Write(p)
	c.done += int64(n)
	total := c.build.Tree.Bytes
	c.build.tell(backend.Step{Done: min(c.done, total), Total: total})
	return n, err
}

// output makes lines of a build's output.
type output struct {
	build *Build
	rest  string
	tail  []string // of a quiet build
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	o.rest += string(p)
	for {
		line, rest, found := strings.Cut(o.rest, "\n")
		if !found {
			return len(p), nil
		}
		o.rest = rest
		o.line(line)
	}
}

func (o *output) line(line string) {
	line = strings.TrimRight(line, "\r ")
	switch {
	case line == "":
	case o.build.Quiet:
		o.tail = append(o.tail[max(0, len(o.tail)-tailLines+1):], line)
	default:
		o.build.tell(backend.Step{Text: "building", Output: line})
	}
}

// end shows a last line, and what a quiet build printed before it failed.
func (o *output) end(err error) {
	o.line(o.rest)
	o.rest = ""
	if err == nil {
		return
	}
	for _, line := range o.tail {
		o.build.tell(backend.Step{Output: line})
	}
}
