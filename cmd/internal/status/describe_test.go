package status

import (
	"strings"
	"testing"

	"torchx/cmd/internal/ui"
	"torchx/runtime/history"
	"torchx/runtime/secrets"
	"torchx/runtime/spec"
)

func TestDescribe(t *testing.T) {
	t.Parallel()
	rules, err := secrets.New(nil)
	must(t, err)
	least := 2
	trainer := spec.NewRole("trainer", "ghcr.io/me/train:1")
	trainer.Entrypoint, trainer.Args = "sh", []string{"-c", "set -e\nexec python train.py\n", "--token=sesame"}
	trainer.NumReplicas, trainer.MinReplicas, trainer.MaxRetries = 4, &least, 3
	trainer.Resource.CPU, trainer.Resource.GPU, trainer.Resource.MemMB = 1.5, 2, 8192
	trainer.Env = spec.Map[string]{{Key: "A", Value: "1"}, {Key: "B", Value: "2"}}
	trainer.PortMap = spec.Map[int]{{Key: "http", Value: 80}}
	trainer.Mounts = []spec.Mount{{Type: spec.MountBind, Src: "/data", Dst: "/mnt", ReadOnly: true}}
	trainer.Metadata = map[string]any{"torchx": map[string]any{"depends_on": []any{"store"}, "ready": map[string]any{"port": "http"}}}
	store := spec.NewRole("store", "")
	store.Entrypoint = "redis-server"
	store.Metadata = map[string]any{"torchx": map[string]any{"sidecar": true}}
	p := describePage{
		screen:      screen{now: noon, width: 80, masked: rules.Text},
		description: &history.View{App: provenRecord(), Recorded: true}, command: "train.star:main",
		app: &spec.App{Name: "train", Roles: []spec.Role{trainer, store}}, options: "grace_period=3",
		status: &spec.Status{State: spec.Running, StartedAt: before(5)},
	}
	want := `      App: local://torchx/train-f3k1
Component: train.star:main
    State: RUNNING for 5s
Submitted: 2026-03-01 11:59:00 UTC (1m ago)
   Folder: /home/me/project
       By: me@box, torchx 1.2
Libraries: shared v1 (0123456789ab), local
   Commit: 1b7f3f6e5c2d on main
   Remote: git@h:o/r.git
  Changes: 6 files changed, 1 untracked: a, b, c, d, e, ...
     Diff: 2.0 KiB: torchx describe --diff local://torchx/train-f3k1
  Options: grace_period=3

ROLE     REPLICAS   ENTRYPOINT    RESOURCES                RETRIES  ENV
trainer  4 (min 2)  sh            1.5 CPUs, 2 GPUs, 8 GiB  3 (app)  2
  image: ghcr.io/me/train:1
  args: -c 'set -e…' (2 lines, 28 B) --token=******
  mount: bind /data -> /mnt (read-only)
  ports: http=80
  waits for: role store to run
  ready when: port http
store    1          redis-server  -                        0        0
  sidecar: stopped when all other roles have succeeded

All of it: torchx describe --full local://torchx/train-f3k1
`
	if got := p.text(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	p.status, p.description.Recorded, p.options, p.description.SubmittedAt, p.command = nil, false, "", nil, ""
	p.description.Partial = true
	p.app = &spec.App{}
	want = `      App: local://torchx/train-f3k1
  Partial: this history does not have the app: its roles are as the backend
           reports them

All of it: torchx describe --full local://torchx/train-f3k1
`
	if got := p.text(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// provenRecord returns the record of an app that was submitted from a checkout with changes.
func provenRecord() history.App {
	dirty := true
	return history.App{
		AppKey: history.AppKey{Backend: "local", ID: "train-f3k1"}, SubmittedAt: before(60),
		Source: history.Source{Cwd: "/home/me/project", Submission: history.Submission{
			Host: "box", User: "me", Version: "1.2",
			Libraries: []history.Library{{Name: "shared", Revision: "v1", Commit: "0123456789abcdef"}, {Name: "local"}},
		}},
		Checkout: &history.Checkout{
			Commit: "1b7f3f6e5c2d0000", Branch: "main", Remote: "git@h:o/r.git", Dirty: &dirty, Changed: 6, Untracked: 1,
			Files: []string{"a", "b", "c", "d", "e", "f"}, UntrackedFiles: []string{"x"}, DiffSum: "51", DiffBytes: 2048,
		},
	}
}

func TestFoldedArgs(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 50)
	got := foldedArgs([]string{"-c", "two\nlines", "a b", "", long})
	if want := "-c two… (2 lines, 9 B) 'a b' '' '" + strings.Repeat("word ", 7) + "word…' (250 B)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if n := ui.TextWidth(ui.FoldText(long)); n > 60 {
		t.Errorf("%d columns, want at most 60", n)
	}
}
