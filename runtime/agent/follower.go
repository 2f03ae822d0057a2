package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"torchx/runtime/filelock"
	"torchx/runtime/safefile"
)

const (
	// SubmitTime is how long an app may take to appear: a follower begins before the submission,
	// so that a crash in between loses nothing.
	SubmitTime = 10 * time.Minute
	// followersLive is the folder with an empty file for each follower that has work to do.
	followersLive = "live"
	// followerLockWait outlasts processes that only check whether the lock is held.
	followerLockWait = 5 * time.Second
)

// life returns the lock and the live entry of a follower.
func (f Followers) life(dir string) Life {
	return Life{Dir: dir, LiveDir: filepath.Join(filepath.Dir(dir), followersLive), Manifest: f.Manifest}
}

// Begin records, before an app is submitted, that an agent must follow it. The manifest contains
// NewFollowed.
func (f Followers) Begin(dir string, manifest any) error {
	if err := f.Write(dir, manifest); err != nil {
		return err
	}
	entry := f.life(dir).Entry()
	err := os.MkdirAll(filepath.Dir(entry), 0o700)
	if err == nil {
		err = safefile.WriteFile(entry, nil)
	}
	if err != nil {
		return fmt.Errorf("create archive: %w", err)
	}
	return nil
}

// Forget reverts Begin for an app whose submission failed.
func (f Followers) Forget(dir string) error {
	f.life(dir).RemoveEntry()
	return f.Remove(dir)
}

// Spawn starts the program exe as a follower, detached, unless there is one. If two start at the
// same time, the second one exits.
func (f Followers) Spawn(exe, dir string) error {
	l := f.life(dir)
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

// Recover restarts the followers of a home that died before they were done. Its cost depends only
// on the number of followed apps.
func (f Followers) Recover(home, exe string) error {
	entries, err := LiveEntries(filepath.Join(home, f.Folder, followersLive))
	if err != nil {
		return fmt.Errorf("find archives without an agent: %w", err)
	}
	var errs []error
	for _, e := range entries {
		dir := filepath.Join(home, f.Folder, e.Name())
		var i Followed
		switch err := f.Read(dir, &i); {
		case errors.Is(err, fs.ErrNotExist), err == nil && i.Done:
			f.life(dir).RemoveEntry()
		case err != nil:
			errs = append(errs, err)
		default:
			errs = append(errs, f.Spawn(exe, dir))
		}
	}
	return errors.Join(errs...)
}

// Run is the life of a follower: it calls follow, which returns when the app has ended and its
// logs are complete, and then records that nothing is left to do. An error means that the next
// command starts another follower. It returns immediately if another process is the follower, and
// soon after the folder is deleted.
func (f Followers) Run(ctx context.Context, dir string, follow func(context.Context, Followed) error) error {
	lock, err := f.life(dir).Acquire(followerLockWait)
	if errors.Is(err, filelock.ErrHeld) {
		return nil
	}
	if err != nil {
		return err
	}
	defer lock.Close()
	if _, err := fmt.Fprintf(lock.File, "%-10d\n", os.Getpid()); err != nil { // one write replaces the old pid
		return fmt.Errorf("write %s: %w", lock.File.Name(), err)
	}
	var i Followed
	if err := f.Read(dir, &i); err != nil || i.Done {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go f.cancelWhenDeleted(ctx, dir, cancel)
	err = follow(ctx, i)
	if ctx.Err() != nil {
		return nil // the folder was deleted
	}
	if err != nil {
		return err
	}
	return f.markDone(dir)
}

// cancelWhenDeleted calls cancel after the folder was deleted.
func (f Followers) cancelWhenDeleted(ctx context.Context, dir string, cancel context.CancelFunc) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for f.Has(dir) {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
	cancel()
}

// markDone records in a manifest, of which it knows only Followed, that its follower is done.
func (f Followers) markDone(dir string) error {
	all := map[string]json.RawMessage{}
	if err := f.Read(dir, &all); err != nil {
		return err
	}
	all["done"] = json.RawMessage("true")
	if err := f.Write(dir, all); err != nil {
		return err
	}
	f.life(dir).RemoveEntry()
	return nil
}
