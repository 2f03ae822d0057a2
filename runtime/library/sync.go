package library

import (
	"context"
	"fmt"
)

// Sync brings lock and cache into agreement with the project: it locks new libraries, fetches
// missing files of locked ones at their commits, and removes unlisted libraries from the lock.
// Replaced libraries stay unchanged. Errors of all libraries are joined; the lock is then
// unchanged.
func (m *Manager) Sync(ctx context.Context) ([]Change, error) {
	st, err := m.needProject()
	if err != nil {
		return nil, err
	}
	changes := make([]*Change, len(st.project.Libraries))
	err = forEach(ctx, st.project.Libraries, func(ctx context.Context, i int, lib Library) (err error) {
		if _, replaced := st.project.Replacement(lib.Name); !replaced {
			changes[i], err = m.syncOne(ctx, st, lib)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return m.commit(changes)
}

// syncOne locks one library, or fetches it as locked; nil means that nothing was needed.
func (m *Manager) syncOne(ctx context.Context, st *state, lib Library) (*Change, error) {
	old := st.lock.Find(lib.Name)
	if old == nil || !old.same(lib) {
		locked, err := m.lockLibrary(ctx, lib, "")
		return &Change{lib.Name, old, locked}, err
	}
	if m.available(old) {
		return nil, nil
	}
	now, err := m.lockLibrary(ctx, lib, old.Commit)
	if err != nil {
		return nil, err
	}
	if d := Compare(old, now); !d.IsEmpty() {
		return nil, changedError(lib, d)
	}
	if lib.Folder != "" {
		return nil, nil
	}
	return &Change{lib.Name, old, old}, nil
}

func changedError(lib Library, d Difference) error {
	if lib.Folder == "" {
		return fmt.Errorf("library @%s: the files at %s differ from %s: %s", lib.Name,
			lib.URL, LockFile, d)
	}
	return fmt.Errorf("library @%s: %s was changed since it was locked: %s; `torchx lib update %s` locks the current files", lib.Name, lib.Folder, d, lib.Name)
}

// available reports whether all files of a library are undamaged in the project or the cache.
func (m *Manager) available(k *Locked) bool {
	if isVendored(m.Root, k.Name) && m.checkVendored(k) == nil {
		return true
	}
	if k.Folder != "" {
		return false
	}
	for _, f := range k.Files {
		if _, err := m.Cache.Get(f.Sum); err != nil {
			return false
		}
	}
	return true
}

// commit writes the new locks and removes unlisted libraries from the lock. It skips libraries
// that another process changed meanwhile: the next sync handles them.
func (m *Manager) commit(changes []*Change) ([]Change, error) {
	var out []Change
	err := m.edit(func(now *state) error {
		for _, c := range changes {
			if c == nil {
				continue
			}
			out = append(out, *c)
			lib, ok := now.project.Find(c.Name)
			if ok && c.New.same(lib) {
				now.lock.Set(c.New)
			}
		}
		for _, k := range now.lock.Libraries {
			if _, listed := now.project.Find(k.Name); !listed {
				now.lock.Remove(k.Name)
				out = append(out, Change{Name: k.Name, Old: k})
			}
		}
		return nil
	})
	return out, err
}

// Wanted is a library to update, with a new revision if that is not "".
type Wanted struct{ Name, Revision string }

// Update locks libraries at the current commit of their revision, or at a new revision; no names
// mean all libraries. Like Sync it changes all or nothing.
func (m *Manager) Update(ctx context.Context, wanted []Wanted) ([]Change, error) {
	st, err := m.needProject()
	if err != nil {
		return nil, err
	}
	if len(wanted) == 0 {
		for _, lib := range st.project.Libraries {
			wanted = append(wanted, Wanted{Name: lib.Name})
		}
	}
	if err := m.checkUpdate(st, wanted); err != nil {
		return nil, err
	}
	changes := make([]*Change, len(wanted))
	err = forEach(ctx, wanted, func(ctx context.Context, i int, w Wanted) error {
		lib, _ := st.project.Find(w.Name)
		if w.Revision != "" {
			lib.Revision = w.Revision
		}
		if _, replaced := st.project.Replacement(w.Name); replaced && w.Revision == "" {
			m.report("library @%s is replaced, and stays at %s", w.Name, lib.Revision)
			return nil
		}
		old := st.lock.Find(w.Name)
		if same, err := m.isUpToDate(ctx, lib, old); err != nil || same {
			if old != nil { // a different pointer means that nothing was fetched
				unchanged := *old
				changes[i] = &Change{w.Name, old, &unchanged}
			}
			return err
		}
		locked, err := m.lockLibrary(ctx, lib, "")
		changes[i] = &Change{w.Name, old, locked}
		return err
	})
	if err != nil {
		return nil, err
	}
	return m.commitUpdate(changes)
}

// isUpToDate reports whether a library of a repository is available at the current commit of its
// revision, so that no fetch is needed.
func (m *Manager) isUpToDate(ctx context.Context, lib Library, old *Locked) (bool, error) {
	if lib.URL == "" || old == nil || !old.same(lib) || !m.available(old) {
		return false, nil
	}
	commit, err := m.Git.Resolve(ctx, lib.URL, lib.Revision)
	if err != nil {
		return false, fmt.Errorf("library @%s: %w", lib.Name, fetchError(ctx, lib.URL, "", err))
	}
	return commit == old.Commit, nil
}

func (m *Manager) checkUpdate(st *state, wanted []Wanted) error {
	var names []string
	for _, w := range wanted {
		names = append(names, w.Name)
	}
	if err := m.checkListed(st, names); err != nil {
		return err
	}
	for _, w := range wanted {
		lib, _ := st.project.Find(w.Name)
		if w.Revision == "" {
			continue
		}
		if lib.Folder != "" {
			return fmt.Errorf("library @%s is the folder %s and has no revisions", w.Name, lib.Folder)
		}
		if err := CheckRevision(w.Revision); err != nil {
			return fmt.Errorf("library @%s: %w", w.Name, err)
		}
	}
	return nil
}

func (m *Manager) commitUpdate(changes []*Change) ([]Change, error) {
	var out []Change
	err := m.edit(func(now *state) error {
		for _, c := range changes {
			if c == nil {
				continue
			}
			lib, ok := now.project.Find(c.Name)
			if !ok || lib.Source() != c.New.Source() {
				return fmt.Errorf("another process changed %s in the meantime: try unchanged",
					m.path(ProjectFile))
			}
			if !lib.same(c.New.Library) {
				if err := now.project.Set(c.New.Library); err != nil {
					return err
				}
			}
			now.lock.Set(c.New)
			out = append(out, *c)
		}
		return nil
	})
	return out, err
}
