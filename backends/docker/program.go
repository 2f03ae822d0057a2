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

	"torchx/runtime/agent"
	"torchx/runtime/spec"
)

// defaultPath is the PATH of an engine's init if neither image nor role sets one (as in
// runc).
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// checkPrograms checks the entry points before any container starts and returns the index
// of the first that cannot be executed. Without an init the runtime reports this itself.
// With one, the container starts anyway, and the failure looks like an exit of the program.
func (l *launcher) checkPrograms(
	ctx context.Context, batch []agent.Start, containers []created,
) (int, error) {
	var indexes []int
	seen := map[string]bool{}
	for i, s := range batch {
		c := l.byKey[s.Replica]
		key := c.Config.Image + "\x00" + program(c.Config) + "\x00" + environment(c.Config.Env, "PATH")
		if s.Attempt == 0 && containers[i].isNew && c.HostConfig.Init != nil &&
			*c.HostConfig.Init && !seen[key] {
			seen[key] = true
			indexes = append(indexes, i)
		}
	}
	refused := make([]error, len(indexes))
	_ = forEach(len(indexes), func(n int) error {
		i := indexes[n]
		r := batch[i].Replica
		err := l.engine.do(ctx, func() error { return l.checkProgram(ctx, l.byKey[r], containers[i].id) })
		if p, ok := err.(*programError); ok { //nolint:errorlint // never wrapped
			err = &agent.ReplicaStartError{Replica: r, Code: p.code, Err: p}
		}
		if err != nil {
			refused[n] = refusal(ctx, r, spec.ExitNotStarted, err)
		}
		return nil
	})
	n := slices.IndexFunc(refused, func(err error) bool { return err != nil })
	if n < 0 {
		return 0, nil
	}
	return indexes[n], refused[n]
}

// programError is an entry point that cannot be executed.
type programError struct {
	code int
	text string
}

func (e *programError) Error() string { return e.text }

// program returns the program that a container executes.
func program(c *container.Config) string {
	if argv := slices.Concat(c.Entrypoint, c.Cmd); len(argv) > 0 {
		return argv[0]
	}
	return ""
}

func notFound(c *Container) error {
	return &programError{spec.ExitNotFound, fmt.Sprintf("entry point %s: not found in image %s", program(c.Config), c.Config.Image)}
}

func notExecutable(c *Container) error {
	return &programError{spec.ExitNotExecutable, fmt.Sprintf("entry point %s: not executable in image %s", program(c.Config), c.Config.Image)}
}

// checkProgram looks for the entry point in a created container.
func (l *launcher) checkProgram(ctx context.Context, c *Container, id string) error {
	name := program(c.Config)
	dirs, base := []string{""}, ""
	if !path.IsAbs(name) {
		info, err := l.engine.ContainerInspect(ctx, id)
		if err != nil {
			return err
		}
		base = path.Join("/", info.Config.WorkingDir)
		if !strings.Contains(name, "/") {
			search := environment(info.Config.Env, "PATH")
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
		found, executable, err := l.stat(ctx, id, file)
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

// stat reports whether a file exists in a container and is executable. It follows links.
func (l *launcher) stat(ctx context.Context, id, file string) (found, executable bool, err error) {
	for range 2 {
		stat, err := l.engine.ContainerStatPath(ctx, id, file)
		if errdefs.IsNotFound(err) {
			return false, false, nil
		}
		if err != nil {
			return false, false, fmt.Errorf("check %s: %w", file, plain(err))
		}
		if stat.Mode&os.ModeSymlink == 0 || stat.LinkTarget == "" {
			return true, stat.Mode.IsRegular() && stat.Mode&0o111 != 0, nil
		}
		file = stat.LinkTarget // the engine has resolved all links
	}
	return true, true, nil // the engine cannot resolve the link: let it try
}
