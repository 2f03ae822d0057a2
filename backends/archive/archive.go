// Package archive keeps logs in TORCHX_HOME of apps that run elsewhere, such as on a cluster, which
// forgets them. An app with archive=true, or with actions for its end, has an agent: a detached
// process that records its statuses and copies its logs until it has ended.
//
//	Kind    the archives of a backend: begins, finds, restarts and removes them
//	Agent   the process, with what it needs of the home
//	Source  the app as the agent sees it, which the backend implements
//
// An app has a folder:
//
//	archive.json or app.json         Info, by the Kind
//	agent.lock, agent.log            of the agent, see agent.Supervisor
//	replicas/<role>/<n>/lock         held by the process that copies logs of that replica
//	replicas/<role>/<n>/<attempt>/   the log (package logstore) and its cursor.json
package archive

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"torchx/runtime/agent"
	"torchx/runtime/backend"
	"torchx/runtime/logstore"
	"torchx/runtime/safefile"
	"torchx/runtime/spec"
)

// Kind is the archives of one backend. All have their folders in one folder of a home.
type Kind struct {
	Backend  string // its name
	Folder   string // in the home
	Manifest string // the file in each archive that holds its Info
	Pace     Pace
	// Changed reports whether the history must get s, if recorded is the last status that it took.
	Changed func(recorded, s *spec.Status) bool
}

// Info is what the manifest of an archive says of its app.
type Info struct {
	ID  string         `json:"id"`
	Cfg backend.Config `json:"cfg"` // options that locate the app
	// Agent means that an agent must follow the app, since Begun and until Done.
	Agent bool      `json:"agent,omitempty"`
	Begun time.Time `json:"begun,omitzero"`
	Done  bool      `json:"done,omitempty"`
	// OnEnd is what the agent runs when the app has ended; nil: nothing.
	OnEnd *backend.OnEnd `json:"on_end,omitempty"`

	// App has the roles with their metrics; nil: the agent collects none.
	App   *spec.App `json:"app,omitempty"`
	Roles []Role    `json:"roles,omitempty"` // nil: the folder tells
	Logs  bool      `json:"logs,omitempty"`  // the agent copies the logs
}

// Role is a role of an app.
type Role struct {
	Name     string `json:"name"`
	Replicas int    `json:"replicas"`
}

// RolesOf returns the roles of an app.
func RolesOf(app *spec.App) (all []Role) {
	for i := range app.Roles {
		all = append(all, Role{app.Roles[i].Name, app.Roles[i].NumReplicas})
	}
	return all
}

// maxManifest bounds a manifest in bytes.
const maxManifest = 1 << 20

// Dir returns the archive of an app.
func (k Kind) Dir(home, id string) string { return filepath.Join(home, k.Folder, safefile.Escape(id)) }

func (k Kind) manifest(dir string) string { return filepath.Join(dir, k.Manifest) }

// Has reports whether a folder is an archive of this kind.
func (k Kind) Has(dir string) bool {
	_, err := os.Stat(k.manifest(dir))
	return err == nil && filepath.Base(filepath.Dir(dir)) == k.Folder
}

// Read reads a manifest. Errors: fs.ErrNotExist.
func (k Kind) Read(dir string) (i Info, err error) {
	data, err := safefile.ReadFile(k.manifest(dir), maxManifest)
	if err != nil {
		return i, err
	}
	if err := json.Unmarshal(data, &i); err != nil {
		return i, fmt.Errorf("read %s: %w", k.manifest(dir), err)
	}
	return i, nil
}

// Write writes a manifest, and creates its folder if it is missing.
func (k Kind) Write(dir string, i Info) error {
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		err = agent.WriteJSON(k.manifest(dir), i, false)
	}
	if err != nil {
		return fmt.Errorf("create archive: %w", err)
	}
	return nil
}

// HasAgent reports whether an agent follows the app of an archive, or will.
func (k Kind) HasAgent(dir string) bool {
	i, err := k.Read(dir)
	return err == nil && i.Agent && !i.Done
}

// Remove deletes an archive. Other processes never see a part of it.
func (k Kind) Remove(dir string) error {
	gone := filepath.Join(filepath.Dir(dir), ".gone-"+filepath.Base(dir))
	err := os.Rename(dir, gone)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = os.RemoveAll(gone)
	}
	if err != nil {
		return fmt.Errorf("remove archived logs: %w", err)
	}
	return nil
}

// Retain moves an archive to the retained logs of a home. Processes that copy into it then stop.
func (k Kind) Retain(home, dir string) error {
	to := backend.RetainedDir(home, filepath.Base(dir))
	err := os.MkdirAll(filepath.Dir(to), 0o700)
	if err == nil {
		err = os.Remove(k.manifest(dir))
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		err = os.Rename(dir, to)
	}
	if err != nil {
		return fmt.Errorf("retain logs: %w", err)
	}
	return nil
}

// Size returns the bytes of the files in a folder, 0 if it does not exist. It leaves out the logs
// of replicas if withoutLogs is set.
func Size(dir string, withoutLogs bool) (total int64, err error) {
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		var info fs.FileInfo
		if err == nil && withoutLogs && path == filepath.Join(dir, logstore.ReplicasFolder) {
			return fs.SkipDir
		}
		if err == nil {
			info, err = e.Info()
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil // deleted meanwhile
		}
		if err == nil && info.Mode().IsRegular() {
			total += info.Size()
		}
		return err
	})
	return total, err
}

// liveFolder is the folder with an empty file for each archive whose agent has work to do.
const liveFolder = "live"

// supervisor returns the lock and the live entry of an archive's agent.
func (k Kind) supervisor(dir string) agent.Supervisor {
	return agent.Supervisor{Dir: dir, LiveDir: filepath.Join(filepath.Dir(dir), liveFolder), Manifest: k.Manifest}
}

// Begin records, before the submission of a plan, that its app needs an agent, so that a crash
// cannot leave the app without one: it has archive=true, or actions for its end. The returned
// functions start the agent with the program exe, or remove the archive of an app whose
// submission failed. They do nothing for an app that needs no agent.
func (k Kind) Begin(
	home, exe string, p *backend.Plan, i Info,
) (start, forget func() error, err error) {
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

// spawn starts the agent of an archive, detached, unless there is one. If two start at the same
// time, the second one exits.
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

// Pending are the folders of driver.Driver.Pending for a backend with such archives.
func (k Kind) Pending() []string { return []string{filepath.Join(k.Folder, liveFolder)} }

// Recover restarts the agents of a home that died before they were done. Its cost depends only on
// the number of followed apps.
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
