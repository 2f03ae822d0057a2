//go:build unix

package script

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"torchx/runtime/spec"
)

// dumpArg makes this test binary a replica, which writes the rest of its arguments and its
// environment to the file named by the argument after it.
const dumpArg = "torchx-dump-replica"

func TestMain(m *testing.M) {
	if len(os.Args) < 3 || os.Args[1] != dumpArg {
		os.Exit(m.Run())
	}
	data, err := json.Marshal(dump{bytesOf(os.Args[3:]), bytesOf(os.Environ())})
	if err = errors.Join(err, os.WriteFile(os.Args[2], data, 0o600)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// dump is what a replica got, as bytes: text of JSON has no invalid UTF-8.
type dump struct{ Args, Env [][]byte }

func bytesOf(list []string) (all [][]byte) {
	for _, s := range list {
		all = append(all, []byte(s))
	}
	return all
}

// stubSrun runs the only task of a role here, after the options of srun.
const stubSrun = `#!/bin/bash
while [ "$1" != bash ]; do shift; done
export SLURM_PROCID=0 SLURM_STEP_ID=0
exec "$@"
`

// FuzzScript runs the script of a plan by bash with a stub of srun: whatever text is in its fields
// reaches the replica byte by byte, and nothing of it is run but setup.
func FuzzScript(f *testing.F) {
	f.Add("r", "A", "v", "plain", "c", "d", "export SETUP=1")
	f.Add("it's\n$(id)", "a.b", "`id` $HOME\n", "\\n\"'\x01\xff", "#SBATCH --x\\\"", "é 世界'", "SETUP='a\nb'; export SETUP; set -- 9")
	f.Add("r", "UID", "7", "${replica_id} $$ ${app_id}", "", "$(id)", "'")
	f.Add("r", "RANDOM", "7", "-n", "", "\n", "shift; folder=/; exec 1>&2")
	f.Add("-r", "-S", "x y", "*", "'", "-e", "exit 3")
	f.Add("r", "PATH", "/nowhere", "=", "", ";", "false")
	srun := filepath.Join(f.TempDir(), "srun")
	if err := os.WriteFile(srun, []byte(stubSrun), 0o700); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, name, key, value, arg, comment, dir, setup string) {
		needBash(t)
		in, role := fuzzInput(t, name, key, value, arg, comment, dir)
		p, err := Plan(t.Context(), in)
		if err != nil {
			return // it refuses a field
		}
		req := p.Request.(*Request)
		out := filepath.Join(in.Cwd, "dump")
		if got := runScript(t, in, req, srun); got == nil {
			t.Fatalf("the replica did not run:\n%s", logsOf(req.Folder))
		} else {
			checkDump(t, got, role)
		}
		if setup == "" || strings.Contains(setup, "\x00") {
			return
		}
		// Its text comes in as data: as a program, random text could do anything.
		if err := os.Remove(out); err != nil {
			t.Fatal(err)
		}
		in.Base += "2"
		in.Cfg["setup"] = "echo " + quote(setup) + ">/dev/null; export SETUP=" + quote(setup)
		if p, err = Plan(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		req = p.Request.(*Request)
		got := runScript(t, in, req, srun)
		if got == nil || key != "SETUP" && !slices.Contains(stringsOf(got.Env), "SETUP="+setup) {
			t.Fatalf("got %+v after setup, want SETUP=%q:\n%s", got, setup, logsOf(req.Folder))
		}
		checkDump(t, got, role)
	})
}

func stringsOf(list [][]byte) (all []string) {
	for _, b := range list {
		all = append(all, string(b))
	}
	return all
}

// fuzzInput returns the input of a plan in a folder of its own, and its role as the replica gets it.
func fuzzInput(t *testing.T, name, key, value, arg, comment, dir string) (Input, spec.Role) {
	t.Helper()
	role := spec.NewRole(name, "img")
	cwd := t.TempDir()
	role.Entrypoint, role.Args = os.Args[0], []string{dumpArg, filepath.Join(cwd, "dump"), arg}
	role.Env = spec.Map[string]{{Key: key, Value: value}}
	base := filepath.Join(cwd, "d"+strings.NewReplacer("/", "", "\x00", "").Replace(dir))
	if name == "" || len(name) > 50 || len(base) > 200 || strings.Contains(arg+value, "\x01") ||
		os.MkdirAll(base, 0o700) != nil {
		t.Skip("no name of a role or folder, or a mark of this package")
	}
	in := inputOf(t, nil, role)
	if comment != "" {
		in.Cfg["comment"] = comment
	}
	in.Base, in.Cwd = base, cwd
	return in, spec.Macros{ImgRoot: role.Image, AppID: in.ID, ReplicaID: "0", Rank0Env: spec.Rank0HostVariable}.Apply(role)
}

// runScript runs a script as Slurm would, and returns what the replica got, nil if it did not run.
func runScript(t *testing.T, in Input, req *Request, srun string) *dump {
	t.Helper()
	file := filepath.Join(in.Cwd, "script")
	if err := errors.Join(os.MkdirAll(req.Folder, 0o700), os.WriteFile(file, []byte(req.Script), 0o600)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", file)
	cmd.WaitDelay = time.Second
	cmd.Dir = in.Cwd
	cmd.Env = []string{
		"SLURM_JOB_ID=1", "SLURMD_NODENAME=n1", "TMPDIR=" + in.Cwd,
		"PATH=" + filepath.Dir(srun) + ":/usr/bin:/bin",
	}
	_ = cmd.Run() // the result is in what the replica wrote
	data, err := os.ReadFile(filepath.Join(in.Cwd, "dump"))
	if err != nil {
		return nil
	}
	got := &dump{}
	if err := json.Unmarshal(data, got); err != nil {
		t.Fatal(err)
	}
	return got
}

func checkDump(t *testing.T, got *dump, role spec.Role) {
	t.Helper()
	if args := stringsOf(got.Args); len(args) != 1 || args[0] != role.Args[2] {
		t.Errorf("got arguments %q, want %q", args, role.Args[2:])
	}
	if want := role.Env[0].Key + "=" + role.Env[0].Value; !slices.Contains(stringsOf(got.Env), want) {
		t.Errorf("got environment %q, want %q", stringsOf(got.Env), want)
	}
}

// logsOf returns what the launcher and the replica printed.
func logsOf(folder string) (text string) {
	for _, pattern := range []string{"slurm.out", "replicas/*/0/0/*.log"} {
		files, _ := filepath.Glob(filepath.Join(folder, pattern))
		for _, f := range files {
			data, _ := os.ReadFile(f)
			text += string(data)
		}
	}
	return text
}
