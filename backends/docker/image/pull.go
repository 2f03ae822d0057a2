package image

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/docker/docker/api/types/image"
	"golang.org/x/sync/errgroup"

	"torchx/runtime/backend"
)

// parallel is how many images are pulled at the same time. The engine downloads three
// layers of each in parallel.
const parallel = 4

// Policy selects when images are pulled.
type Policy string

// The policies, named as those of docker and Kubernetes.
const (
	Missing Policy = "missing" // only images that the engine does not have
	Always  Policy = "always"  // before each start
	Never   Policy = "never"   // a missing image is an error
)

// Puller pulls images.
type Puller struct {
	Engine   Engine
	Policy   Policy
	Offline  bool   // the user forbids the network: a missing image is an error
	Default  string // the image of roles that set none; "" if there is none
	Progress backend.Progress
}

// Ensure returns when the engine has all images; refs may have duplicates. Before it pulls
// anything, it reports all missing images that it may not pull. Errors: one line that
// names the image.
func (p *Puller) Ensure(ctx context.Context, refs []string) error {
	var wanted, missing []string
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
			missing = append(missing, ref)
		case p.Offline:
			return fmt.Errorf("pull=always cannot pull %s with --offline: use pull=missing", ref)
		default:
			wanted = append(wanted, ref)
		}
	}
	if len(missing) > 0 {
		return p.missingError(missing)
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(parallel)
	for _, ref := range wanted {
		g.Go(func() error { return p.pull(ctx, ref) })
	}
	return g.Wait()
}

// isID reports whether an image is named by its ID, which has no registry to pull from.
func isID(ref string) bool { return strings.HasPrefix(ref, "sha256:") }

// missingError returns why missing images are not pulled.
func (p *Puller) missingError(refs []string) error {
	why := "an image ID cannot be pulled"
	switch {
	case p.Offline:
		why = "--offline forbids pulling"
	case p.Policy == Never:
		why = "pull=never forbids pulling"
	}
	if len(refs) == 1 {
		return fmt.Errorf("image %s is not on the engine and %s%s", refs[0], why, p.hint(refs[0]))
	}
	return fmt.Errorf("images %s are not on the engine and %s", strings.Join(refs, ", "), why)
}

// hint returns the remedy for the default image.
func (p *Puller) hint(ref string) string {
	if ref != p.Default || ref == "" {
		return ""
	}
	return ": it is the default image of the built-in components, choose an existing one (`docker images`) with --image"
}

func (p *Puller) pull(ctx context.Context, ref string) (err error) {
	parsed, err := parse(ref)
	if err != nil {
		return err
	}
	name := "pull " + ref
	p.Progress.Tell(backend.Step{Name: name, Text: "contacting " + parsed.host})
	defer func() { p.Progress.Tell(backend.Step{Name: name, Ended: true, Failed: err != nil}) }()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	answered := make(chan struct{})
	go watchRegistry(ctx, p.Engine, parsed.host, answered, cancel)
	err = p.transfer(ctx, ref, parsed.auth(), newLayers(name, "Downloading", p.Progress), sync.OnceFunc(func() { close(answered) }))
	if cause := context.Cause(ctx); errors.Is(cause, errUnreachable) {
		err = cause
	}
	if err == nil {
		return nil
	}
	if has, _ := Has(context.WithoutCancel(ctx), p.Engine, ref); has { // pull=always
		return fmt.Errorf("pull image %s: %w (pull=missing uses the image that the engine has)", ref, err)
	}
	if errors.Is(err, errUnreachable) || unreachable(err) {
		return fmt.Errorf("image %s is not on the engine and cannot be pulled: its registry is not reachable (%w)%s", ref, err, p.hint(ref))
	}
	return fmt.Errorf("pull image %s: %w%s", ref, err, p.hint(ref))
}

func (p *Puller) transfer(ctx context.Context, ref, auth string, l *layers, answered func()) error {
	body, err := p.Engine.ImagePull(ctx, ref, image.PullOptions{RegistryAuth: auth})
	if err != nil {
		return err
	}
	defer body.Close()
	return readMessages(body, func(m message) {
		answered()
		l.add(m)
	})
}
