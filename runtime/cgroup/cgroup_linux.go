package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Self returns the folder of this process's v2 group.
func Self() (string, error) {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return "", fmt.Errorf("find cgroup: %w", err)
	}
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", fmt.Errorf("find cgroup: %w", err)
	}
	return parseSelf(string(mounts), string(groups))
}

// parseSelf parses the two files as in proc(5): a mount's line has root and mount point as fields
// 4 and 5, and its type after a dash; a group's line is "0::/path".
func parseSelf(mounts, groups string) (string, error) {
	path := ""
	for line := range strings.Lines(groups) {
		if rest, ok := strings.CutPrefix(line, "0::"); ok {
			path = strings.TrimSuffix(rest, "\n")
		}
	}
	for line := range strings.Lines(mounts) {
		before, after, _ := strings.Cut(line, " - ")
		fields := strings.Fields(before)
		if len(fields) < 5 || !strings.HasPrefix(after, "cgroup2 ") || path == "" {
			continue
		}
		if rel, err := filepath.Rel(fields[3], path); err == nil && rel != ".." &&
			!strings.HasPrefix(rel, "../") {
			return filepath.Join(fields[4], rel), nil
		}
	}
	return "", errors.New("cgroup v2 is not mounted")
}

func writable(path string) error {
	if err := unix.Access(path, unix.W_OK); err != nil {
		return &os.PathError{Op: "access", Path: path, Err: err}
	}
	return nil
}

const (
	killWait  = 5 * time.Second
	killPause = 2 * time.Millisecond
)

// Kill kills all processes of a group atomically, including new ones (cgroup.kill, Linux 5.14); on
// older kernels one by one.
func Kill(dir string) {
	if !strings.HasPrefix(filepath.Base(filepath.Dir(dir)), prefix) || !isGroup(dir) {
		return
	}
	if write(dir, "cgroup.kill", "1") == nil {
		return
	}
	for _, pid := range Processes(dir) {
		_ = unix.Kill(pid, unix.SIGKILL) // it may have ended already
	}
}

// isGroup reports whether a folder is in the cgroup file system.
func isGroup(dir string) bool {
	var info unix.Statfs_t
	return unix.Statfs(dir, &info) == nil && info.Type == unix.CGROUP2_SUPER_MAGIC
}

// End kills all processes of a group, waits for their end and removes the group, and its app's
// folder with the last group.
func End(dir string) error {
	for deadline := time.Now().Add(killWait); ; time.Sleep(killPause) {
		Kill(dir)
		err := Remove(dir)
		if err == nil {
			RemoveApp(filepath.Dir(dir))
		}
		if err == nil || time.Now().After(deadline) {
			return err
		}
	}
}
