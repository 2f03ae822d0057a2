package docker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/versions"
	"github.com/docker/docker/client"

	"torchx/runtime/backend"
)

const (
	// oldestAPI is that of Docker 19.03, the first whose init and device requests
	// are those that plans use.
	oldestAPI = "1.40"
	// answerTime bounds the wait for the first answer of an engine: a socket of
	// systemd takes connections before the engine is there.
	answerTime = 10 * time.Second
)

// connect opens an engine and agrees with it on the newest API version that both
// know, at once: nothing later finds out by a failure. Errors: ErrUnavailable,
// with what to do.
func connect(ctx context.Context, e endpoint) (*client.Client, error) {
	c, err := e.open()
	if err != nil {
		return nil, backend.Errorf(backend.ErrUnavailable, "%w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, answerTime)
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
		return &trouble{what: fmt.Sprintf("it is too old, its API is %q, torchx needs %s (Docker 19.03) or newer", p.APIVersion, oldestAPI), fix: "upgrade Docker"}
	}
	return nil
}

// trouble is why an engine is of no use, and what to do about it.
type trouble struct {
	what, fix string // fix "": nobody knows
	cause     error
}

func (t *trouble) Error() string {
	if t.fix == "" {
		return t.what
	}
	return t.what + ": " + t.fix
}

func (t *trouble) Unwrap() error { return t.cause }

// where is how an endpoint is named to users.
func (e endpoint) where() string { return fmt.Sprintf("%s (%s)", e.Host, e.Why) }

// explain turns a failure to reach the engine into one line with what to do.
func (e endpoint) explain(err error) *trouble {
	t := &trouble{cause: err}
	var known *trouble
	switch {
	case errors.As(err, &known):
		t.what, t.fix = fmt.Sprintf("engine %s: %s", e.where(), known.what), known.fix
	case errors.Is(err, fs.ErrPermission) || strings.Contains(err.Error(), "permission denied"):
		t.what, t.fix = "permission denied on the Docker socket "+e.where(), "run `sudo usermod -aG docker $USER` and log in again"
	case errors.Is(err, context.DeadlineExceeded):
		t.what, t.fix = fmt.Sprintf("the Docker engine at %s does not answer", e.where()), "see `sudo systemctl status docker`"
	case !unreachable(err):
		t.what = fmt.Sprintf("engine %s: %v", e.where(), plain(err))
	case e.Why != "default":
		t.what, t.fix = "no Docker engine answers at "+e.where(), "start it, or choose another by DOCKER_HOST or `docker context use`"
	case !installed():
		t.what, t.fix = "no Docker on this machine", "install Docker Engine (https://docs.docker.com/engine/install) or set DOCKER_HOST to one elsewhere"
	default:
		t.what, t.fix = fmt.Sprintf("the Docker daemon is not running, nothing answers at %s", e.where()), "start it by `sudo systemctl start docker`"
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

// unreachable reports whether there was no engine to answer: it is not there, or
// went away while it answered.
func unreachable(err error) bool {
	if client.IsErrConnectionFailed(err) {
		return true
	}
	for _, cause := range []error{syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.EPIPE, syscall.ENOENT} {
		if errors.Is(err, cause) {
			return true
		}
	}
	return endsEarly(err)
}

// plain is an engine's error without the words that every one begins with.
func plain(err error) error {
	text := strings.TrimPrefix(err.Error(), "Error response from daemon: ")
	text = strings.Join(strings.Fields(text), " ") // one line
	return &engineError{text, err}
}

type engineError struct {
	text string
	err  error
}

func (e *engineError) Error() string { return e.text }
func (e *engineError) Unwrap() error { return e.err }
