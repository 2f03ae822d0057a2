package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"torchx/runtime/backend"
	"torchx/runtime/history"
	"torchx/runtime/spec"
)

// PruneFilter selects ended apps to remove. All fields that are set must match.
type PruneFilter struct {
	Backend string       // canonical name or alias; "": all
	States  []spec.State // empty: all terminal states
	Before  time.Time    // ended before that time; zero: any time
	Keep    int          // keeps the newest N of them
	// MaxBytes selects only as many of the oldest apps as needed to reduce the disk usage of
	// all apps of the backends, including live ones, to this size; < 0: no limit.
	MaxBytes int64
	backend.DeleteOptions
}

// Prunable is an app that may be removed.
type Prunable struct {
	history.View
	Bytes *int64 // freed by its removal; nil: unknown
	total int64  // current disk usage
}

// ended returns when the app ended, else when it was submitted; nil if unknown.
func (p *Prunable) ended() *time.Time {
	if p.FinishedAt != nil {
		return p.FinishedAt
	}
	return p.SubmittedAt
}

// Prunable returns the apps that Prune would remove by f, oldest first. It changes nothing.
// Apps of another TORCHX_HOME are included only if their backend is named. Errors: as List;
// an unreachable backend that was not named is skipped, with a warning if the history has
// apps of it.
func (r *Runner) Prunable(ctx context.Context, f PruneFilter) ([]Prunable, error) {
	apps, err := r.pruneScope(ctx, f.Backend)
	if err != nil {
		return nil, err
	}
	chosen := f.choose(apps)
	if f.MaxBytes >= 0 {
		if err := r.measure(ctx, apps, f.DeleteOptions); err != nil {
			return nil, err
		}
		return f.oldest(apps, chosen), nil
	}
	if err := r.measure(ctx, chosen, f.DeleteOptions); err != nil {
		return nil, err
	}
	return deref(chosen), nil
}

// pruneScope returns all apps of the named backend, or of all backends.
func (r *Runner) pruneScope(ctx context.Context, backendName string) ([]*Prunable, error) {
	names := r.Backends.Names()
	if backendName != "" {
		names = []string{backendName}
	}
	var apps []*Prunable
	for _, name := range names {
		rows, err := r.List(ctx, Filter{Backend: name, All: true})
		if err != nil {
			all := len(rows)
			rows = r.withoutBackend(ctx, rows)
			switch more := len(rows) < all || all == 0; {
			case ctx.Err() != nil, more && backendName != "":
				return nil, err
			case more:
				r.warnIfUsed(ctx, name, err)
			}
		}
		for i := range rows {
			if !rows[i].Foreign || backendName != "" { // a named backend means all of its apps
				apps = append(apps, &Prunable{View: rows[i]})
			}
		}
	}
	return apps, nil
}

// withoutBackend returns the apps that never reached their backend: their removal does not
// need it.
func (r *Runner) withoutBackend(ctx context.Context, rows []history.View) []history.View {
	return slices.DeleteFunc(rows, func(v history.View) bool {
		if r.History == nil {
			return true
		}
		s, err := r.History.Status(ctx, v.Backend, v.ID)
		return err != nil || !neverSubmitted(s)
	})
}

// warnIfUsed warns of an unreachable backend if the history has apps of it.
func (r *Runner) warnIfUsed(ctx context.Context, backendName string, cause error) {
	if r.History == nil {
		return
	}
	if apps, err := r.History.List(ctx, history.Filter{Backend: backendName, Limit: 1}); err == nil && len(apps) > 0 {
		r.warn("apps of %s are skipped: %v", backendName, cause)
	}
}

// choose applies all criteria except MaxBytes and sorts by age, oldest first. It skips an
// app without a known end if a criterion depends on time.
func (f *PruneFilter) choose(apps []*Prunable) []*Prunable {
	timed := !f.Before.IsZero() || f.Keep > 0 || f.MaxBytes >= 0
	var chosen []*Prunable
	for _, p := range apps {
		wanted := p.State.Terminal() && (len(f.States) == 0 || slices.Contains(f.States, p.State))
		if wanted && (p.ended() != nil || !timed) {
			chosen = append(chosen, p)
		}
	}
	slices.SortStableFunc(chosen, func(a, b *Prunable) int {
		if a.ended() == nil || b.ended() == nil {
			return boolInt(a.ended() != nil) - boolInt(b.ended() != nil)
		}
		return a.ended().Compare(*b.ended())
	})
	chosen = chosen[:max(0, len(chosen)-f.Keep)]
	if !f.Before.IsZero() {
		chosen = slices.DeleteFunc(chosen, func(p *Prunable) bool { return !p.ended().Before(f.Before) })
	}
	return chosen
}

// oldest selects the oldest apps until the others are within MaxBytes.
func (f *PruneFilter) oldest(apps, chosen []*Prunable) []Prunable {
	var total int64
	for _, p := range apps {
		total += p.total
	}
	n := 0
	for ; n < len(chosen) && total > f.MaxBytes; n++ {
		if chosen[n].Bytes != nil {
			total -= *chosen[n].Bytes
		}
	}
	return deref(slices.DeleteFunc(chosen[:n:n], func(p *Prunable) bool { return p.Bytes == nil }))
}

func deref(apps []*Prunable) []Prunable {
	all := make([]Prunable, len(apps))
	for i, p := range apps {
		all[i] = *p
	}
	return all
}

// measure determines the disk usage of apps.
func (r *Runner) measure(ctx context.Context, apps []*Prunable, o backend.DeleteOptions) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(parallel)
	for _, p := range apps {
		can, err := r.Backends.Capabilities(p.Backend) // opened here: the registry has no lock
		if err != nil || can.Size == nil {
			continue
		}
		g.Go(func() error { return measureOne(ctx, can.Size, p, o) })
	}
	return g.Wait()
}

func measureOne(
	ctx context.Context, sizer backend.Sizer, p *Prunable, o backend.DeleteOptions,
) error {
	free, err := sizer.Size(ctx, p.ID, o)
	p.total = free
	if err == nil && o.KeepLogs {
		p.total, err = sizer.Size(ctx, p.ID, backend.DeleteOptions{})
	}
	if err != nil && !errors.Is(err, backend.ErrNotFound) {
		return err
	}
	p.Bytes = &free // 0 if only the history has the app
	return ctx.Err()
}

// Prune removes an app that Prunable returned. It returns false without removing it if the
// ID belongs to a live or different app by now, or another process removed the app. Errors:
// backend.ErrUnavailable, those of the history.
func (r *Runner) Prune(
	ctx context.Context, p Prunable, o backend.DeleteOptions,
) (done bool, err error) {
	b, err := r.Backends.Get(p.Backend)
	if err != nil {
		return false, err
	}
	s, err := r.Status(ctx, p.AppKey)
	switch {
	case errors.Is(err, backend.ErrNotFound):
		return false, nil
	case err != nil:
		return false, err
	case !s.State.Terminal():
		return false, nil
	case p.FinishedAt != nil && s.SubmittedAt != nil && s.SubmittedAt.After(*p.FinishedAt): // a later app with this ID
		return false, nil
	}
	done, err = r.remove(ctx, b, p.AppKey, s, removal{o, "prune", false})
	if err != nil {
		return done, fmt.Errorf("prune: %w", err)
	}
	return done, nil
}
