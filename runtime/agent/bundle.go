// Package agent supervises one app on this machine. A supervisor is a detached process,
// `torchx agent DIR`, whose Supervisor every backend's supervisors share: how they start, hold
// a lock, appear among live apps and are replaced by the next command when they die.
//
// The agent proper runs an app whose folder is a Bundle, the source of truth about it:
//
//	Manifest     app.json: what to run, written by the submitter (Create, Spawn)
//	agent        the loop: handles exits, signals, probes and timers one at a time (Main)
//	policy       the pure state machine that decides on starts, stops and restarts
//	journal      starts.jsonl and exits.jsonl: what happened, before it is acted on
//	admission    waits for devices and for room in the queue
//	Launcher     starts and ends replicas; processes and containers implement it
//	recorder     copies the status to the history
//
// RecoverAll, Inspect and Recover serve other processes. If an agent died, they end what it
// left running and replay the journal through the policy, or start a new agent for an app
// of containers. Optional interfaces of a Launcher: Adopter (replicas outlive the agent),
// AddressFinder (replicas have their own addresses).
package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"torchx/runtime/backend"
	"torchx/runtime/filelock"
	"torchx/runtime/machine"
	"torchx/runtime/safefile"
	"torchx/runtime/spec"
)

// Names of the files in a bundle.
const (
	manifestFile = "app.json"
	statusFile   = "status.json"
	exitsFile    = "exits.jsonl"
	startsFile   = "starts.jsonl"
	cancelFile   = "cancel.json"
	killFile     = "kill.json" // a cancel without a grace period
)

// Manifest is app.json: everything the agent needs to run the app.
type Manifest struct {
	Version     int             `json:"version"`
	ID          string          `json:"id"`
	Backend     string          `json:"backend"`
	Handle      string          `json:"handle"`
	App         *spec.App       `json:"app"`
	Cfg         map[string]any  `json:"cfg"`
	Request     json.RawMessage `json:"request"`
	Environ     Environ         `json:"environ"` // what replicas inherit, "K=V"
	Home        string          `json:"home"`    // TORCHX_HOME
	SubmittedAt time.Time       `json:"submitted_at"`
	Record      json.RawMessage `json:"record,omitempty"` // further data for the history

	Lifecycle
	Placement
}

// Lifecycle is the part of a manifest on how an app ends.
type Lifecycle struct {
	GracePeriod time.Duration `json:"grace_period"` // between SIGTERM and SIGKILL
	FailFast    bool          `json:"fail_fast"`
	// OnEnd is what to run when the app has ended; nil: nothing.
	OnEnd *backend.OnEnd `json:"on_end,omitempty"`

	// Containers means that replicas outlive the agent and have their own ports: a new
	// agent adopts them.
	Containers bool `json:"containers,omitempty"`

	// Controls means that the supervisor is a Controller: the replicas are other apps.
	Controls bool `json:"controls,omitempty"`

	// MetricsInLog means that $TORCHX_METRICS is the output of a replica instead of a file.
	MetricsInLog bool `json:"metrics_in_log,omitempty"`
}

// Placement is the part of a manifest on what an app needs in order to start.
type Placement struct {
	After   []backend.After       `json:"after,omitempty"`   // apps that must end first
	Queue   bool                  `json:"queue,omitempty"`   // start only when other apps leave enough room
	Devices *DeviceRequest        `json:"devices,omitempty"` // nil: replicas share all devices
	GPUs    []machine.GPU         `json:"gpus,omitempty"`    // of this machine; set if Queue or Devices needs them
	TTY     *backend.TerminalSize `json:"tty,omitempty"`     // the only replica runs on a pseudo-terminal

	// OutputDir is the folder of the app's outputs if the user chose where it is, absolute.
	OutputDir string `json:"output_dir,omitempty"`
}

// Bundle is an app's folder.
type Bundle struct{ Dir string }

func appsDir(home string) string { return filepath.Join(home, "apps") }

// BundleAt returns the bundle of an app ID; it need not exist.
func BundleAt(home, id string) Bundle {
	return Bundle{filepath.Join(appsDir(home), safefile.Escape(id))}
}

// BundleOf returns the bundle with a folder name.
func BundleOf(home, folder string) Bundle { return Bundle{filepath.Join(appsDir(home), folder)} }

func (b Bundle) path(name string) string { return filepath.Join(b.Dir, name) }

// Exists reports whether the bundle exists.
func (b Bundle) Exists() bool {
	_, err := os.Stat(b.path(manifestFile))
	return err == nil
}

// Create creates the bundle of m atomically, with its lock held: no process sees a bundle
// without a manifest or an unlocked one. The error wraps fs.ErrExist if the ID is taken.
// The caller passes the lock to the agent, then closes it. The functions in more add further
// files to the folder, before it is in place.
func Create(m *Manifest, more ...func(dir string) error) (Bundle, *filelock.Lock, error) {
	final := BundleAt(m.Home, m.ID)
	if err := makePrivate(appsDir(m.Home)); err != nil {
		return final, nil, fmt.Errorf("create %s: %w", appsDir(m.Home), err)
	}
	tmp, err := os.MkdirTemp(appsDir(m.Home), ".new-")
	if err != nil {
		return final, nil, fmt.Errorf("create bundle: %w", err)
	}
	lock, err := fill(Bundle{tmp}, m)
	for _, add := range more {
		if err == nil {
			err = add(tmp)
		}
	}
	if err == nil {
		err = renameNew(tmp, final.Dir)
	}
	if err == nil {
		// After the rename, which proves that the ID is free; nothing runs before Create returns.
		tmp, err = final.Dir, final.enterLive(holder{Handle: m.Handle})
	}
	if err != nil {
		if lock != nil {
			lock.Close()
		}
		return final, nil, errors.Join(err, os.RemoveAll(tmp))
	}
	return final, lock, nil
}

func fill(b Bundle, m *Manifest) (*filelock.Lock, error) {
	lock, err := filelock.TryAcquire(b.path(lockFile))
	if err != nil {
		return nil, err
	}
	if _, err := lock.File.Write(holder{Handle: m.Handle}.encode()); err != nil {
		return lock, fmt.Errorf("write %s: %w", lockFile, err)
	}
	if err := WriteJSON(b.path(manifestFile), m, false); err != nil {
		return lock, fmt.Errorf("write %s: %w", manifestFile, err)
	}
	st := initialStatus(m)
	if err := b.writeStatus(&st, false); err != nil {
		return lock, err
	}
	return lock, b.makeReserve(m.ownReplicas())
}

// renameNew renames a folder and fails if the new name is taken.
func renameNew(from, to string) error {
	if _, err := os.Lstat(to); err == nil {
		return fmt.Errorf("app folder %s: %w", to, fs.ErrExist)
	}
	if err := os.Rename(from, to); err != nil {
		if isErrno(err, syscall.EEXIST, syscall.ENOTEMPTY) {
			return fmt.Errorf("app folder %s: %w", to, fs.ErrExist)
		}
		return fmt.Errorf("create app folder: %w", err)
	}
	return nil
}

// Manifest reads app.json. The error wraps fs.ErrNotExist if the app does not exist.
func (b Bundle) Manifest() (*Manifest, error) {
	m := &Manifest{}
	err := b.read(manifestFile, m)
	if err == nil && m.App != nil {
		err = m.App.CheckLimits()
	}
	return m, err
}

// read decodes a file of the bundle, whose folder must belong to this user.
func (b Bundle) read(name string, v any) error {
	if err := safefile.CheckFolder(b.Dir); err != nil {
		return err
	}
	return readJSON(b.path(name), v)
}

// Status reads status.json without checking that the agent is alive.
func (b Bundle) Status() (*spec.Status, error) {
	s := &spec.Status{}
	return s, b.read(statusFile, s)
}

// StatusPath returns the file that Status reads; it is replaced, never written in place.
func (b Bundle) StatusPath() string { return b.path(statusFile) }

func (b Bundle) writeStatus(s *spec.Status, sync bool) error {
	if err := WriteJSON(b.path(statusFile), s, sync); err != nil {
		return fmt.Errorf("write %s: %w", statusFile, err)
	}
	return nil
}

// sync makes the manifest and the status survive a power cut.
func (b Bundle) sync() error {
	for _, name := range []string{manifestFile, statusFile} {
		f, err := safefile.Open(b.path(name))
		if err == nil {
			err = errors.Join(f.Sync(), f.Close())
		}
		if err != nil {
			return fmt.Errorf("sync %s: %w", name, err)
		}
	}
	return syncDir(b.Dir)
}

// List returns the bundles of a home, in no particular order.
func List(home string) ([]Bundle, error) {
	entries, err := os.ReadDir(appsDir(home))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list apps: %w", err)
	}
	var bundles []Bundle
	for _, e := range entries {
		if e.IsDir() && e.Name()[0] != '.' {
			bundles = append(bundles, Bundle{filepath.Join(appsDir(home), e.Name())})
		}
	}
	return bundles, nil
}
