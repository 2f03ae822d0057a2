// Package cgroup limits and kills groups of processes with control groups version 2 (the kernel's
// Documentation/admin-guide/cgroup-v2.rst). It uses only a folder that is delegated to this user.
//
//	<parent>/torchx-agents          processes of torchx, moved away from the parent
//	<parent>/torchx-<app>/<group>   one attempt of one replica
//	<parent>/torchx-<app>-<home>/all  all processes of an app without limits
package cgroup

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Limits are the limits of a group; 0 means none.
type Limits struct {
	Memory int64   // bytes, for all processes together, without swap
	CPU    float64 // cores
}

const (
	prefix = "torchx-"
	agents = "torchx-agents"
	// cpuPeriod is the period of cpu.max in µs: the kernel's default.
	cpuPeriod = 100000
	// leastQuota is the smallest quota that the kernel accepts, in µs.
	leastQuota = 1000
)

// Parent is a folder of the cgroup file system in which groups are created.
type Parent struct {
	Dir     string
	Enabled []string // controllers of its children, enabled now or later
}

// Has reports whether the parent's children have a controller.
func (p Parent) Has(controller string) bool {
	return slices.Contains(p.Enabled, controller)
}

// Open checks a folder and changes nothing. The error tells why groups with these controllers
// cannot be created in it.
func Open(dir string, controllers ...string) (Parent, error) {
	if filepath.Base(dir) == agents { // this agent was moved available
		dir = filepath.Dir(dir)
	}
	p := Parent{Dir: dir}
	available, err := words(dir, "cgroup.controllers")
	if err != nil {
		return p, fmt.Errorf("%s is not a cgroup v2: %w", dir, cause(err))
	}
	for _, name := range []string{"cgroup.procs", "cgroup.subtree_control"} {
		if err := writable(filepath.Join(dir, name)); err != nil {
			return p, fmt.Errorf("cgroup %s is not delegated to this user: %w", dir, cause(err))
		}
	}
	enabled, err := words(dir, "cgroup.subtree_control")
	if err != nil {
		return p, fmt.Errorf("read cgroup: %w", err)
	}
	var blocked error
	for _, c := range controllers {
		switch {
		case slices.Contains(enabled, c):
		case !slices.Contains(available, c):
			continue
		default:
			if blocked = findOtherProcess(dir); blocked != nil {
				continue
			}
		}
		p.Enabled = append(p.Enabled, c)
	}
	if len(p.Enabled) > 0 || len(controllers) == 0 {
		return p, nil
	}
	if blocked != nil {
		return p, blocked
	}
	return p, fmt.Errorf("cgroup %s has no %s controller", dir, strings.Join(controllers, " or "))
}

// findOtherProcess returns an error if the group contains a process that is not torchx: children of
// a group with processes cannot have controllers.
func findOtherProcess(dir string) error {
	pids, err := words(dir, "cgroup.procs")
	if err != nil {
		return fmt.Errorf("read cgroup: %w", err)
	}
	for _, pid := range pids {
		if !isOwnProgram(pid) {
			return fmt.Errorf("cgroup %s contains other processes (such as %s)", dir, pid)
		}
	}
	return nil
}

// isOwnProgram reports whether a process runs this program.
func isOwnProgram(pid string) bool {
	own, err := os.Stat("/proc/self/exe")
	if err != nil {
		return false
	}
	other, err := os.Stat(filepath.Join("/proc", pid, "exe"))
	return err == nil && os.SameFile(own, other)
}

// homeGroup returns the folder name of an app for AppGroup. Apps of different homes may have the
// same ID; a hash of the app's folder distinguishes them.
func homeGroup(appDir string) string {
	sum := sha256.Sum256([]byte(appDir))
	return prefix + filepath.Base(appDir) + "-" + hex.EncodeToString(sum[:4])
}

// BelongsTo reports whether a group belongs to the app with a folder in its home.
func BelongsTo(group, appDir string) bool {
	name := filepath.Base(filepath.Dir(group))
	return name == prefix+filepath.Base(appDir) || name == homeGroup(appDir)
}

// App creates the folder of an app's groups; name must be a plain file name.
func (p Parent) App(name string) (string, error) {
	if err := p.enable(); err != nil {
		return "", err
	}
	dir := filepath.Join(p.Dir, prefix+name)
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return "", fmt.Errorf("create cgroup: %w", err)
	}
	if len(p.Enabled) == 0 {
		return dir, nil
	}
	return dir, write(dir, "cgroup.subtree_control", enableText(p.Enabled))
}

// enable enables the controllers for the parent's children, after moving processes of torchx away
// if necessary.
func (p Parent) enable() error {
	if len(p.Enabled) == 0 {
		return nil
	}
	if have, err := words(p.Dir, "cgroup.subtree_control"); err == nil &&
		containsAll(have, p.Enabled) {
		return nil
	}
	err := write(p.Dir, "cgroup.subtree_control", enableText(p.Enabled))
	if err == nil {
		return nil
	}
	leaf := filepath.Join(p.Dir, agents)
	if err := os.Mkdir(leaf, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("create cgroup: %w", err)
	}
	pids, err := words(p.Dir, "cgroup.procs")
	if err != nil {
		return fmt.Errorf("read cgroup: %w", err)
	}
	for _, pid := range pids {
		if isOwnProgram(pid) {
			if err := write(leaf, "cgroup.procs", pid); err != nil {
				return err
			}
		}
	}
	return write(p.Dir, "cgroup.subtree_control", enableText(p.Enabled))
}

// AppGroup returns the group for all processes of an app without a group for each attempt. It
// later identifies what the app left running. It is not below the group of another app that
// started this one.
func (p Parent) AppGroup(appDir string) string {
	dir, _, _ := strings.Cut(p.Dir+"/", "/"+prefix)
	return filepath.Join(dir, homeGroup(appDir), "all")
}

// CreateAppGroup creates that group.
func CreateAppGroup(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("create cgroup: %w", err)
	}
	return nil
}

// Create creates a group with limits. It sets only the limits whose controller the app's folder
// has.
func Create(app, name string, l Limits) (string, error) {
	dir := filepath.Join(app, name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", fmt.Errorf("create cgroup: %w", err)
	}
	if err := l.set(dir); err != nil {
		return "", errors.Join(err, os.Remove(dir))
	}
	return dir, nil
}

func (l Limits) set(dir string) error {
	if l.Memory > 0 {
		if err := write(dir, "memory.max", strconv.FormatInt(l.Memory, 10)); err != nil {
			return err
		}
		// Kill all or none: part of a replica is useless.
		if err := write(dir, "memory.oom.group", "1"); err != nil {
			return err
		}
		// With swap, the replica would become slow instead. A kernel without swap has no such file.
		if err := write(dir, "memory.swap.max", "0"); err != nil &&
			!errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	if l.CPU > 0 {
		quota := max(leastQuota, int64(l.CPU*cpuPeriod))
		return write(dir, "cpu.max", fmt.Sprintf("%d %d", quota, cpuPeriod))
	}
	return nil
}

// OOMKills returns how many processes of a group were killed because of its memory limit.
func OOMKills(dir string) int {
	fields, err := words(dir, "memory.events")
	if err != nil {
		return 0
	}
	for i := 0; i+1 < len(fields); i += 2 {
		if fields[i] == "oom_kill" {
			n, _ := strconv.Atoi(fields[i+1]) // an invalid number counts as 0
			return n
		}
	}
	return 0
}

// Processes returns the processes of a group.
func Processes(dir string) []int {
	fields, _ := words(dir, "cgroup.procs") // a deleted group has none
	var pids []int
	for _, f := range fields {
		if pid, err := strconv.Atoi(f); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// Remove removes a group without processes.
func Remove(dir string) error {
	if !strings.HasPrefix(filepath.Base(filepath.Dir(dir)), prefix) {
		return fmt.Errorf("remove cgroup: %s was not created by torchx", dir)
	}
	if err := os.Remove(dir); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove cgroup: %w", err)
	}
	return nil
}

// RemoveApp removes the folder of an app without groups.
func RemoveApp(dir string) {
	if strings.HasPrefix(filepath.Base(dir), prefix) {
		_ = os.Remove(dir) // fails while it has groups
	}
}

func words(dir, name string) ([]string, error) {
	data, err := os.ReadFile(filepath.Join(dir, name))
	return strings.Fields(string(data)), err
}

// write writes an existing file: the cgroup file system does not allow to create files.
func write(dir, name, text string) error {
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("set cgroup: %w", err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		return fmt.Errorf("set cgroup: write %q: %w", text, err)
	}
	return nil
}

func enableText(names []string) string {
	return "+" + strings.Join(names, " +")
}

func containsAll(list, names []string) bool {
	for _, n := range names {
		if !slices.Contains(list, n) {
			return false
		}
	}
	return true
}

// cause returns the system's message without the path.
func cause(err error) error {
	if pe, ok := errors.AsType[*os.PathError](err); ok {
		return pe.Err
	}
	return err
}
