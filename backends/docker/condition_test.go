//go:build unix

package docker

import (
	"context"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/image"

	"torchx/runtime/backend"
	"torchx/runtime/spec"
	"torchx/test/enginetest"
)

// message waits until the message of replica 0 has a text, or is empty for "", and returns the
// status.
func (f *fixture) message(id, text string) (s *spec.Status) {
	f.Helper()
	f.waitFor("the message "+text, func() (ok bool) {
		var err error
		if s, err = f.b.Describe(f.ctx, id); err != nil {
			f.Fatal(err)
		}
		msg := s.Roles[0].Replicas[0].Msg
		return text == "" && msg == "" || text != "" && strings.Contains(msg, text)
	})
	return s
}

// do fails the test on an error.
func (f *fixture) do(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

// A paused container is told, also by the next agent and in another home, until it continues. A
// cancel ends it within the grace period.
func TestPaused(t *testing.T) {
	t.Parallel()
	needEngine(t)
	f, e := onEngine(t, real), real.Client
	id := f.start(shell(`echo here; sleep 600`))
	name := id + "-r-0"
	for range 2 {
		f.do(e.ContainerPause(f.ctx, name))
		want := "paused: `docker unpause " + name + "` continues it"
		s := f.message(id, want)
		if s.State != spec.Running || s.Msg != "replica r/0: "+want {
			t.Errorf("status: got %s %q, want RUNNING with %q", s.State, s.Msg, want)
		}
		s, err := onEngine(t, real).b.Describe(f.ctx, id)
		if err != nil || s.State != spec.Running || s.Roles[0].Replicas[0].Msg != want {
			t.Errorf("in another home: got %+v, %v, want RUNNING with %q", s, err, want)
		}
		f.killAgent(id)
		f.do(f.b.Recover(f.ctx))
		f.do(e.ContainerUnpause(f.ctx, name))
		if s := f.message(id, ""); s.Msg != "" {
			t.Errorf("continued: got the message %q, want none", s.Msg)
		}
	}
	f.do(e.ContainerPause(f.ctx, name))
	f.message(id, "paused")
	f.do(f.b.Cancel(f.ctx, id, backend.CancelOptions{}))
	if s := f.wait(id); s.State != spec.Cancelled || s.Msg != "cancelled" {
		t.Errorf("canceled: got %s %q, want CANCELLED", s.State, s.Msg)
	}
}

// touch creates a file in the container of an app's only replica, r/0.
func (f *fixture) touch(id, path string) {
	f.Helper()
	code, err := f.b.Exec(f.ctx, id, spec.Replica{Role: "r"}, backend.Command{Args: []string{"touch", path}, Stdout: io.Discard, Stderr: io.Discard})
	if err != nil || code != 0 {
		f.Fatalf("touch %s: %d, %v", path, code, err)
	}
}

// healthcheckImage returns an image with a healthcheck of a file, removed at the end of the test.
func (f *fixture) healthcheckImage() string {
	f.Helper()
	c, err := real.Client.ContainerCreate(f.ctx, &container.Config{Image: enginetest.Image, Cmd: []string{"true"}}, nil, nil, nil, "")
	f.do(err)
	name := "torchx-test:" + spec.RandomID(rand.Uint64()|1, 12)
	_, err = real.Client.ContainerCommit(f.ctx, c.ID, container.CommitOptions{Reference: name, Changes: []string{
		`HEALTHCHECK --interval=100ms --retries=2 CMD test -e /healthy || { echo no file yet; false; }`,
	}})
	f.do(err)
	f.do(real.Client.ContainerRemove(f.ctx, c.ID, container.RemoveOptions{}))
	f.Cleanup(func() {
		if _, err := real.Client.ImageRemove(context.Background(), name, image.RemoveOptions{Force: true}); err != nil {
			f.Error(err)
		}
	})
	return name
}

// The healthcheck of an image tells when a replica is ready, and what its last check printed. An
// image without one is refused.
func TestHealthcheck(t *testing.T) {
	t.Parallel()
	needDocker(t, "it needs systemd to check the health")
	f := onEngine(t, real)
	db := shell(`while ! test -e /go; do sleep 0.05; done; touch /healthy; sleep 600`)
	db.Name, db.Image = "db", f.healthcheckImage()
	db.Metadata = map[string]any{"torchx": map[string]any{"ready": map[string]any{"healthcheck": true}, "sidecar": true}}
	web := shell(`echo served`)
	web.Name, web.Metadata = "web", map[string]any{"torchx": map[string]any{"depends_on": map[string]any{"db": "ready"}}}
	id := f.start(db, web)
	s := f.message(id, "unhealthy: no file yet")
	if msg := s.Roles[0].Replicas[0].Msg; !strings.HasPrefix(msg, "not ready yet (healthcheck of its image); ") || s.Roles[1].Replicas[0].State != spec.Pending {
		t.Errorf("unhealthy: got %q and %+v, want not ready yet and web PENDING", msg, s.Roles[1].Replicas)
	}
	f.killAgent(id)
	f.do(f.b.Recover(f.ctx))
	code, err := f.b.Exec(f.ctx, id, spec.Replica{Role: "db"}, backend.Command{Args: []string{"touch", "/go"}, Stdout: io.Discard, Stderr: io.Discard})
	if err != nil || code != 0 {
		t.Fatalf("exec: %d, %v", code, err)
	}
	if s := f.wait(id); s.State != spec.Succeeded {
		t.Errorf("got %+v, want SUCCEEDED", s)
	}

	without := db
	without.Image, without.Metadata = enginetest.Image, map[string]any{"torchx": map[string]any{"ready": map[string]any{"healthcheck": true}}}
	err = f.b.Submit(f.ctx, f.plan(without))
	if err == nil || !strings.Contains(err.Error(), "role db is ready by the healthcheck of its image, but "+enginetest.Image+" has none") {
		t.Errorf("an image without a healthcheck: got %v", err)
	}
}

// A container that is renamed by hand is followed to its end, and its next attempt starts.
func TestContainerRenamed(t *testing.T) {
	t.Parallel()
	needEngine(t)
	f, e := onEngine(t, real), real.Client
	role := shell(`echo begins; while ! test -e /go; do sleep 0.05; done; echo ends; exit 3`)
	role.MaxRetries = 1
	id := f.start(role)
	f.waitForLog(id, "begins")
	renamed := "renamed-" + id
	f.do(e.ContainerRename(f.ctx, id+"-r-0", renamed))
	f.killAgent(id)
	f.do(f.b.Recover(f.ctx))
	f.do(e.ContainerPause(f.ctx, renamed))
	f.message(id, "`docker unpause "+renamed+"`")
	f.do(e.ContainerUnpause(f.ctx, renamed))
	f.message(id, "")
	for attempt := range 2 {
		f.waitFor("attempt", func() bool {
			s, err := f.b.Describe(f.ctx, id)
			r := s.Roles[0].Replicas[0]
			return err == nil && r.Attempt == attempt && r.State == spec.Running
		})
		f.touch(id, "/go")
	}
	if s := f.wait(id); s.State != spec.Failed || *s.ExitCode != 3 || s.NumRestarts != 1 {
		t.Errorf("got %+v, want FAILED with 3 after 1 restart", s)
	}
	if text, notices := f.log(id, 0); text != strings.Repeat("begins\nends\n", 2) || len(notices) > 0 {
		t.Errorf("log: got %q %q", text, notices)
	}
	f.do(f.b.Delete(f.ctx, id, backend.DeleteOptions{}))
	all, err := containersOf(f.ctx, e, id)
	if err != nil || len(all) != 0 {
		t.Errorf("after delete: got %d containers, %v, want none", len(all), err)
	}
}
