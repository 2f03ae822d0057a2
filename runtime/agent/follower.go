package agent

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"torchx/runtime/safefile"
)

// A follower is an agent that follows an app which runs elsewhere, such as on a cluster. Its folder
// and those of other apps are in one folder, with one folder of live entries for all of them.

// followersLive is that folder. It has an empty file for each follower that has work to do.
const followersLive = "live"

// FollowerLife returns the life of the follower with this folder.
func FollowerLife(dir, manifest string) Life {
	return Life{Dir: dir, LiveDir: filepath.Join(filepath.Dir(dir), followersLive), Manifest: manifest}
}

// AddEntry adds the entry of an app that a follower must follow.
func (l Life) AddEntry() error {
	if err := os.MkdirAll(l.LiveDir, 0o700); err != nil {
		return err
	}
	return safefile.WriteFile(l.Entry(), nil)
}

// Ensure starts a follower, detached, unless there is one. If two start at the same time, the
// second one exits.
func (l Life) Ensure(exe string) error {
	if l.Alive() {
		l.Resume()
		return nil
	}
	process, err := l.Start(exe)
	if err != nil {
		return fmt.Errorf("start archive agent: %w", err)
	}
	Reap(process)
	return nil
}

// SweepFollowers starts the followers below a folder again that died before they were done. Its
// cost depends only on the number of live entries.
func SweepFollowers(folder, manifest, exe string, done func(dir string) (bool, error)) error {
	entries, err := LiveEntries(filepath.Join(folder, followersLive))
	if err != nil {
		return fmt.Errorf("find archives without an agent: %w", err)
	}
	var errs []error
	for _, e := range entries {
		l := FollowerLife(filepath.Join(folder, e.Name()), manifest)
		isDone, err := done(l.Dir)
		switch {
		case errors.Is(err, fs.ErrNotExist), err == nil && isDone:
			l.RemoveEntry()
		case err != nil:
			errs = append(errs, err)
		default:
			errs = append(errs, l.Ensure(exe))
		}
	}
	return errors.Join(errs...)
}

// RemoveFollowed deletes the folder of a follower. Other processes never see a part of it.
func RemoveFollowed(dir string) error {
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
