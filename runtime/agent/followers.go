package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"torchx/runtime/backend"
	"torchx/runtime/safefile"
)

// Followers are the agents of a backend whose apps run elsewhere, such as on a cluster. Each
// follows one app and has a folder, in one folder of the home for all of them.
type Followers struct {
	Folder   string // its name in the home
	Manifest string // the file in the folder of each follower, see Followed
}

// Followed is what the manifests of all backends have.
type Followed struct {
	ID  string         `json:"id"`
	Cfg backend.Config `json:"cfg"` // options that locate the app
	// Agent means that an agent must follow the app, since Begun and until Done.
	Agent bool      `json:"agent,omitempty"`
	Begun time.Time `json:"begun,omitzero"`
	Done  bool      `json:"done,omitempty"`
	// OnEnd is what the agent runs when the app has ended; nil: nothing.
	OnEnd *backend.OnEnd `json:"on_end,omitempty"`
}

// maxManifest bounds a manifest in bytes.
const maxManifest = 1 << 20

// NewFollowed returns what a manifest says of the app of a plan, before it is submitted.
func NewFollowed(p *backend.Plan) Followed {
	return Followed{ID: p.ID, Cfg: p.Cfg, Agent: true, Begun: time.Now().UTC(), OnEnd: p.OnEnd}
}

// Dir returns the folder of an app's follower.
func (f Followers) Dir(home, id string) string {
	return filepath.Join(home, f.Folder, safefile.Escape(id))
}

// Has reports whether a folder has a manifest.
func (f Followers) Has(dir string) bool {
	_, err := os.Stat(f.manifest(dir))
	return err == nil && filepath.Base(filepath.Dir(dir)) == f.Folder
}

func (f Followers) manifest(dir string) string { return filepath.Join(dir, f.Manifest) }

// Read reads a manifest. Errors: fs.ErrNotExist.
func (f Followers) Read(dir string, manifest any) error {
	data, err := safefile.ReadFile(f.manifest(dir), maxManifest)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, manifest); err != nil {
		return fmt.Errorf("read %s: %w", f.manifest(dir), err)
	}
	return nil
}

// Write writes a manifest, and creates its folder if it is missing.
func (f Followers) Write(dir string, manifest any) error {
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		err = writeJSON(f.manifest(dir), manifest, false)
	}
	if err != nil {
		return fmt.Errorf("create archive: %w", err)
	}
	return nil
}

// Remove deletes the folder of a follower. Other processes never see a part of it.
func (f Followers) Remove(dir string) error {
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
