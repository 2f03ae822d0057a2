package agent

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// keepLink is a symbolic link in the folder of a deletion. It points to the new path of a
// kept folder, so that another process can finish an interrupted deletion.
const keepLink = "keep"

// Keep names a folder of a bundle that outlives it, and the path it moves to.
type Keep struct{ Folder, To string }

// Remove deletes the bundle. It disappears for all processes immediately, even if deleting
// its files is interrupted. With keep one folder is moved elsewhere instead. The error wraps
// fs.ErrNotExist if the bundle is gone.
func (b Bundle) Remove(keep *Keep) error {
	b.supervisor().RemoveEntry()
	trash, err := os.MkdirTemp(filepath.Dir(b.Dir), ".old-")
	if err != nil {
		return fmt.Errorf("delete app folder: %w", err)
	}
	if keep != nil {
		err = os.Symlink(keep.To, filepath.Join(trash, keepLink+"-"+keep.Folder))
	}
	if err == nil {
		err = os.Rename(b.Dir, filepath.Join(trash, deletedBundle))
	}
	if err != nil {
		return errors.Join(fmt.Errorf("delete app folder: %w", err), os.RemoveAll(trash))
	}
	err = finishRemoval(trash)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("delete app folder: %w (files of a container's user: run `sudo rm -r %s`)", err, trash)
	case err != nil:
		return fmt.Errorf("delete app folder: %w", err)
	}
	return nil
}

// deletedBundle is the bundle's name within the folder of its deletion.
const deletedBundle = "bundle"

// finishRemoval moves kept folders away, then deletes a folder that Remove made. If a
// move fails, it deletes nothing.
func finishRemoval(trash string) error {
	links, err := filepath.Glob(filepath.Join(trash, keepLink+"-*"))
	if err != nil {
		return err
	}
	for _, link := range links {
		to, err := os.Readlink(link)
		if err != nil {
			return err
		}
		from := filepath.Join(trash, deletedBundle,
			strings.TrimPrefix(filepath.Base(link), keepLink+"-"))
		if err := moveKept(from, to); err != nil {
			return fmt.Errorf("keep %s: %w", from, err)
		}
	}
	return os.RemoveAll(trash)
}

// moveKept moves a folder; a missing one has been moved before.
func moveKept(from, to string) error {
	if _, err := os.Lstat(from); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := makePrivate(filepath.Dir(to)); err != nil {
		return err
	}
	return os.Rename(from, to)
}

// CleanUp removes what interrupted creations and deletions left behind in a home.
func CleanUp(home string) {
	entries, err := os.ReadDir(appsDir(home))
	if err != nil {
		return
	}
	for _, e := range entries {
		b := Bundle{filepath.Join(appsDir(home), e.Name())}
		info, err := e.Info()
		if e.Name()[0] != '.' || err != nil || !Settled(info) || b.Held() {
			continue
		}
		_ = finishRemoval(b.Dir) // the next clean-up tries again
	}
}

// Settled reports whether a file or folder is too old to be still under construction by a
// live process.
func Settled(info fs.FileInfo) bool { return time.Since(info.ModTime()) >= time.Minute }
