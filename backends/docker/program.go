//go:build unix

package docker

import (
	"context"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"golang.org/x/sync/errgroup"

	"torchx/runtime/agent"
)

// defaultPath is where an engine's init looks when neither image nor role has a
// PATH (that of runc).
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// checkPrograms looks the entry points up before any container starts. Without an
// init the runtime does so itself; an init is started in any case, and what it
// fails to start looks like a program that ended.
func (l *launcher) checkPrograms(ctx context.Context, batch []agent.Start, containers []made) (int, error) {
	refused := make([]error, len(batch))
	seen := map[string]bool{}
	var all errgroup.Group
	all.SetLimit(parallel)
	for i, s := range batch {
		c := l.byKey[s.Replica]
		key := c.Config.Image + "\x00" + program(c.Config) + "\x00" + environment(c.Config.Env, "PATH")
		if s.Attempt > 0 || !containers[i].ours || c.HostConfig.Init == nil || !*c.HostConfig.Init || seen[key] {
			continue
		}
		seen[key] = true
		all.Go(func() error {
			err := l.engine.do(ctx, func() error { return l.checkProgram(ctx, c, containers[i].id) })
			if err != nil {
				refused[i] = refusal(ctx, s.Replica, codeOther, refuse(s, err))
			}
			return nil
		})
	}
	_ = all.Wait() // all are in refused
	i := slices.IndexFunc(refused, func(err error) bool { return err != nil })
	if i < 0 {
		return 0, nil
	}
	return i, refused[i]
}

// programError says that an entry point cannot be executed.
type programError struct {
	code int
	text string
}

func (e *programError) Error() string { return e.text }

func refuse(s agent.Start, err error) error {
	if p, ok := err.(*programError); ok { //nolint:errorlint // never wrapped
		return &agent.ReplicaStartError{Replica: s.Replica, Code: p.code, Err: p}
	}
	return err
}

// program is what a container executes.
func program(c *container.Config) string {
	for _, argv := range [][]string{c.Entrypoint, c.Cmd} {
		if len(argv) > 0 {
			return argv[0]
		}
	}
	return ""
}

func notFound(c *Container) error {
	return &programError{codeNotFound, fmt.Sprintf("entry point %s: not found in image %s", program(c.Config), c.Config.Image)}
}

func notExecutable(c *Container) error {
	return &programError{codeNotExecutable, fmt.Sprintf("entry point %s: not executable in image %s", program(c.Config), c.Config.Image)}
}

// checkProgram looks for the entry point in a container that was just made.
func (l *launcher) checkProgram(ctx context.Context, c *Container, id string) error {
	name := program(c.Config)
	dirs, base := []string{""}, ""
	if !path.IsAbs(name) {
		made, err := l.engine.ContainerInspect(ctx, id)
		if err != nil {
			return err
		}
		base = path.Join("/", made.Config.WorkingDir)
		if !strings.Contains(name, "/") {
			search := environment(made.Config.Env, "PATH")
			if search == "" {
				search = defaultPath
			}
			dirs = strings.Split(search, ":")
		}
	}
	forbidden := false
	for _, dir := range dirs {
		file := path.Join(dir, name)
		if !path.IsAbs(file) {
			file = path.Join(base, file)
		}
		found, executable, err := l.lookAt(ctx, id, file)
		if err != nil || executable {
			return err
		}
		forbidden = forbidden || found
	}
	if forbidden {
		return notExecutable(c)
	}
	return notFound(c)
}

// lookAt tells whether a path is there and can be executed. A link is taken for
// what it points at.
func (l *launcher) lookAt(ctx context.Context, id, file string) (found, executable bool, err error) {
	for range 2 {
		stat, err := l.engine.ContainerStatPath(ctx, id, file)
		if errdefs.IsNotFound(err) {
			return false, false, nil
		}
		if err != nil {
			return false, false, fmt.Errorf("look for %s: %w", file, plain(err))
		}
		if stat.Mode&os.ModeSymlink == 0 || stat.LinkTarget == "" {
			return true, stat.Mode.IsRegular() && stat.Mode&0o111 != 0, nil
		}
		file = stat.LinkTarget // the engine has followed all links by then
	}
	return true, true, nil // a link that the engine cannot resolve: let it try
}
