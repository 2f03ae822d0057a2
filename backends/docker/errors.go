package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/versions"
	"github.com/docker/docker/client"

	"torchx/runtime/backend"
	"torchx/runtime/pattern"
)

const (
	// oldestAPI is the API version of Docker 19.03, the first with the init and device
	// requests that plans use.
	oldestAPI = "1.40"
	// connectTimeout bounds the wait for the first answer of an engine: a systemd socket
	// accepts connections before the engine is running.
	connectTimeout = 10 * time.Second
)

// connect connects to an engine and negotiates the newest API version that both support.
// Errors: ErrUnavailable, with a remedy.
func connect(ctx context.Context, e endpoint) (*client.Client, error) {
	c, err := e.open()
	if err != nil {
		return nil, backend.Errorf(backend.ErrUnavailable, "%w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	ping, err := c.Ping(ctx)
	if err == nil {
		err = checkAPI(ping)
	}
	if err != nil {
		c.Close()
		return nil, backend.Errorf(backend.ErrUnavailable, "%w", e.explain(err))
	}
	c.NegotiateAPIVersionPing(ping)
	return c, nil
}

func checkAPI(p types.Ping) error {
	if p.APIVersion == "" || versions.LessThan(p.APIVersion, oldestAPI) {
		return &endpointError{what: fmt.Sprintf("too old: its API is %q, torchx needs %s (Docker 19.03) or newer", p.APIVersion, oldestAPI), fix: "upgrade Docker"}
	}
	return nil
}

// endpointError is the reason why an engine cannot be used, with a remedy.
type endpointError struct {
	what, fix string // fix: "" if not known
	cause     error
}

func (t *endpointError) Error() string { return strings.TrimSuffix(t.what+": "+t.fix, ": ") }
func (t *endpointError) Unwrap() error { return t.cause }

// String describes the endpoint for users.
func (e endpoint) String() string { return fmt.Sprintf("%s (%s)", e.Host, e.Source) }

// explain returns a failure to connect to the engine as one line with a remedy.
func (e endpoint) explain(err error) *endpointError {
	t := &endpointError{cause: err}
	var known *endpointError
	var ended *sshError
	switch {
	case errors.As(err, &known):
		t.what, t.fix = fmt.Sprintf("engine %s: %s", e, known.what), known.fix
	case e.isSSH() && errors.As(err, &ended):
		t.what, t.fix = fmt.Sprintf("engine %s: %s", e, ended.text), "check that `"+e.tryCommand()+"` works without a password"
	case e.isSSH() && errors.Is(err, exec.ErrNotFound):
		t.what, t.fix = fmt.Sprintf("engine %s: the ssh command is missing", e), "install the OpenSSH client"
	case errors.Is(err, fs.ErrPermission) || strings.Contains(err.Error(), "permission denied"):
		t.what, t.fix = "permission denied on the Docker socket "+e.String(), "run `sudo usermod -aG docker $USER` and log in again"
	case errors.Is(err, context.DeadlineExceeded):
		t.what, t.fix = fmt.Sprintf("the Docker engine at %s does not answer", e), "see `sudo systemctl status docker`"
	case !unreachable(err):
		t.what = fmt.Sprintf("engine %s: %v", e, plain(err))
	case e.Source != "default":
		t.what, t.fix = "no Docker engine answers at "+e.String(), "start it, or select another by DOCKER_HOST or `docker context use`"
	case !installed():
		t.what, t.fix = "Docker is not installed", "install Docker Engine (https://docs.docker.com/engine/install) or set DOCKER_HOST to a remote engine"
	default:
		t.what, t.fix = fmt.Sprintf("the Docker daemon is not running at %s", e), "start it by `sudo systemctl start docker`"
	}
	return t
}

func installed() bool {
	for _, name := range []string{"dockerd", "docker"} {
		if _, err := exec.LookPath(name); err == nil {
			return true
		}
	}
	return false
}

// unreachable reports whether the engine did not answer or disconnected before the end of
// its answer.
func unreachable(err error) bool {
	if client.IsErrConnectionFailed(err) {
		return true
	}
	for _, cause := range []error{syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.EPIPE, syscall.ENOENT} {
		if errors.Is(err, cause) {
			return true
		}
	}
	if _, ended := errors.AsType[*sshError](err); ended {
		return true
	}
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) // an incomplete answer
}

// plain returns an engine's error as one line, without the prefix that all of them have.
func plain(err error) error {
	text := strings.TrimPrefix(err.Error(), "Error response from daemon: ")
	text = strings.Join(strings.Fields(text), " ")
	return &engineError{text, err}
}

type engineError struct {
	text string
	err  error
}

func (e *engineError) Error() string { return e.text }
func (e *engineError) Unwrap() error { return e.err }

// refusals are errors of engines (Docker 20.10 to 28) about mistakes in a container, with
// remedies.
var refusals = []struct {
	pattern func() *regexp.Regexp
	advice  string // format of the pattern's group
}{
	{
		pattern.Lazy(`bind source path does not exist: (\S+)`),
		"mount source %s does not exist on the engine's machine: create it first",
	},
	{
		pattern.Lazy(`adding custom device "(.+)": no such file or directory`),
		"device %s does not exist on the engine's machine",
	},
	{
		pattern.Lazy(`adding custom device "(.+)": not a device node`),
		"device %s is not a device: mount files and folders by BindMount",
	},
	{
		pattern.Lazy(`Bind for (\S+) failed: port is already allocated`),
		"port %s is in use by another container: stop it, or leave out publish_ports",
	},
	{
		pattern.Lazy(`(?:listen tcp4?|failed to bind host port(?: for)?) (\S+?)(?:/tcp)?: (?:bind: )?address already in use`),
		"port %s is in use by another program: stop it, or leave out publish_ports",
	},
	{
		pattern.Lazy(`(container-init) binary not found`),
		"Podman has no init for containers (%s): install catatonit on its machine, or use -cfg init=false",
	},
	{
		pattern.Lazy(`(no space left on device)`),
		"the disk of the engine is full (%s): free some space, for example by `docker system prune`",
	},
}

// explained returns a known error of an engine with its remedy, any other one as plain does.
func explained(err error) error {
	for _, r := range refusals {
		if m := r.pattern().FindStringSubmatch(err.Error()); m != nil {
			return &engineError{fmt.Sprintf(r.advice, m[1]), err}
		}
	}
	if _, ok := errors.AsType[*engineError](err); ok {
		return err
	}
	return plain(err)
}
