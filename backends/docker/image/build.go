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
	// shortHash is the number of digits shown of a hash.
	shortHash = 8
	// tailLines is the number of lines shown of a quiet build that fails.
	tailLines = 20
)

// Build builds the image of a workspace.
type Build struct {
	Tree     *workspace.Tree
	Base     string // the image to build from
	Name     string // as returned by Tree.Name for Base
	Labels   map[string]string
	Quiet    bool // show output only if the build fails
	Progress backend.Progress
}

var errChanged = errors.New("files have changed since the app was planned: run it again")

// Run builds the image and tags it with its name, but only if the files that were sent
// have the hash in the name. Errors: one line; the build's output goes to Progress.
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
		return fmt.Errorf("build workspace %s from %s: %w", b.Tree.Projects[0].Path, b.Base, err)
	}
	return nil
}

// tell reports a step under the build's name with the start of its hash.
func (b *Build) tell(s backend.Step) {
	_, hash, _ := strings.Cut(b.Name, ":")
	s.Name = "build workspace " + hash[:min(len(hash), shortHash)]
	b.Progress.Tell(s)
}

// runClassic builds with the engine's own builder.
func (b *Build) runClassic(ctx context.Context, e Engine) error {
	sent := b.send(ctx)
	defer sent.close()
	resp, err := e.ImageBuild(ctx, sent.body, b.options())
	if err != nil {
		return sent.cause(err)
	}
	defer resp.Body.Close()
	id, out := "", &output{build: b}
	err = readMessages(resp.Body, func(m message) {
		if m.Aux.ID != "" {
			id = m.Aux.ID
		}
		_, _ = out.Write([]byte(m.Stream))
		if m.Status != "" { // the pull of a base image
			b.tell(backend.Step{Text: m.Status})
		}
	})
	if out.end(err); err != nil {
		return sent.cause(err)
	}
	if err := b.checkSent(ctx, e, sent, id); err != nil {
		return err
	}
	if id == "" {
		return errors.New("the engine did not report the ID of the image")
	}
	return e.ImageTag(ctx, id, b.Name)
}

// checkSent removes the image if its content does not match its name.
func (b *Build) checkSent(ctx context.Context, e Engine, sent *sending, id string) error {
	if sent.close(); sent.name == b.Name {
		return nil
	}
	_, _ = e.ImageRemove(context.WithoutCancel(ctx), id, image.RemoveOptions{PruneChildren: true}) // it only uses disk space
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
		Remove: true, ForceRemove: true, // leave no container, even after a failure
		AuthConfigs: auths,
	}
}

// runBuildx builds with the buildx plugin of the docker command, because the engine's API
// does not offer the protocol of BuildKit. why is what needs it.
func (b *Build) runBuildx(ctx context.Context, e Engine, why string) error {
	if err := buildx(ctx, e, "version").Run(); err != nil {
		return fmt.Errorf("%s needs BuildKit: install the docker buildx plugin, or remove it", why)
	}
	args := []string{"build", "--load", "--progress=plain", "--tag", b.Name, "--file", workspace.Dockerfile}
	args = append(args, pairs("--build-arg", b.Tree.BuildArgs(b.Base))...)
	args = append(args, pairs("--label", b.Labels)...)
	if p, ok := e.(platformEngine); ok {
		args = append(args, "--platform", p.platform)
	}
	sent, out := b.send(ctx), &output{build: b}
	defer sent.close()
	c := buildx(ctx, e, append(args, "-")...)
	c.Stdin, c.Stdout, c.Stderr = sent.body, out, out
	err := c.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("exit code %d, see its output", exit.ExitCode())
	}
	if out.end(err); err != nil {
		return sent.cause(fmt.Errorf("docker buildx: %w", err))
	}
	return b.checkSent(ctx, e, sent, b.Name)
}

// buildx returns a command of the plugin for the same engine.
func buildx(ctx context.Context, e Engine, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, "docker", append([]string{"buildx"}, args...)...)
	c.Env = append(os.Environ(), "DOCKER_HOST="+e.DaemonHost())
	return c
}

// pairs returns a flag for each entry, sorted.
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

// sending is a build context that is being sent.
type sending struct {
	body *io.PipeReader
	done chan struct{}
	name string // of the content that was sent
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

// close stops sending and waits for the sender.
func (s *sending) close() {
	s.body.Close()
	<-s.done
}

// cause returns why sending failed, or else err.
func (s *sending) cause(err error) error {
	s.close()
	if s.err != nil && !errors.Is(s.err, io.ErrClosedPipe) {
		return s.err
	}
	return err
}

// counter reports the number of bytes sent.
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

// output splits a build's output into lines.
type output struct {
	build   *Build
	partial string
	tail    []string // of a quiet build
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	o.partial += string(p)
	for {
		line, rest, found := strings.Cut(o.partial, "\n")
		if !found {
			return len(p), nil
		}
		o.partial = rest
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

// end reports an incomplete last line and, if err is not nil, the tail of a quiet build.
func (o *output) end(err error) {
	o.line(o.partial)
	o.partial = ""
	if err == nil {
		return
	}
	for _, line := range o.tail {
		o.build.tell(backend.Step{Output: line})
	}
}
