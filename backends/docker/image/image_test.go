//go:build unix

package image

import (
	"context"
	"encoding/base64"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"

	"torchx/backends/workspace"
)

func TestPullFromRegistry(t *testing.T) {
	c := needEngine(t)
	ref := openRegistry + "/some/busybox:1"
	s := &recorder{}
	if err := Push(t.Context(), c, testImage, ref, s.tell); err != nil {
		t.Fatal(err)
	}
	if n, failed := s.ended("push " + ref); n != 1 || failed != 0 {
		t.Errorf("push ended %d times, %d failed", n, failed)
	}
	remove(t, c, ref)
	p := &Puller{Engine: c, Policy: Missing, Progress: s.tell}
	for range 2 { // the second time the engine has it
		if err := p.Ensure(t.Context(), []string{ref, testImage, ref}); err != nil {
			t.Fatal(err)
		}
	}
	if n, failed := s.ended("pull " + ref); n != 1 || failed != 0 {
		t.Errorf("pulled %d times, %d failed", n, failed)
	}
	if has, err := Has(t.Context(), c, ref); !has || err != nil {
		t.Errorf("has %v, %v", has, err)
	}
	p.Policy = Always
	if err := p.Ensure(t.Context(), []string{ref}); err != nil {
		t.Fatal(err)
	}
	if n, _ := s.ended("pull " + ref); n != 2 {
		t.Errorf("pulled %d times with pull=always", n)
	}
}

func TestEnsureFailsOnEngine(t *testing.T) {
	c := needEngine(t)
	s := &recorder{}
	for name, test := range map[string]struct {
		p    Puller
		refs []string
		want []string
	}{
		"never":   {Puller{Policy: Never}, []string{"no/such:1"}, []string{"no/such:1 is not on the engine", "pull=never"}},
		"offline": {Puller{Policy: Missing, Offline: true}, []string{"no/such:1", "or:2"}, []string{"no/such:1, or:2 are not on the engine", "--offline"}},
		"default": {Puller{Policy: Missing, Offline: true, Default: "d:1"}, []string{"d:1"}, []string{"d:1 is not on the engine", "default image", "--image"}},
		"id":      {Puller{Policy: Missing}, []string{"sha256:" + strings.Repeat("0", 64)}, []string{"an image ID cannot be pulled"}},
		"name":    {Puller{Policy: Missing}, []string{"No Such"}, []string{`"No Such" is not a valid image name`}},
		"unknown": {Puller{Policy: Missing}, []string{openRegistry + "/no/such:1"}, []string{"pull image " + openRegistry + "/no/such:1: ", "not found"}},
		"refused": {Puller{Policy: Missing}, []string{"127.0.0.1:9/x:1"}, []string{"127.0.0.1:9/x:1 is not on the engine", "not reachable"}},
		"exists":  {Puller{Policy: Always}, []string{testImage}, []string{"pull image " + testImage + ": ", "pull=missing uses"}},
		// The engine has no access to other networks, and this name does not exist (RFC 6761).
		"lookup": {Puller{Policy: Missing}, []string{"registry.invalid/x:1"}, []string{"registry.invalid/x:1 is not on the engine", "not reachable"}},
	} {
		t.Run(name, func(t *testing.T) {
			test.p.Engine, test.p.Progress = c, s.tell
			start := time.Now()
			err := test.p.Ensure(t.Context(), test.refs)
			if err == nil {
				t.Fatal("got no error")
			}
			for _, w := range test.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%q does not contain %q", err, w)
				}
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("got %q, want one line", err)
			}
			if took := time.Since(start); took > lookupTimeout+3*time.Second {
				t.Errorf("the error took %v, want less", took)
			}
		})
	}
}

func TestLogin(t *testing.T) {
	c := needEngine(t)
	ref := closedRegistry + "/busybox:1"
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	if err := Push(t.Context(), c, testImage, ref, nil); err == nil || !strings.Contains(err.Error(), "docker login "+closedRegistry) {
		t.Errorf("push without a login: got %v", err)
	}
	auth := base64.StdEncoding.EncodeToString([]byte(user + ":" + password))
	write(t, os.Getenv("DOCKER_CONFIG"), map[string]string{
		"config.json": `{"auths":{"` + closedRegistry + `":{"auth":"` + auth + `"}}}`,
	})
	if err := Push(t.Context(), c, testImage, ref, nil); err != nil {
		t.Fatal(err)
	}
	remove(t, c, ref)
	if err := (&Puller{Engine: c, Policy: Missing}).Ensure(t.Context(), []string{ref}); err != nil {
		t.Fatal(err)
	}
}

// scan returns a workspace and the name of its image built from the test image.
func scan(t *testing.T, dir string) (*workspace.Tree, string) {
	t.Helper()
	tree, err := workspace.Scan([]workspace.Project{{Path: dir}})
	if err != nil {
		t.Fatal(err)
	}
	name, err := tree.Name(t.Context(), testImage)
	if err != nil {
		t.Fatal(err)
	}
	return tree, name
}

func TestBuild(t *testing.T) {
	t.Parallel()
	c := needEngine(t)
	dir := t.TempDir()
	write(t, dir, map[string]string{"main.sh": "echo hello\n", "empty/": "", "sub/a.txt": "a", "left/out.log": "x", ".dockerignore": "left\n"})
	if err := os.Symlink("sub/a.txt", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", filepath.Join(dir, "broken")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(dir, "main.sh"), 0o750); err != nil {
		t.Fatal(err)
	}
	tree, name := scan(t, dir)
	s := &recorder{}
	b := &Build{Tree: tree, Base: testImage, Name: name, Labels: map[string]string{"l": "v"}, Progress: s.tell}
	if err := b.Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	want := "a\nhello\n./.dockerignore\n./Dockerfile.torchx\n./broken\n./empty\n./link\n./main.sh\n./sub\n./sub/a.txt\n750\nnowhere\n"
	got := runIn(t, name, "sh", "-c", "cat link; echo; sh main.sh; find . -mindepth 1 | busybox sort; stat -c %a main.sh; busybox readlink broken")
	if got != want {
		t.Errorf("in the image:\n%s\nwant\n%s", got, want)
	}
	if out := s.output(); !strings.Contains(out, "COPY . .") {
		t.Errorf("output: %s", out)
	}
	seen, err := c.ImageInspect(t.Context(), name)
	if err != nil || seen.Config.Labels["l"] != "v" {
		t.Errorf("labels %v, %v", seen.Config, err)
	}
}

func TestBuildWithDockerfile(t *testing.T) {
	t.Parallel()
	c := needEngine(t)
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"Dockerfile.torchx": "ARG IMAGE\nFROM $IMAGE\nARG WORKSPACE\nRUN echo built from $WORKSPACE > /made\n",
		".dockerignore":     "*\n",
	})
	tree, name := scan(t, dir)
	s := &recorder{}
	if err := (&Build{Tree: tree, Base: testImage, Name: name, Quiet: true, Progress: s.tell}).Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if got, want := runIn(t, name, "cat", "/made"), "built from "+dir+"\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if out := s.output(); out != "" {
		t.Errorf("quiet build: got output %s", out)
	}
}

func TestBuildFails(t *testing.T) {
	t.Parallel()
	c := needEngine(t)
	for name, test := range map[string]struct {
		dockerfile string
		want       []string
		out        string
	}{
		"command": {"ARG IMAGE\nFROM $IMAGE\nRUN echo the reason; false\n", []string{"returned a non-zero code: 1"}, "the reason"},
		"buildkit": {
			"ARG IMAGE\nFROM $IMAGE\nRUN true\nRUN --mount=type=cache,target=/c true\n",
			[]string{"Dockerfile.torchx, line 4: RUN --mount needs BuildKit", "buildx"},
			"",
		},
		"syntax": {"NOT A DOCKERFILE\n", []string{"unknown instruction"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, dir, map[string]string{"Dockerfile.torchx": test.dockerfile, "id": name})
			tree, ref := scan(t, dir)
			s := &recorder{}
			err := (&Build{Tree: tree, Base: testImage, Name: ref, Quiet: true, Progress: s.tell}).Run(t.Context(), c)
			if err == nil {
				t.Fatal("got no error")
			}
			for _, w := range append(test.want, dir) {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%q does not contain %q", err, w)
				}
			}
			if !strings.Contains(s.output(), test.out) {
				t.Errorf("got output %s, want %q in it", s.output(), test.out)
			}
			if has, err := Has(t.Context(), c, ref); has || err != nil {
				t.Errorf("got image %v, %v, want none", has, err)
			}
		})
	}
	noContainers(t, c)
}

// noContainers checks at the end that builds left no containers, even failed ones.
func noContainers(t *testing.T, c *client.Client) {
	t.Helper()
	t.Cleanup(func() {
		list, err := c.ContainerList(context.WithoutCancel(t.Context()), container.ListOptions{All: true})
		for _, l := range list {
			if strings.Contains(l.Command, "the reason") {
				t.Errorf("a build left container %s: %s", l.ID, l.Command)
			}
		}
		if err != nil {
			t.Error(err)
		}
	})
}

// TestChangedFiles: an image is not tagged if the files have changed since it was named.
func TestChangedFiles(t *testing.T) {
	t.Parallel()
	c := needEngine(t)
	dir := t.TempDir()
	write(t, dir, map[string]string{"f": "one"})
	tree, name := scan(t, dir)
	write(t, dir, map[string]string{"f": "two"})
	err := (&Build{Tree: tree, Base: testImage, Name: name}).Run(t.Context(), c)
	if err == nil || !strings.Contains(err.Error(), "changed since the app was planned") {
		t.Errorf("error %v", err)
	}
	write(t, dir, map[string]string{"f": "1"})
	err = (&Build{Tree: tree, Base: testImage, Name: name}).Run(t.Context(), c)
	if err == nil || !strings.Contains(err.Error(), "became shorter") {
		t.Errorf("error %v", err)
	}
	if has, _ := Has(t.Context(), c, name); has {
		t.Error("the image is tagged")
	}
}

// TestBuildx: a build that needs BuildKit uses the plugin. The plugin cannot be installed
// in tests, so a script passes the build to the engine's own builder.
func TestBuildx(t *testing.T) {
	c := needEngine(t)
	docker, err := exec.LookPath("docker")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	write(t, bin, map[string]string{"docker": `#!/bin/sh
[ "$1" = buildx ] || exit 9
shift
[ "$1" = version ] && exit 0
echo "to $DOCKER_HOST: $*" >&2
mkdir "$0.d" && busybox tar -x -C "$0.d" && sed -i s/--mount=type=cache,target=.c// "$0.d/Dockerfile.torchx" || exit 8
args=; for a; do case $a in --load | --progress=plain | -) ;; *) args="$args $a" ;; esac; done
set -- $args
cd "$0.d" 2>/dev/null || cd "` + bin + `/docker.d"
DOCKER_BUILDKIT=0 exec ` + docker + ` "$@" .
`})
	if err := os.Chmod(filepath.Join(bin, "docker"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	dir := t.TempDir()
	write(t, dir, map[string]string{"Dockerfile.torchx": "ARG IMAGE\nFROM $IMAGE\nCOPY f /f\nRUN --mount=type=cache,target=/c true\n", "f": "x"})
	tree, name := scan(t, dir)
	s := &recorder{}
	if err := (&Build{Tree: tree, Base: testImage, Name: name, Labels: map[string]string{"l": "v"}, Progress: s.tell}).Run(t.Context(), c); err != nil {
		t.Fatalf("%v\n%s", err, s.output())
	}
	seen, err := c.ImageInspect(t.Context(), name)
	if err != nil || seen.Config.Labels["l"] != "v" {
		t.Errorf("%v, %v", seen.Config, err)
	}
	if !strings.Contains(s.output(), "to "+c.DaemonHost()) {
		t.Errorf("output %s", s.output())
	}
}
