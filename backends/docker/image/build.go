package image

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/docker/docker/api/types/build"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/api/types/registry"

	"torchx/backends/workspace"
	"torchx/runtime/backend"
)

// shortHash is how many digits of a hash people are shown.
const shortHash = 8

// tailLines of a quiet build are shown when it fails.
const tailLines = 20

// Build is a workspace that is to become an image.
type Build struct {
	Tree     *workspace.Tree
	Base     string // the image it is built from
	Name     string // what Tree.Name returned for Base
	Labels   map[string]string
	Quiet    bool // output is shown only if the build fails
	Progress backend.Progress
}

// Run builds the image and names it. The name is given only if what was sent is
// what the name stands for, so a name never lies. Errors: one line; the build's
// output went to Progress.
func (b *Build) Run(ctx context.Context, e Engine) (err error) {
	defer func() { b.Progress.Tell(backend.Step{Name: b.step(), Ended: true, Failed: err != nil}) }()
	b.Progress.Tell(backend.Step{Name: b.step(), Text: "sending files", Total: b.Tree.Bytes})
	line, what := needsBuildKit(b.Tree.Dockerfile)
	if what != "" {
		err = b.runBuildx(ctx, e, fmt.Sprintf("%s, line %d: %s", workspace.Dockerfile, line, what))
	} else {
		err = b.runClassic(ctx, e)
	}
	if err != nil {
		return fmt.Errorf("build the workspace %s from %s: %w", b.Tree.Projects[0].Path, b.Base, err)
	}
	return nil
}

// step is the name for people, with as much of the hash as tells builds apart.
func (b *Build) step() string {
	_, hash, _ := strings.Cut(b.Name, ":")
	return "build workspace " + hash[:min(len(hash), shortHash)]
}

var errChanged = errors.New("files have changed since the app was planned: run it again")

func (b *Build) runClassic(ctx context.Context, e Engine) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	sent := b.send(ctx)
	defer sent.close()
	answer, err := e.ImageBuild(ctx, sent.body, b.options())
	if err != nil {
		return sent.because(err)
	}
	defer answer.Body.Close()
	id, out := "", &output{build: b}
	err = each(answer.Body, func(m message) {
		if m.Aux.ID != "" {
			id = m.Aux.ID
		}
		out.write(m.Stream)
		if m.Status != "" { // a base image that is pulled
			b.Progress.Tell(backend.Step{Name: b.step(), Text: m.Status})
		}
	})
	out.flush()
	if err != nil {
		out.showTail()
		return sent.because(err)
	}
	if name := sent.wait(); name != b.Name {
		_, _ = e.ImageRemove(context.WithoutCancel(ctx), id, image.RemoveOptions{PruneChildren: true}) // nobody would find it
		return errChanged
	}
	if id == "" {
		return errors.New("the engine does not say which image it has built")
	}
	return e.ImageTag(ctx, id, b.Name)
}

func (b *Build) options() build.ImageBuildOptions {
	args := map[string]*string{}
	for k, v := range b.Tree.BuildArgs(b.Base) {
		args[k] = &v
	}
	return build.ImageBuildOptions{
		Dockerfile: workspace.Dockerfile, BuildArgs: args, Labels: b.Labels, Version: build.BuilderV1,
		Remove: true, ForceRemove: true, // no container stays behind, failed or not
		AuthConfigs: credentialsFor(Bases(b.Tree.Dockerfile, b.Base)),
	}
}

// credentialsFor are those of the registries that images come from.
func credentialsFor(refs []string) map[string]registry.AuthConfig {
	all := map[string]registry.AuthConfig{}
	for _, ref := range refs {
		parsed, err := parse(ref)
		if err != nil {
			continue
		}
		if c, ok := parsed.credentials(); ok {
			all[c.ServerAddress] = c
		}
	}
	return all
}

// sending is a context on its way.
type sending struct {
	body *io.PipeReader
	done chan struct{}
	name string
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

// wait returns the name for what was sent.
func (s *sending) wait() string {
	s.close()
	return s.name
}

func (s *sending) close() {
	s.body.Close()
	<-s.done
}

// because prefers why we stopped sending to what the engine made of that.
func (s *sending) because(err error) error {
	s.close()
	if s.err != nil && !errors.Is(s.err, io.ErrClosedPipe) {
		return s.err
	}
	return err
}

// counter tells how much is sent.
type counter struct {
	out   io.Writer
	build *Build
	done  int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.out.Write(p)
	c.done += int64(n)
	b := c.build
	b.Progress.Tell(backend.Step{Name: b.step(), Done: min(c.done, b.Tree.Bytes), Total: b.Tree.Bytes})
	return n, err
}

// output makes lines of a build's output.
type output struct {
	build *Build
	rest  string
	tail  []string // of a quiet build
}

func (o *output) write(text string) {
	o.rest += text
	for {
		line, rest, found := strings.Cut(o.rest, "\n")
		if !found {
			return
		}
		o.rest = rest
		o.line(line)
	}
}

func (o *output) flush() {
	o.line(o.rest)
	o.rest = ""
}

func (o *output) line(line string) {
	line = strings.TrimRight(line, "\r ")
	if line == "" {
		return
	}
	if o.build.Quiet {
		o.tail = append(o.tail[max(0, len(o.tail)-tailLines+1):], line)
		return
	}
	o.build.Progress.Tell(backend.Step{Name: o.build.step(), Text: "building", Output: line})
}

// showTail shows the end of a quiet build that failed.
func (o *output) showTail() {
	for _, line := range o.tail {
		o.build.Progress.Tell(backend.Step{Name: o.build.step(), Output: line})
	}
}
