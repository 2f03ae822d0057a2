//go:build unix

package docker

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/network"

	"torchx/runtime/spec"
	"torchx/test/enginetest"
)

// errorLine returns the error of a command, which must be one line.
func (h *home) errorLine(r result) string {
	h.Helper()
	var found []string
	for line := range strings.Lines(r.stderr) {
		if text, ok := strings.CutPrefix(line, "torchx: error: "); ok {
			found = append(found, strings.TrimSpace(text))
		}
	}
	if len(found) != 1 {
		h.Errorf("got %+v, want one line with an error", r)
		return ""
	}
	return found[0]
}

// expectRefused checks that an app does not start and leaves no containers.
func (h *home) expectRefused(what string, r result, code int, want string) {
	h.Helper()
	line := h.errorLine(r)
	if r.code != code || !regexp.MustCompile(want).MatchString(line) {
		h.Errorf("%s: exit code %d, want %d; %q, want %q", what, r.code, code, line, want)
	}
	id := strings.TrimSpace(r.stdout[strings.LastIndex(r.stdout, "/")+1:])
	if id == "" {
		return
	}
	h.waitFor(what+": its containers' end", func() bool { return h.containers(id) == 0 })
	for _, a := range h.list("docker") {
		if a.AppID == id && (a.State != spec.Failed || a.ExitCode == nil || *a.ExitCode != code) {
			h.Errorf("%s: got list entry %+v, want FAILED with %d", what, a, code)
		}
	}
}

func TestMistakes(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	const start = `^start app docker://torchx/\S+: `
	for _, test := range []struct {
		what, cfg string
		args      []string
		code      int
		want      string
	}{
		{"image", "", []string{"--image", "nosuch:1"}, 125, start + `image nosuch:1 is not on the engine and pull=never forbids pulling$`},
		{"always", "pull=always", nil, 125, start + `pull image torchx-test:busybox-2: .* \(pull=missing uses the image that the engine has\)$`},
		{"offline", "pull=missing", []string{"--image", "nosuch:1"}, 125, start + `image nosuch:1 is not on the engine and cannot be pulled: its registry is not reachable`},
		{"no image", "", []string{"--image", ""}, 125, start + `role r has no image, which the docker backend needs: set Role\(image=...\)$`},
		{"bind", "", []string{"--bind", "/no/such", "--num_replicas", "3"}, 125, start + `mount source /no/such does not exist on the engine's machine: create it first$`},
		{"device", "", []string{"--device", "/dev/nosuch"}, 125, start + `device /dev/nosuch does not exist on the engine's machine$`},
		{"no device", "", []string{"--device", "/etc"}, 125, start + `device /etc is not a device: mount files and folders by BindMount$`},
		{"127", "", []string{"--entrypoint", "nosuch", "--num_replicas", "3"}, 127, start + `entry point nosuch: not found in image ` + enginetest.Image + `$`},
		{"126", "", []string{"--entrypoint", "/etc"}, 126, start + `entry point /etc: not executable in image ` + enginetest.Image + `$`},
	} {
		h.expectRefused(test.what, h.run(test.cfg, test.args...), test.code, test.want)
	}
}

// TestDefaultImage: if the user chose no image, the error explains the default one.
func TestDefaultImage(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r := h.torchx("run", "-b", "docker", "--offline", "utils.echo", "--msg", "x")
	h.expectRefused("default image", r, 125, `^start app \S+ image \S+pytorch\S+ is not on the engine and --offline forbids pulling.*--image`)
}

func TestNoEngine(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.start("--script", "true") // an app of the home, whose engine is then not available
	h.env = append(h.env, "DOCKER_HOST=unix:///no/such.sock")
	r := h.run("")
	if line := h.errorLine(r); r.code == 0 || !strings.Contains(line, "no Docker engine answers at unix:///no/such.sock (DOCKER_HOST): start it") {
		t.Errorf("got %+v, want that no engine answers", r)
	}
	if entries, err := os.ReadDir(filepath.Join(h.dir, "apps")); err != nil || len(entries) != 1 {
		t.Errorf("apps: %v %v", entries, err)
	}
	h.env = h.env[:len(h.env)-1]
}

func TestPortInUse(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	const want = `^start app \S+ port 127.0.0.1:18231 is in use by another (container|program): stop it, or leave out publish_ports$`
	args := []string{"--script", "sleep 60", "--port", "18231"}
	if r := h.torchx(append([]string{"run", "-d", "-b", "docker", "-cfg", "publish_ports=true,pull=never,grace_period=1", "t.star:app"}, args...)...); r.code != 0 {
		t.Fatalf("%+v", r)
	}
	h.expectRefused("port of a container", h.run("publish_ports=true", append(args, "--num_replicas", "3")...), 125, want)
}

// TestNameTaken: another container has the planned name.
func TestNameTaken(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	name := "torchx-test-taken-" + filepath.Base(h.dir) + spec.RandomID(uint64(os.Getpid()), 8)
	c, err := h.engine.Client.ContainerCreate(h.Context(), &container.Config{Image: enginetest.Image, Cmd: []string{"true"}}, nil, nil, nil, name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		o := container.RemoveOptions{Force: true}
		if err := h.engine.Client.ContainerRemove(context.Background(), c.ID, o); err != nil && t.Context().Err() == nil {
			t.Error(err)
		}
	})
	r := h.torchx("run", "--dryrun", "--json", "-b", "docker", "-cfg", "pull=never", "t.star:app", "--num_replicas", "2")
	var plan struct {
		Request struct {
			Containers []struct {
				Name string `json:"name"`
			} `json:"containers"`
		} `json:"request"`
	}
	if err := json.Unmarshal([]byte(r.stdout), &plan); err != nil || len(plan.Request.Containers) != 2 {
		t.Fatalf("%v %+v", err, r)
	}
	edited := strings.ReplaceAll(r.stdout, `"name": "`+plan.Request.Containers[1].Name+`"`, `"name": "`+name+`"`)
	if edited == r.stdout {
		t.Fatalf("no name in %s", r.stdout)
	}
	if err := os.WriteFile(filepath.Join(h.work, "plan.json"), []byte(edited), 0o600); err != nil {
		t.Fatal(err)
	}
	h.expectRefused("name", h.torchx("submit", "plan.json"), 125, `container name `+name+` is in use by another container: remove it by .docker rm `+name)
}

// TestRemovedByHand: the network and the containers of an app are removed while it runs.
func TestRemovedByHand(t *testing.T) {
	t.Parallel()
	h := homeOn(t, enginetest.Need(t, enginetest.Options{}))
	id := h.start("--script", "echo here; sleep 600", "--num_replicas", "2")
	h.waitFor("its line", func() bool { return strings.Contains(h.torchx("log", id).stdout, "here") })
	n, err := h.engine.Client.NetworkInspect(t.Context(), "torchx", network.InspectOptions{})
	if err != nil || len(n.Containers) != 2 {
		t.Fatalf("network %+v: %v", n, err)
	}
	for c := range n.Containers {
		if err := h.engine.Client.NetworkDisconnect(t.Context(), "torchx", c, true); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.engine.Client.NetworkRemove(t.Context(), "torchx"); err != nil {
		t.Fatal(err)
	}
	if r := h.torchx("status", id); !strings.Contains(r.stdout, "State: RUNNING") {
		t.Errorf("without a network: %+v", r)
	}
	if r := h.run("", "--script", "echo again"); r.code != 0 { // recreates the network
		t.Errorf("the next app: %+v", r)
	}
	for c := range n.Containers {
		if err := h.engine.Client.ContainerRemove(t.Context(), c, container.RemoveOptions{Force: true}); err != nil {
			t.Fatal(err)
		}
	}
	r := h.torchx("wait", id)
	if r.code == 0 || !strings.Contains(r.stdout+r.stderr+h.torchx("status", id).stdout, "its container was removed") && r.code != 137 {
		t.Errorf("without containers: %+v", r)
	}
	if r := h.torchx("log", id); strings.Count(r.stdout, "here") != 2 {
		t.Errorf("log: %+v", r)
	}
	if r := h.torchx("delete", id); r.code != 0 {
		t.Errorf("delete: %+v", r)
	}
}

// TestFullDisk: an app does not start on a full disk, and starts after a delete.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	h := homeOn(t, enginetest.Need(t, enginetest.Options{Space: 48 << 20}))
	r := h.run("", "--script", "cat /dev/zero > /full")
	if r.code != 1 { // its message does not fit on the disk either
		t.Errorf("program that fills the disk: %+v", r)
	}
	h.expectRefused("full disk", h.run("", "--num_replicas", "2"), 125, `^start app \S+ the disk of the engine is full \(no space left on device\): free some space, for example by .docker system prune.$`)
	for _, a := range h.list("docker") {
		if r := h.torchx("delete", a.AppID); r.code != 0 {
			t.Errorf("delete: %+v", r)
		}
	}
	if r := h.run("", "--script", "echo ok"); r.code != 0 {
		t.Errorf("after a delete: %+v", r)
	}
}
