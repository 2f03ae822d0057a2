package library

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"torchx/runtime/humanize"
	"torchx/runtime/library/git"
)

// lockLibrary locks a library in its current state, or at a known commit, and stores the files of a
// repository in the cache. Errors name the library.
func (m *Manager) lockLibrary(ctx context.Context, lib Library, commit string) (*Locked, error) {
	locked := &Locked{Library: lib}
	var err error
	if lib.Folder != "" {
		err = walkFolder(folderOf(m.Root, lib.Folder), func(name string, data []byte) error {
			locked.Files = append(locked.Files, File{name, SumOf(data)})
			return nil
		})
	} else {
		err = m.fetch(ctx, locked, commit)
	}
	if err != nil {
		return nil, fmt.Errorf("library @%s: %w", lib.Name, err)
	}
	locked.seal()
	return locked, nil
}

// fetch stores the files of a repository in the cache and adds them to locked.
func (m *Manager) fetch(ctx context.Context, locked *Locked, commit string) error {
	dir, remove, err := m.Cache.TempDir()
	if err != nil {
		return err
	}
	defer remove()
	if !m.Git.Offline || strings.HasPrefix(locked.URL, "file:") {
		m.report("fetching @%s %s from %s", locked.Name, locked.Revision, locked.URL)
	}
	repository, err := m.Git.Fetch(ctx, dir, locked.URL, locked.Revision, commit)
	if err != nil {
		return fetchError(ctx, locked.URL, commit, err)
	}
	locked.Commit = repository.Commit
	found := entries{}
	err = repository.Entries(ctx, locked.Path, found.add)
	if errors.Is(err, git.ErrNoFolder) {
		return fmt.Errorf("%s has no folder %s at %s", locked.URL, locked.Path, locked.Revision)
	}
	if err != nil {
		return err
	}
	m.reportSubmodules(locked.Name, found.submodules)
	return repository.Read(ctx, found.files, func(e git.Entry, data []byte) error {
		sum, err := m.Cache.Put(data)
		locked.Files = append(locked.Files, File{e.Name, sum})
		return err
	})
}

// reportSubmodules reports the first few skipped submodules by name.
func (m *Manager) reportSubmodules(library string, names []string) {
	const shown = 5
	for i, name := range names {
		if i == shown {
			m.report("library @%s: %d more submodules are skipped", library, len(names)-shown)
			return
		}
		m.report("library @%s: submodule %s is skipped", library, name)
	}
}

// entries collects the files of a library in a commit.
type entries struct {
	limit      budget
	names      names
	files      []git.Entry
	submodules []string
}

// add adds an entry, or returns an error if a library may not contain it.
func (s *entries) add(e git.Entry) error {
	if err := checkPath(e.Name); err != nil {
		return err
	}
	if err := s.names.add(e.Name, e.Kind == git.Folder); err != nil {
		return err
	}
	switch e.Kind {
	case git.Folder:
		return s.limit.takeFolder()
	case git.Symlink:
		return linkError(e.Name)
	case git.Submodule:
		s.submodules = append(s.submodules, e.Name)
	default:
		s.files = append(s.files, e)
	}
	return s.limit.take(e.Name, e.Size)
}

// fetchError explains a failed fetch.
func fetchError(ctx context.Context, url, commit string, err error) error {
	var unknown *git.UnknownRevisionError
	switch {
	case ctx.Err() != nil:
		return err
	case errors.As(err, &unknown) && commit != "":
		return fmt.Errorf("the locked commit %s is gone from %s: `torchx lib update` locks the current one", commit, url)
	case errors.As(err, &unknown):
		return fmt.Errorf("%s: %w.%s", url, err, humanize.Hint(unknown.Revision, unknown.Known))
	case errors.Is(err, git.ErrOffline):
		return fmt.Errorf("it is not in the cache, and %w from %s", err, url)
	}
	return fmt.Errorf("fetch %s: %w", url, err)
}

// defaultRevision returns the revision of a library that was added without one.
func (m *Manager) defaultRevision(ctx context.Context, lib Library) (string, error) {
	remote, err := m.Git.ListRefs(ctx, lib.URL)
	if err != nil {
		return "", fmt.Errorf("library @%s: %w", lib.Name, fetchError(ctx, lib.URL, "", err))
	}
	revision := cmp.Or(newestRelease(remote.Tags()), remote.Head)
	if revision == "" {
		return "", fmt.Errorf("library @%s: %s has neither a release nor a branch at HEAD: give a revision", lib.Name, lib.URL)
	}
	if err := CheckRevision(revision); err != nil {
		return "", fmt.Errorf("library @%s: %s: %w", lib.Name, lib.URL, err)
	}
	return revision, nil
}

// newestRelease returns the tag with the highest version, X.Y.Z with or without a v; "" if
// there is none. It ignores pre-releases (v1.0.0-rc.1).
func newestRelease(tags []string) string {
	newest, best := [3]uint64{}, ""
	for _, tag := range tags {
		v, ok := parseRelease(tag)
		if ok && (best == "" || slices.Compare(newest[:], v[:]) < 0) {
			newest, best = v, tag
		}
	}
	return best
}

func parseRelease(tag string) (v [3]uint64, ok bool) {
	parts := strings.Split(strings.TrimPrefix(tag, "v"), ".")
	if len(parts) != len(v) {
		return v, false
	}
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 10, 32)
		if err != nil || part[0] == '+' {
			return v, false
		}
		v[i] = n
	}
	return v, true
}
