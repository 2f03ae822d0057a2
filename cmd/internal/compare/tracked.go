package compare

import (
	"bytes"
	"cmp"
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"torchx/cmd/internal/program"
	"torchx/runtime/config"
	"torchx/runtime/pattern"
	"torchx/runtime/runner"
	"torchx/runtime/safefile"
)

// tracked is what programs recorded of one run by TorchX's torchx.tracker. It is read from the
// folders of its tracker `fsspec`: ROOT/BASE32 OF THE RUN/metadata and .../artifacts have one file
// of JSON for each call, with the time in nanoseconds as name.
type tracked struct {
	metadata  map[string]json.RawMessage
	artifacts map[string]trackedArtifact // by name
}

// trackedArtifact is an artifact as a program named it.
type trackedArtifact struct {
	Name     string          `json:"name"`
	Path     string          `json:"path"` // a path or a URL
	Metadata json.RawMessage `json:"metadata"`
}

// maxTracked bounds a file of a tracker in bytes.
const maxTracked = 1 << 20

// readTracked reads what all configured trackers have of an app, or of an ID that only they know:
// of a run of TorchX. It warns about what it cannot read.
func readTracked(f *program.Factory, r *runner.Runner, ref runner.Ref, runID string) (*tracked, error) {
	t := &tracked{map[string]json.RawMessage{}, map[string]trackedArtifact{}}
	conf, err := f.Config()
	if r == nil || err != nil {
		return t, err
	}
	runIDs := []string{runID}
	if ref.ID != "" {
		runIDs = append(runIDs, ref.Handle()) // TORCHX_JOB_ID
	}
	for _, tracker := range r.Trackers(conf.Trackers()) {
		root, err := trackerFolder(f, tracker)
		if err != nil {
			f.Warn("tracker %s: %v", tracker.Name, err)
		}
		if root == "" {
			continue
		}
		for _, id := range slices.Compact(runIDs) {
			if err := t.read(filepath.Join(root, base32.StdEncoding.EncodeToString([]byte(id)))); err != nil {
				f.Warn("tracker %s: %v", tracker.Name, err)
			}
		}
	}
	return t, nil
}

// trackerFolder returns the root_path of a tracker whose config is a file of the tracker `fsspec`
// with protocol=file, "" for a tracker of another kind.
func trackerFolder(f *program.Factory, t config.Tracker) (string, error) {
	path := strings.TrimPrefix(t.Config, "file://")
	if path == "" || strings.Contains(path, "://") {
		return "", nil
	}
	path = f.Env.Absolute(path)
	data, err := safefile.ReadInput(path, maxTracked)
	if err != nil {
		return "", err
	}
	values := map[string]string{}
	for line := range strings.Lines(string(data)) {
		if key, value, ok := strings.Cut(line, "="); ok && !strings.HasPrefix(strings.TrimSpace(key), "#") {
			values[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
	}
	protocol, root := values["protocol"], values["root_path"]
	switch {
	case protocol == "" || root == "": // a file of another tracker
		return "", nil
	case protocol == "file" || protocol == "local":
		return f.Env.Absolute(root), nil
	}
	return "", fmt.Errorf("torchx reads folders (protocol=file), not %s of %s: use the tracker's own client", protocol, path)
}

// read adds what the folder of a run has; the last value of a name counts.
func (t *tracked) read(folder string) error {
	err := eachRecord(filepath.Join(folder, "metadata"), func(data []byte) error {
		var entry struct {
			Metadata map[string]json.RawMessage `json:"metadata"`
		}
		err := json.Unmarshal(data, &entry)
		for name, value := range entry.Metadata {
			t.metadata[name] = value
		}
		return err
	})
	return errors.Join(err, eachRecord(filepath.Join(folder, "artifacts"), func(data []byte) error {
		var a trackedArtifact
		if err := json.Unmarshal(data, &a); err != nil {
			return err
		}
		t.artifacts[a.Name] = a
		return nil
	}))
}

// list returns the metadata by name, secrets hidden.
func (t *tracked) list(f *program.Factory) (all []metadatum, err error) {
	data, err := f.MaskedJSON(t.metadata)
	if err != nil {
		return nil, err
	}
	shown := map[string]json.RawMessage{}
	if err := json.Unmarshal(data, &shown); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(shown)) {
		all = append(all, metadatum{name, shown[name]})
	}
	return all, nil
}

// eachRecord calls use with each file of a folder that may not exist, the oldest first.
func eachRecord(folder string, use func(data []byte) error) error {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	slices.SortStableFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(len(a.Name()), len(b.Name())) })
	for _, e := range entries {
		path := filepath.Join(folder, e.Name())
		data, readErr := safefile.ReadFile(path, maxTracked)
		if readErr == nil {
			readErr = use(quoteNonFinite(data))
		}
		if readErr != nil {
			err = cmp.Or(err, fmt.Errorf("read %s: %w", path, readErr))
		}
	}
	return err
}

// nonFinite matches the numbers that Python writes and JSON does not have, and strings.
var nonFinite = pattern.Lazy(`"(?:[^"\\]|\\.)*"|-?Infinity|NaN`)

// quoteNonFinite turns NaN and Infinity into strings, as other output of torchx has them.
func quoteNonFinite(data []byte) []byte {
	return nonFinite().ReplaceAllFunc(data, func(b []byte) []byte {
		if b[0] == '"' {
			return b
		}
		return slices.Concat([]byte{'"'}, b, []byte{'"'})
	})
}

// jsonText returns a value of JSON for a table: strings without quotes.
func jsonText(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	var b bytes.Buffer
	if json.Compact(&b, value) != nil {
		return string(value)
	}
	return b.String()
}
