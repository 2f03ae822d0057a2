package page

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"torchx/runtime/history"
	"torchx/runtime/spec"
	"torchx/state"
	"torchx/test/binary"
	"torchx/test/homedir"
)

// appCount returns the number of apps of the history: TORCHX_APPS, or 20,000 as in the benchmarks of CI.
func appCount(t *testing.T) int {
	t.Helper()
	text := os.Getenv("TORCHX_APPS")
	if text == "" {
		return 20_000
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("TORCHX_APPS: %v", err)
	}
	return n
}

// component has a training of three roles and an app with a name.
const component = `
def train(lr = 0.1, steps = 200, fail = False, replicas = 2):
    """Trains a model.

    Args:
        lr (float): learning rate
        steps (int): number of steps
        fail (bool): whether trainer 1 fails
        replicas (int): number of trainers
    """
    def role(name, args, **more):
        return specs.Role(name = name, image = "", entrypoint = "sh", args = args, **more)
    return specs.AppDef(name = "train", roles = [
        role("data", ["-c", "echo serving; sleep 600"], sidecar = True),
        role("trainer", ["train.sh", specs.macros.replica_id, str(lr), str(steps), str(fail)], num_replicas = replicas, max_retries = 1 if fail else 0, depends_on = {"data": "started"}),
        role("eval", ["-c", "echo accuracy 0.93"], depends_on = {"trainer": "succeeded"}),
    ])

def trial(lr = 0.1, batch = 16):
    """Has a metric.

    Args:
        lr (float): learning rate
        batch (int): batch size
    """
    return specs.AppDef(name = "trial", roles = [specs.Role(name = "sh", image = "", entrypoint = "sh", args = ["-c",
        "echo '{\"step\": 1, \"loss\": %s}' >> $TORCHX_METRICS" % (lr * batch)])])

def named(name, script):
    """Runs a script as an app with a name.

    Args:
        name (str): name
        script (str): shell script
    """
    return specs.AppDef(name = name, roles = [specs.Role(name = "sh", image = "", entrypoint = "sh", args = ["-c", script])])
`

// training writes metrics, a progress bar, warnings and an output, and may fail.
const training = `
awk -v lr="$2" -v n="$3" -v id="$1" 'BEGIN {
	srand(id + lr * 1000)
	for (i = 0; i < n; i++) {
		loss = (2 + lr) * 0.985 ^ i + rand() * 0.12 + lr / 10
		printf "{\"step\": %d, \"loss\": %.5f, \"accuracy\": %.5f}\n", i, loss, 1 - loss / 3
	}
}' >> "$TORCHX_METRICS"
for epoch in 1 2 3; do
	for p in 0 25 50 75 100; do printf '\r\033[32mepoch %d\033[0m %3d%%' $epoch $p; done
	printf '\n\033[1mstep %d\033[0m \033[36mloss\033[0m 0.%d\n' $((epoch * 50)) $((9 - epoch))
	echo "gradient norm $epoch.2 is large" >&2
done
mkdir -p "$TORCHX_OUTPUT/model"
echo weights > "$TORCHX_OUTPUT/model/weights.txt"
sleep 1.2
if [ "$4" = True ] && [ "$1" = 1 ]; then
	printf 'Traceback: \033[31mout of memory\033[0m\n' >&2
	exit 3
fi
`

// bar fails after a progress bar, as a training with tqdm does.
const bar = `for i in $(seq 300); do printf '\rstep %d/300' $i >&2; done
printf '\nTraceback (most recent call last):\n  File "train.py", line 17, in <module>\nRuntimeError: CUDA out of memory\n' >&2
exit 1`

// newFixture makes runs of all kinds and starts a server.
func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{T: t, home: homedir.New(t), dir: t.TempDir(), runs: map[string]any{}}
	var err error
	if f.bin, err = binary.Build(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"components/job.star": component, "train.sh": training, ".torchxconfig": ""} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(f.dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(f.dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	fill(t, f.home)
	trials := []string{}
	for _, lr := range []string{"0.1", "0.2", "0.4", "0.8"} {
		trials = append(trials, f.run("--parent_run_id", "my-sweep", "--tag", "team=vision", "job.train", "--lr", lr))
	}
	f.runs["trials"] = trials
	f.runs["failed"] = f.run("--tag", "team=vision", "--tag", "hopeless", "--note", "too large a batch", "job.train", "--fail", "true", "--replicas", "3")
	f.runs["sweep"] = f.id("sweep", "-d", "--grid", "lr=0.3,0.6", "--grid", "steps=20,40", "--metric", "loss:min", "job.train")
	f.runs["wide"] = f.id("sweep", "-d", "--random", "100", "--range", "lr=log:0.0001..1", "--grid", "batch=16,32,64", "--metric", "loss:min", "job.trial")
	f.runs["bar"] = f.run("utils.sh", "-c", bar)
	f.runs["hostile"] = f.run("--tag", "team=<b>bold</b>", "--note", "<img src=x onerror=alert(1)>", "utils.echo", "--msg", "<script>alert(2)</script> \033]0;title\a \u202e reversed")
	f.runs["long"] = f.run("utils.sh", "-c", "seq 2000000")
	f.runs["huge"] = f.run("utils.sh", "-c", "seq -f %.0f"+strings.Repeat("x", 93)+" 10000000") // 1 GB
	f.runs["points"] = f.run("utils.sh", "-c", `seq 0 999999 | sed 's/.*/{"step": &, "loss": &}/; s/"loss": [0-9]*\([0-9][0-9]\)}/"loss": \1}/; s/"loss": 0\([0-9]\)/"loss": \1/' >> $TORCHX_METRICS`)
	f.runs["many"] = f.run("utils.sh", "--num_replicas", "1000", "-c", "echo replica ${replica_id}")
	for _, id := range append(trials, f.runs["sweep"].(string), f.runs["wide"].(string), f.runs["long"].(string), f.runs["huge"].(string), f.runs["points"].(string), f.runs["many"].(string)) {
		f.torchx("wait", id)
	}
	_ = exec.Command(f.bin, "wait", f.runs["failed"].(string)).Run() // exits with the code of the run
	f.serve()
	return f
}

// fill makes a history of apps that have ended, a minute apart.
func fill(t *testing.T, home string) {
	t.Helper()
	ctx := context.Background()
	db, err := state.Open(ctx, filepath.Join(home, "state.db"), state.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	def, err := json.Marshal(&spec.App{Name: "trainer", Roles: []spec.Role{{
		Name: "trainer", Image: "image", Entrypoint: "sh", Args: []string{strings.Repeat("x", 1500)}, NumReplicas: 1,
	}}})
	if err != nil {
		t.Fatal(err)
	}
	apps := appCount(t)
	states, codes := []spec.State{spec.Succeeded, spec.Succeeded, spec.Failed, spec.Cancelled}, []int{0, 0, 1, 130}
	began := time.Now().Add(-time.Duration(apps) * time.Minute)
	for i := range apps {
		at := began.Add(time.Duration(i) * time.Minute)
		ended := at.Add(time.Duration(i%7919) * time.Second)
		err := db.Insert(ctx, history.App{
			AppKey: history.AppKey{ID: fmt.Sprintf("trainer-%06x", i), Backend: "local"}, Name: fmt.Sprintf("trainer-%d", i%100),
			Spec: def, Cfg: []byte(`{}`), Source: history.Source{Component: "dist.ddp", Args: []string{"--lr", strconv.Itoa(i % 5000)}},
			Labels:      history.Labels{Tags: map[string]string{"team": []string{"vision", "speech"}[i%2]}},
			Outcome:     history.Outcome{State: states[i%len(states)], ExitCode: &codes[i%len(codes)], StartedAt: &at, FinishedAt: &ended},
			SubmittedAt: &at,
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
