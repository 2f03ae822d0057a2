package archive

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"torchx/runtime/agent"
	"torchx/runtime/backend"
	"torchx/runtime/safefile"
)

// liveFolder is the folder with an empty file for each archive whose agent has work to do.
const liveFolder = "live"

// supervisor returns the lock and the live entry of an archive's agent.
func (k Kind) supervisor(dir string) agent.Supervisor {
	return agent.Supervisor{Dir: dir, LiveDir: filepath.Join(filepath.Dir(dir), liveFolder), Manifest: k.Manifest}
}

// Begin records, before the submission of a plan, that its app needs an agent, so that a crash cannot
// leave the app without one: it has archive=true, or actions for its end. The returned functions start
// the agent with the program exe, or remove the archive of an app whose submission failed. They do
// nothing for an app that needs no agent.
func (k Kind) Begin(home, exe string, p *backend.Plan, i Info) (start, forget func() error, err error) {
	if on, _ := p.Cfg["archive"].(bool); !on && p.OnEnd == nil {
		none := func() error { return nil }
		return none, none, nil
	}
	i.ID, i.Cfg, i.Agent, i.Begun, i.OnEnd = p.ID, p.Cfg, true, time.Now().UTC(), p.OnEnd
	dir := k.Dir(home, p.ID)
	if err := k.Write(dir, i); err != nil {
		return nil, nil, err
	}
	entry := k.supervisor(dir).Entry()
	err = os.MkdirAll(filepath.Dir(entry), 0o700)
	if err == nil {
		err = safefile.WriteFile(entry, nil)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("create archive: %w", err)
	}
	forget = func() error {
		k.supervisor(dir).RemoveEntry()
		return k.Remove(dir)
	}
	return func() error { return k.spawn(exe, dir) }, forget, nil
}

// spawn starts the agent of an archive, detached, unless there is one. If two start at the same time,
// the second one exits.
func (k Kind) spawn(exe, dir string) error {
	l := k.supervisor(dir)
	if l.Alive() {
		l.Resume()
		return nil
	}
	process, err := l.Start(exe)
	if err != nil {
		return fmt.Errorf("start archive agent: %w", err)
	}
	agent.Reap(process)
	return nil
}

// Recover restarts the agents of a home that died before they were done. Its cost depends only on the
// number of followed apps.
func (k Kind) Recover(home, exe string) error {
	entries, err := agent.LiveEntries(filepath.Join(home, k.Folder, liveFolder))
	if err != nil {
		return fmt.Errorf("find archives without an agent: %w", err)
	}
	var errs []error
	for _, e := range entries {
		dir := filepath.Join(home, k.Folder, e.Name())
		switch i, err := k.Read(dir); {
		case errors.Is(err, fs.ErrNotExist), err == nil && i.Done:
			k.supervisor(dir).RemoveEntry()
		case err != nil:
			errs = append(errs, err)
		default:
			errs = append(errs, k.spawn(exe, dir))
		}
	}
	return errors.Join(errs...)
}
