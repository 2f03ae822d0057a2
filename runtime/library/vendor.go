package library

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"torchx/runtime/safefile"
)

// attributes keeps git from changing vendored files on checkout.
const attributes = "# Written by `torchx lib vendor`: these files must stay as they are, byte by byte.\n* -text -filter -ident -working-tree-encoding\n"

// Vendor is Sync, and copies the files of all libraries into torchx.vendor. From then on they are
// read from there, and commands that change the lock update it. It skips folders inside the
// project, and files such as .gitattributes, which would affect the project's own repository.
func (m *Manager) Vendor(ctx context.Context) ([]Change, error) {
	changes, err := m.Sync(ctx)
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(m.Root, VendorDir)
	if err := os.Mkdir(dir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("create %s: %w", m.path(VendorDir), pathCause(err))
	}
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() { // a link may point anywhere
		return nil, fmt.Errorf("%s is not a folder: move it away", m.path(VendorDir))
	}
	return changes, m.edit(func(*state) error { return nil })
}

// writeVendor brings torchx.vendor into agreement with the lock; before holds the previously
// locked libraries.
func (m *Manager) writeVendor(st *state, before []*Locked) error {
	dir := filepath.Join(m.Root, VendorDir)
	if err := m.clearVendor(dir, st, before); err != nil {
		return err
	}
	if old, err := safefile.ReadInput(filepath.Join(dir, ".gitattributes"), maxLock); err != nil ||
		string(old) != attributes {
		if err := writeFile(filepath.Join(dir, ".gitattributes"), []byte(attributes)); err != nil {
			return err
		}
	}
	for _, lib := range st.project.Libraries {
		k, err := st.locked(lib)
		if err != nil || !m.shouldVendor(lib) {
			continue // the next sync handles it
		}
		vendored := isVendored(m.Root, k.Name)
		if vendored && m.checkVendored(k) == nil {
			continue
		}
		err = m.vendorOne(dir, k)
		if vendored && err == nil && slices.Contains(before, k) {
			m.report("restored @%s in %s", k.Name, m.path(VendorDir))
		}
		if errors.Is(err, errNotFetched) || errors.Is(err, errDamaged) {
			continue // the next sync fetches it, unless it is replaced
		}
		if err != nil {
			return fmt.Errorf("library @%s: %w", k.Name, err)
		}
	}
	return nil
}

// shouldVendor reports whether a library belongs in torchx.vendor.
func (m *Manager) shouldVendor(lib Library) bool {
	if lib.Folder == "" {
		return true
	}
	folder := folderOf(m.Root, lib.Folder)
	return displayPath(folder, m.Root) == folder
}

// leftover is the prefix of temporary names, which a killed process leaves behind.
const leftover = ".torchx-"

// clearVendor removes libraries that should not be vendored any more and leftovers of killed
// processes; it keeps other files.
func (m *Manager) clearVendor(dir string, st *state, before []*Locked) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("read %s: %w", m.path(VendorDir), pathCause(err))
	}
	var obsolete []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), leftover) {
			obsolete = append(obsolete, e.Name())
		}
	}
	for _, k := range before {
		if lib, listed := st.project.Find(k.Name); !listed || !m.shouldVendor(lib) {
			obsolete = append(obsolete, k.Name)
		}
	}
	for _, name := range obsolete {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("remove %s: %w", m.path(filepath.Join(VendorDir, name)), pathCause(err))
		}
	}
	return nil
}

// vendorOne writes the files of a library to a temporary folder, then renames it.
func (m *Manager) vendorOne(dir string, k *Locked) error {
	fresh, err := os.MkdirTemp(dir, leftover)
	if err != nil {
		return err
	}
	defer os.RemoveAll(fresh)
	if err := m.copyTo(filepath.Join(fresh, "new"), k); err != nil {
		return err
	}
	target := filepath.Join(dir, k.Name)
	if err := os.Rename(target, filepath.Join(fresh, "old")); err != nil &&
		!errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.Rename(filepath.Join(fresh, "new"), target)
}

func (m *Manager) copyTo(dir string, k *Locked) error {
	if err := os.Mkdir(dir, 0o777); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, f := range k.Files {
		if isGitFile(f.Name) {
			continue
		}
		data, err := m.source(k, f)
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		if err := root.MkdirAll(filepath.FromSlash(path.Dir(f.Name)), 0o777); err != nil {
			return err
		}
		if err := root.WriteFile(filepath.FromSlash(f.Name), data, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// source reads a file of a library from its source.
func (m *Manager) source(k *Locked, f File) ([]byte, error) {
	if k.Folder != "" {
		return readFolderFile(m.Root, k, f.Name, f.Sum)
	}
	return (&Set{Cache: m.Cache}).readCached(f.Sum)
}

// isGitFile reports whether a file configures git for its folder.
func isGitFile(name string) bool { return strings.HasPrefix(path.Base(name), ".git") }

// checkVendored compares the vendored files of a library with the lock.
func (m *Manager) checkVendored(k *Locked) error {
	for _, f := range k.Files {
		if isGitFile(f.Name) {
			continue
		}
		if _, err := readVendored(m.Root, k.Name, f.Name, f.Sum); err != nil {
			return fmt.Errorf("library @%s: %s: %w", k.Name, f.Name, err)
		}
	}
	return m.checkForeign(k)
}

// checkForeign returns an error if there are vendored files that are not in the lock.
func (m *Manager) checkForeign(k *Locked) error {
	var foreign []string
	dir := filepath.Join(m.Root, VendorDir, k.Name)
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if _, known := k.Sum(filepath.ToSlash(name)); !known {
			foreign = append(foreign, filepath.ToSlash(name))
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("library @%s: read %s: %w", k.Name,
			m.path(filepath.Join(VendorDir, k.Name)), pathCause(err))
	}
	if len(foreign) > 0 {
		slices.Sort(foreign)
		return fmt.Errorf("library @%s: %s has files that are not in the lock: %s; `torchx lib vendor` removes them", k.Name, m.path(filepath.Join(VendorDir, k.Name)), Difference{Changed: foreign})
	}
	return nil
}
