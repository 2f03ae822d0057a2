package image

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/docker/docker/api/types/image"
	"golang.org/x/sync/errgroup"

	"torchx/runtime/backend"
)

// parallel is how many images are pulled at the same time; the engine itself
// loads three layers of each at once.
const parallel = 4

// Policy says when images are pulled.
type Policy string

// The policies, named as those of docker and Kubernetes.
const (
	Missing Policy = "missing" // what the engine does not have
	Always  Policy = "always"  // before each start
	Never   Policy = "never"   // what is missing is an error
)

// Puller pulls images.
type Puller struct {
	Engine   Engine
	Policy   Policy
	Offline  bool   // the user forbids the network: what is missing is an error at once
	Default  string // the image that nobody chose, "" if there is none
	Progress backend.Progress
}

// Ensure returns when the engine has all images; each may be named more than
// once. What cannot be had is said before anything is pulled. Errors: one line
// that names the image.
func (p *Puller) Ensure(ctx context.Context, refs []string) error {
	var wanted, lost []string
	seen := map[string]bool{}
	for _, ref := range refs {
		if seen[ref] {
			continue
		}
		seen[ref] = true
		if _, err := parse(ref); err != nil && !isID(ref) {
			return err
		}
		has, err := Has(ctx, p.Engine, ref)
		switch {
		case err != nil:
			return err
		case has && (p.Policy != Always || isID(ref)):
		case isID(ref) || p.Policy == Never || p.Offline && !has:
			lost = append(lost, ref)
		case p.Offline:
			return fmt.Errorf("pull=always cannot pull %s with --offline: use pull=missing", ref)
		default:
			wanted = append(wanted, ref)
		}
	}
	if len(lost) > 0 {
		return p.missing(lost)
	}
	return p.pullAll(ctx, wanted)
}

// isID: an id says which image is meant, but not where it could be had.
func isID(ref string) bool { return strings.HasPrefix(ref, "sha256:") }

// missing says why nothing is done about images that are not there.
func (p *Puller) missing(refs []string) error {
	why := "an id cannot be pulled"
	switch {
	case p.Offline:
		why = "--offline forbids to pull"
	case p.Policy == Never:
		why = "pull=never forbids to pull"
	}
	if len(refs) == 1 {
		return fmt.Errorf("image %s is not on the engine and %s%s", refs[0], why, p.about(refs[0]))
	}
	return fmt.Errorf("images %s are not on the engine and %s", strings.Join(refs, ", "), why)
}

// about explains the image that nobody chose.
func (p *Puller) about(ref string) string {
	if ref != p.Default || ref == "" {
		return ""
	}
	return ": it is the default image of the built-in components; choose one that is there (`docker images`) with --image"
}

func (p *Puller) pullAll(ctx context.Context, refs []string) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(parallel)
	for _, ref := range refs {
		g.Go(func() error { return p.pull(ctx, ref) })
	}
	return g.Wait()
}

func (p *Puller) pull(ctx context.Context, ref string) (err error) {
	parsed, err := parse(ref)
	if err != nil {
		return err
	}
	name := "pull " + ref
	p.Progress.Tell(backend.Step{Name: name, Text: "asking " + parsed.host})
	defer func() { p.Progress.Tell(backend.Step{Name: name, Ended: true, Failed: err != nil}) }()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	alive := make(chan struct{}) // closed when the registry has answered
	go watchReach(ctx, p.Engine, parsed.host, alive, cancel)
	err = p.transfer(ctx, ref, parsed.auth(), newLayers(name, "Downloading", p.Progress), alive)
	if cause := context.Cause(ctx); cause != nil && errors.Is(cause, errUnreachable) {
		err = cause
	}
	if err == nil {
		return nil
	}
	if has, _ := Has(context.WithoutCancel(ctx), p.Engine, ref); has { // pull=always
		return fmt.Errorf("pull image %s, which the engine has: %w: pull=missing takes that one", ref, err)
	}
	if errors.Is(err, errUnreachable) || unreachable(err) {
		return fmt.Errorf("image %s is not on the engine and cannot be pulled, its registry is not reachable (%w)%s", ref, err, p.about(ref))
	}
	return fmt.Errorf("pull image %s: %w%s", ref, err, p.about(ref))
}

func (p *Puller) transfer(ctx context.Context, ref, auth string, l *layers, alive chan struct{}) error {
	body, err := p.Engine.ImagePull(ctx, ref, image.PullOptions{RegistryAuth: auth})
	if err != nil {
		return err
	}
	defer body.Close()
	first := true
	return each(io.Reader(body), func(m message) {
		if first {
			first = false
			close(alive)
		}
		l.see(m)
	})
}
