package archive

import (
	"context"
	"sync"

	"torchx/runtime/spec"
)

// Saved is what Save has done.
type Saved struct {
	Missing  []spec.Replica // those whose log is not all archived
	Followed bool           // others follow all logs: what comes is archived too
}

// Save copies what the cluster has of all logs, as far as ctx allows. Errors:
// backends.ErrNotFound, backends.ErrUnavailable.
func (a *App) Save(ctx context.Context) (Saved, error) {
	snap, err := a.look(ctx)
	if err != nil {
		return Saved{}, err
	}
	replicas := map[spec.Replica]bool{}
	for i := range snap.Runs {
		replicas[snap.Runs[i].Replica] = true
	}
	s := Saved{Followed: true}
	var mu sync.Mutex
	var jobs sync.WaitGroup
	for r := range replicas {
		c := a.newCollector(r, false)
		jobs.Go(func() {
			err := c.once(ctx)
			mu.Lock()
			defer mu.Unlock()
			s.Followed = s.Followed && c.other
			if err != nil {
				s.Missing = append(s.Missing, r)
			}
		})
	}
	jobs.Wait()
	a.saveCursors()
	return s, nil
}
