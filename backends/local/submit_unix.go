//go:build unix

package local

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"torchx/backends"
	"torchx/runtime/agent"
)

// Submit writes the bundle, starts its agent and returns when every replica has
// started.
func (b *Backend) Submit(_ context.Context, p *backends.Plan) error {
	m, err := b.manifest(p)
	if err != nil {
		return err
	}
	return b.Start(m, p.Unrecorded)
}

func (b *Backend) manifest(p *backends.Plan) (*agent.Manifest, error) {
	o, err := readOptions(backends.PlanInput{Cfg: p.Cfg})
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(p.Request)
	if err != nil {
		return nil, fmt.Errorf("encode request: %w", err)
	}
	environ := p.Environ
	if environ == nil {
		environ = os.Environ()
	}
	return &agent.Manifest{
		Version: 1, ID: p.ID, Backend: Name,
		Handle: handleOf(p.ID),
		App:    p.App, Cfg: p.Cfg, Request: raw, Environ: environ,
		Record: p.Record,
		Home:   b.Home, SubmittedAt: time.Now(), GracePeriod: seconds(o.grace), FailFast: o.failFast,
	}, nil
}

// Probe always finds the local machine.
func (b *Backend) Probe(context.Context) error { return nil }
