package program

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"torchx/cmd/internal/ui"
	"torchx/runtime/agent"
	"torchx/runtime/history"
	"torchx/runtime/provenance"
	"torchx/runtime/runner"
	"torchx/runtime/spec"
	"torchx/state"
)

// Values of [torchx] provenance.
const (
	provenanceOff    = "off"    // no git, host and user
	provenanceCommit = "commit" // no diff
	provenanceFull   = "full"
)

// CollectCommand is the hidden command that records the checkout of an app. run starts it
// detached and does not wait for git.
const CollectCommand = "__checkout"

// collectLimit bounds the work of git for one app.
const collectLimit = 20 * time.Second

// PrepareProvenance adds who submits the plan with which versions, and lets Submit start the
// process that records the checkout. wait returns when that process has started.
func PrepareProvenance(f *Factory, p *runner.Planned) (wait func(), err error) {
	conf, err := f.Config()
	if err != nil {
		return nil, err
	}
	wait, mode := func() {}, provenanceFull
	if v, ok := conf.Get("torchx", "provenance"); ok {
		mode = v.Text
		if mode != provenanceOff && mode != provenanceCommit && mode != provenanceFull {
			return nil, fmt.Errorf("%s: provenance is %s: use %s, %s or %s", v.Origin(),
				ui.QuoteWord(mode), provenanceOff, provenanceCommit, provenanceFull)
		}
	}
	p.Submission = history.Submission{Version: VersionText(), Libraries: f.LockedLibraries()}
	if mode == provenanceOff {
		return wait, nil
	}
	p.Host, _ = os.Hostname() // without them they are unknown
	if u, err := user.Current(); err == nil {
		p.User = u.Username
	}
	if !provenance.Find(p.Cwd) || !hasGit() {
		return wait, nil
	}
	c := &collector{factory: f, plan: p, mode: mode}
	p.Recorded = c.start
	return c.started.Wait, nil
}

func hasGit() bool {
	_, err := exec.LookPath("git")
	return err == nil
}

// collector starts the process that records the checkout of one app. If it cannot be started,
// the checkout stays unknown.
type collector struct {
	factory *Factory
	plan    *runner.Planned
	mode    string
	started sync.WaitGroup
}

// start takes the lock that readers wait for, then starts the process while the backend starts
// the app.
func (c *collector) start() {
	home, err := c.factory.Env.Home()
	if err != nil {
		return
	}
	lock, err := provenance.Begin(home, c.plan.Ref().Handle())
	if err != nil {
		return
	}
	c.started.Go(func() {
		defer lock.Close() // then only the process holds it
		vars := append(slices.Clone(c.factory.Env.Vars), "TORCHX_HOME="+home)
		cmd := agent.Detached(context.Background(), vars, c.factory.Env.Exe, CollectCommand, c.mode, c.plan.Ref().Handle(), c.plan.Cwd) // it outlives this one
		cmd.ExtraFiles = []*os.File{lock.File}
		if cmd.Start() == nil {
			provenance.Yield(cmd.Process.Pid)
			go func() { _ = cmd.Wait() }() // no zombie while this process follows the app
		}
	})
}

// CollectProvenance is the command CollectCommand MODE HANDLE FOLDER. Its output goes nowhere.
func CollectProvenance(ctx context.Context, f *Factory, args []string) error {
	if len(args) != 3 {
		return errors.New("want MODE HANDLE FOLDER")
	}
	h, err := spec.ParseHandle(args[1])
	if err != nil {
		return err
	}
	home, err := f.Env.Home()
	if err != nil {
		return err
	}
	defer provenance.End(home, args[1])
	scratch, err := provenance.Scratch(home, args[1])
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, collectLimit)
	defer cancel()
	checkout, diff, err := provenance.Collect(limited, args[2],
		provenance.Options{Env: f.Env.Vars, Scratch: scratch, Diff: args[0] == provenanceFull})
	if err != nil {
		return err
	}
	path := filepath.Join(home, HistoryFile)
	if _, err := os.Stat(path); err != nil {
		return err // the home was deleted
	}
	db, err := state.Open(ctx, path, state.Options{Agent: true})
	if err != nil {
		return err
	}
	return errors.Join(db.SetCheckout(ctx, h.Backend, h.AppID, *checkout, diff), db.Close())
}

// AwaitProvenance waits until the checkout of an app that was just submitted is recorded, at most
// half a minute.
func AwaitProvenance(ctx context.Context, f *Factory, ref history.AppKey) {
	if home, err := f.Env.Home(); err == nil {
		provenance.Wait(ctx, home, ref.Handle())
	}
}

// nowLimit bounds the work of git while the user waits.
const nowLimit = 2 * time.Second

// ProvenanceNow returns the state of the checkout that has the working folder, nil if there is
// none or git cannot tell.
func ProvenanceNow(ctx context.Context, env Environment) *history.Checkout {
	if !provenance.Find(env.Dir) {
		return nil
	}
	scratch, err := os.MkdirTemp("", "torchx-checkout-")
	if err != nil {
		return nil
	}
	defer os.RemoveAll(scratch)
	ctx, cancel := context.WithTimeout(ctx, nowLimit)
	defer cancel()
	c, _, err := provenance.Collect(ctx, env.Dir,
		provenance.Options{Env: env.Vars, Scratch: scratch, Diff: true})
	if err != nil {
		return nil
	}
	return c
}
