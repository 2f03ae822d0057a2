//go:build unix

package docker

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"torchx/test/enginetest"
)

// sshHost is an engine that only ssh reaches: its sshd listens on the loopback of another network
// namespace, and the ssh command of the tests is a script that enters it.
type sshHost struct {
	*home
	dir string
}

func newSSHHost(t *testing.T) *sshHost {
	t.Helper()
	if engine == nil {
		enginetest.Missing(t, missing)
	}
	sshd, err := exec.LookPath("sshd")
	if err != nil {
		if sshd = "/usr/sbin/sshd"; exec.CommandContext(t.Context(), "test", "-x", sshd).Run() != nil {
			enginetest.Missing(t, fmt.Errorf("no sshd: apt-get install openssh-server"))
		}
	}
	e := enginetest.Need(t, enginetest.Options{})
	s := &sshHost{home: homeOn(t, e), dir: t.TempDir()}
	for _, key := range []string{"host", "user"} {
		s.must(exec.CommandContext(t.Context(), "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", s.path(key)).Run())
	}
	s.must(os.MkdirAll("/run/sshd", 0o755)) // of privilege separation
	s.write("sshd_config", "Port 2222\nListenAddress 127.0.0.1\nHostKey %[1]s/host\nAuthorizedKeysFile %[1]s/user.pub\nPermitRootLogin yes\n"+
		"StrictModes no\nUsePAM no\nPasswordAuthentication no\nPidFile none\nMaxStartups 100\nSetEnv DOCKER_HOST=%[2]s\n", s.dir, e.Host)
	known, err := os.ReadFile(s.path("host.pub"))
	s.must(err)
	s.write("known_hosts", "[127.0.0.1]:2222 %s", known)
	s.write("ssh_config", "Host lab\nHostName 127.0.0.1\nPort 2222\nIdentityFile %[1]s/user\nIdentitiesOnly yes\nUserKnownHostsFile %[1]s/known_hosts\n", s.dir)
	s.must(os.Mkdir(s.path("bin"), 0o755))
	s.write("bin/ssh", "#!/bin/sh\nexec %s \"$@\"\n", strings.Join(e.InNetwork("/usr/bin/ssh", "-F", s.path("ssh_config")).Args, " "))
	s.must(os.Chmod(s.path("bin/ssh"), 0o755))
	cmd, err := e.Run(sshd, "-D", "-e", "-f", s.path("sshd_config"))
	s.must(err)
	t.Cleanup(func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); _ = cmd.Wait() })
	t.Cleanup(func() { s.env = append(s.env, "DOCKER_HOST="+e.Host) }) // of the commands that clean up
	s.env = append(s.env, "PATH="+s.path("bin")+":"+os.Getenv("PATH"), "DOCKER_HOST=", "DOCKER_CONFIG="+s.path("docker"))
	s.waitFor("sshd", func() bool { return s.torchx("runopts", "docker").code == 0 && s.ssh("true") == nil })
	return s
}

func (s *sshHost) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *sshHost) path(name string) string { return filepath.Join(s.dir, name) }

func (s *sshHost) write(name, format string, args ...any) {
	s.Helper()
	s.must(os.WriteFile(s.path(name), fmt.Appendf(nil, format, args...), 0o600))
}

// command returns a torchx command on this machine, which does not reach the engine's network.
func (s *sshHost) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(s.Context(), program, args...)
	cmd.Dir, cmd.Env = s.work, append(os.Environ(), s.env...)
	return cmd
}

func (s *sshHost) torchx(args ...string) result { s.Helper(); return s.finish(s.command(args...)) }

func (s *sshHost) ssh(command string) error {
	return exec.CommandContext(s.Context(), s.path("bin/ssh"), "lab", command).Run()
}

// cut ends all connections: the processes of sshd in the engine's network but the listener.
func (s *sshHost) cut() {
	out, _ := s.engine.InNetwork("sh", "-c", `me=$(readlink /proc/self/ns/net)
for p in /proc/[0-9]*; do
	[ "$(readlink "$p/ns/net")" = "$me" ] || continue
	case $(tr '\0' ' ' <"$p/cmdline") in "sshd: root"*) echo "${p#/proc/}" ;; esac
done 2>/dev/null`).Output()
	for _, pid := range strings.Fields(string(out)) {
		if n, err := strconv.Atoi(pid); err == nil {
			_ = syscall.Kill(n, syscall.SIGKILL)
		}
	}
}

// lab makes the engine a docker context.
func (s *sshHost) lab() {
	dir := filepath.Join("docker", "contexts", "meta", fmt.Sprintf("%x", sha256.Sum256([]byte("lab"))))
	s.must(os.MkdirAll(s.path(dir), 0o755))
	s.write(filepath.Join(dir, "meta.json"), `{"Name": "lab", "Endpoints": {"docker": {"Host": "ssh://root@lab"}}}`)
}

// TestSSH runs an app on an engine behind ssh, whose connections end again and again, and then uses
// what else there is for running apps. Later commands find the engine of an app by themselves.
func TestSSH(t *testing.T) {
	t.Parallel()
	s := newSSHHost(t)
	s.lab()
	r := s.torchx("run", "-d", "-b", "docker", "-cfg", "pull=never,grace_period=1,host=ssh://root@lab", "t.star:app", "--port", "8080", "--script",
		"i=0; while [ $i -lt 400 ]; do i=$((i+1)); echo line $i; sleep 0.02; done; mkdir /www; echo hello >/www/index.html; httpd -f -p 8080 -h /www")
	handle := strings.TrimSpace(r.stdout)
	if r.code != 0 || handle == "" {
		t.Fatalf("run: %+v", r)
	}
	line := func(n int) bool { return strings.Contains(s.torchx("log", handle).stdout, fmt.Sprintf("line %d\n", n)) }
	for n := 50; n < 400; n += 70 {
		s.waitFor("lines", func() bool { return line(n) })
		s.cut()
	}
	s.waitFor("the last line", func() bool { return line(400) })
	got := regexp.MustCompile(`(?m)line (\d+)$`).FindAllStringSubmatch(s.torchx("log", handle).stdout, -1)
	for i, m := range got {
		if m[1] != strconv.Itoa(i+1) {
			t.Fatalf("line %d is %q: a line is missing or doubled", i+1, m[0])
		}
	}
	if r := s.torchx("exec", handle+"/r/0", "--", "sh", "-c", "cat; exit 7"); r.code != 7 {
		t.Errorf("exec: %+v, want exit code 7", r)
	}
	s.testForward(handle)
	if r := s.torchx("status", handle); !strings.Contains(r.stdout, "RUNNING") {
		t.Errorf("status: %+v, want RUNNING", r)
	}
	if r := s.torchx("cancel", "--wait", handle); r.code != 0 {
		t.Errorf("cancel: %+v", r)
	}
	if r := s.torchx("delete", "-f", handle); r.code != 0 || s.containers("") != 0 {
		t.Errorf("delete: %+v, want no containers", r)
	}
}

func (s *sshHost) testForward(handle string) {
	s.Helper()
	cmd := s.command("port-forward", handle+"/r/0", "0:8080")
	errs, err := cmd.StderrPipe()
	s.must(err)
	s.must(cmd.Start())
	defer func() { _ = cmd.Process.Signal(os.Interrupt); _ = cmd.Wait() }()
	head := make([]byte, 4096)
	n, err := errs.Read(head)
	s.must(err)
	address := regexp.MustCompile(`127\.0\.0\.1:\d+`).FindString(string(head[:n]))
	get, err := http.Get("http://" + address + "/index.html")
	if err != nil {
		s.Fatalf("port-forward %q: %v", head[:n], err)
	}
	defer get.Body.Close()
	if body, err := io.ReadAll(get.Body); err != nil || string(body) != "hello\n" {
		s.Errorf("port-forward: got %q, %v", body, err)
	}
}

// TestSSHWorkspace builds a workspace on an engine behind ssh, by a docker context, and checks the
// answers to mistakes.
func TestSSHWorkspace(t *testing.T) {
	t.Parallel()
	s := newSSHHost(t)
	s.lab()
	s.must(os.WriteFile(filepath.Join(s.work, "data.txt"), []byte("of the workspace\n"), 0o600))
	r := s.torchx("run", "-b", "docker", "-cfg", "pull=never,context=lab", "--workspace", s.work, "t.star:app", "--script", "cat data.txt")
	if r.code != 0 || !strings.Contains(r.stderr, "r/0 of the workspace\n") {
		t.Errorf("workspace: %+v", r)
	}
	for cfg, want := range map[string]string{
		"host=ssh://root@lab,context=lab": "also selects the engine",
		"host=ssh://root:pw@lab":          "password",
		"host=nowhere":                    "want an address such as ssh://user@machine",
		"context=nosuch":                  `docker context "nosuch" (from -cfg context) does not exist`,
		"host=ssh://root@127.0.0.1:1":     "Connection refused",
	} {
		if r := s.torchx("run", "-b", "docker", "-cfg", cfg, "t.star:app"); r.code == 0 || !strings.Contains(r.stderr, want) {
			t.Errorf("%s: got %+v, want %q", cfg, r, want)
		}
	}
	s.must(os.WriteFile(filepath.Join(s.work, ".torchxconfig"), []byte("[docker]\nhost = ssh://root@lab\n"), 0o600))
	if r := s.torchx("run", "-b", "docker", "t.star:app"); r.code == 0 || !strings.Contains(r.stderr, "host") || s.containers("") != 1 {
		t.Errorf("a host of the folder: %+v, want consent to be needed", r)
	}
}
