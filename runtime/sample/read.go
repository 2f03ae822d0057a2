package sample

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"torchx/runtime/safefile"
	"torchx/runtime/spec"
)

// Series are the samples of one attempt, oldest first.
type Series struct {
	Replica spec.Replica
	Attempt int
	Samples []Sample
}

// Read returns the samples of an app by role (in name order), replica and attempt; none if it has
// no samples. It skips damaged lines.
func Read(appDir string) ([]Series, error) {
	if err := safefile.CheckFolder(appDir); err != nil {
		return nil, err
	}
	names, err := filepath.Glob(filepath.Join(globbed(appDir), folder, "*"+extension))
	if err != nil {
		return nil, fmt.Errorf("read samples: %w", err)
	}
	var all []Series
	for _, name := range names {
		data, err := safefile.ReadFile(name, maxFile)
		if errors.Is(err, os.ErrNotExist) {
			continue // deleted meanwhile
		}
		if err != nil {
			return nil, fmt.Errorf("read samples: %w", err)
		}
		all = append(all, parse(data)...)
	}
	slices.SortStableFunc(all, func(a, b Series) int {
		return cmp.Or(cmp.Compare(a.Replica.Role, b.Replica.Role),
			cmp.Compare(a.Replica.ID, b.Replica.ID), cmp.Compare(a.Attempt, b.Attempt))
	})
	return all, nil
}

// globbed escapes a path for filepath.Glob.
func globbed(dir string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

// parse returns the series in the file of one replica.
func parse(data []byte) (all []Series) {
	var replica *spec.Replica
	for text := range bytes.Lines(data) {
		text, whole := bytes.CutSuffix(text, []byte("\n"))
		var l line
		if !whole || !decode(text, &l) {
			continue
		}
		if l.Role != "" {
			replica = &spec.Replica{Role: l.Role, ID: l.Replica}
			continue
		}
		if replica == nil || l.Length <= 0 || l.Attempt < 0 {
			continue
		}
		i := slices.IndexFunc(all, func(s Series) bool { return s.Attempt == l.Attempt })
		if i < 0 {
			i = len(all)
			all = append(all, Series{Replica: *replica, Attempt: l.Attempt})
		}
		all[i].Samples = append(all[i].Samples, l.sample())
	}
	return all
}

// ReadReplica returns the samples of one attempt.
func ReadReplica(appDir string, r spec.Replica, attempt int) []Sample {
	data, err := safefile.ReadFile(path(appDir, r), maxFile)
	if err != nil {
		return nil
	}
	var found []Sample
	for _, s := range parse(data) {
		if s.Attempt == attempt {
			found = append(found, s.Samples...)
		}
	}
	return found
}

// Reason returns why an app has no samples, "" if that is unknown.
func Reason(appDir string) string {
	data, err := safefile.ReadFile(filepath.Join(appDir, folder, reasonFile), maxReason)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(strings.ToValidUTF8(string(data), "?"))
}
