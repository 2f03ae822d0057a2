package goldens

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const differencesPage = "../../docs/reference/torchx-differences.md"

// rowTests are the tests of rows that no recording shows: a file, and a text in it.
var rowTests = map[string]string{
	"language":                               "cmd/torchx/testdata/script/migrate.txtar#exec torchx migrate comp.py",
	"`mounts readonly=false`":                "starlark/specmodule/mounts_test.go#\"readonly=false\": false",
	"`dist.ddp --metadata kubernetes=FILE`":  "backends/kubernetes/manifest/overlay_test.go#`--metadata kubernetes=file:/",
	"`dist.ddp` without `--script` and `-m`": "components/dist_test.star#def test_lost_script(t):",
	"`-j 3:2x4`":                             "components/dist_test.go#case j == \"3:2x1\"",
	"`utils.sh --entrypoint`":                "components/utils_test.go#\"--entrypoint\", \"env\", \"--\", \"a b\", \"$X\"",
	"`utils.copy`":                           "test/goldens/rules_component_test.go#copy, fact 52 with a program that exists",
	"`utils.hydra`":                          "cmd/torchx/testdata/script/from_torchx.txtar#code 1 torchx run utils.hydra",
	"default backend":                        "cmd/torchx/testdata/script/from_torchx.txtar#stdout '^backend +local +default$'",
	"`.torchxconfig` of a folder":            "cmd/torchx/testdata/script/on_end.txtar#torchxconfig is not trusted yet",
	"workspace":                              "cmd/internal/planning/workspace_test.go#func TestDefaultWorkspace(",
	"exit code of `run`":                     "cmd/torchx/testdata/script/log_failed.txtar#code 3 torchx run",
	"unknown app":                            "cmd/torchx/testdata/script/from_torchx.txtar#code 1 torchx cancel local://torchx/nothing",
	"`-cfg a=1,` and `-cfg a=1,,b=2`":        "runtime/backend/cfg_test.go#func TestStrayDelimiters(",
	"`[component:FILE.py:FUNCTION]` in `.torchxconfig`": "cmd/torchx/testdata/script/from_torchx.txtar#[component:comp.py:multi]",
	"`run --dryrun`":                           "test/goldens/sandbox_test.go#the dry run created or removed files",
	"`status`":                                 "cmd/torchx/testdata/script/run.txtar#exec torchx status --format torchx -",
	"`describe`":                               "cmd/torchx/testdata/script/run.txtar#exec torchx describe --full -",
	"JSON output":                              "cmd/torchx/testdata/script/json.txtar#schema status",
	"`log --regex`":                            "cmd/torchx/testdata/script/from_torchx.txtar#code 2 torchx log --regex '(?=x)' -",
	"`log HANDLE/ROLE/0`":                      "cmd/torchx/testdata/script/from_torchx.txtar#exec torchx log -/echo/0",
	"`log` on Kubernetes":                      "cmd/torchx/testdata/script/run.txtar#--timestamps",
	"`configure`":                              "cmd/torchx/testdata/script/config.txtar#.torchxconfig already exists",
	"`run --tee_logs`":                         "cmd/torchx/testdata/script/from_torchx.txtar#exec torchx run --tee_logs utils.echo",
	"when the command ends":                    "cmd/torchx/tty_linux_test.go#\"run and SIGHUP\"",
	"retries, `min_replicas`, order":           "backends/local/local_test.go#func TestRetriesKeepEveryAttemptsLog(",
	"a failed replica":                         "backends/local/local_test.go#func TestFailFastStopsTheOthers(",
	"a program in the working folder":          "cmd/torchx/testdata/script/search_path.txtar#prepend_cwd=true",
	"`.dockerignore`":                          "backends/workspace/workspace_test.go#func TestIgnore(",
	"pulling images":                           "backends/docker/image/api_test.go#func TestEnsureFails(",
	"state after `cancel` on Docker":           "test/backendtest/cancels.go#want CANCELLED",
	"`delete` on Docker":                       "test/docker/foreign_test.go#func TestDelete(",
	"Volcano queue":                            "cmd/torchx/testdata/script/from_torchx.txtar#stdout '\"queue\": \"default\"'",
	"pod overlay of several maps":              "backends/kubernetes/manifest/golden_test.go#it was silently ignored",
	"name of the first node before DNS has it": "components/launch_test.go#func TestEnvLauncherWaitsForName(",
	"app ID":                                   "backends/slurm/job/parse_test.go#func TestParseID(",
	"replicas":                                 "backends/slurm/script/script_test.go#func TestDirectives(",
	"`${rank0_env}`":                           "backends/slurm/script/script_test.go#func TestPorts(",
	"variables with commas":                    "backends/slurm/script/script_test.go#func TestWords(",
	"retries":                                  "backends/slurm/lifecycle_test.go#func TestRequeue(",
	"logs":                                     "backends/slurm/copier_test.go#func TestPasses(",
	"`job_dir`":                                "backends/slurm/cluster_test.go#func TestOtherLogin(",
	"`status` of a job that ended":             "backends/slurm/cluster_test.go#func TestForgottenJob(",
	"a job that waits":                         "backends/slurm/cluster_test.go#func TestWaits(",
	"`cancel`":                                 "backends/slurm/lifecycle_test.go#func TestCancelEndsReplicas(",
	"the Python SDK (`torchx.runner`)":         "clients/python/test_torchx_client.py#class ",
	"plugins by entry points, `torchx_plugins`":         "cmd/torchx/testdata/script/lib.txtar#exec torchx lib list",
	"fsspec paths (`s3://`, `gs://`)":                   "components/utils_test.go#only paths are supported",
	"AWS Batch, SageMaker, Ray, LSF":                    "cmd/torchx/testdata/script/help.txtar#code 2 torchx run -s aws_batch utils.echo",
	"trackers other than `fsspec` with `protocol=file`": "cmd/torchx/testdata/script/tracker.txtar#not s3 of",
	"`TORCHX_…` variables as parameters of a scheduler": "cmd/torchx/testdata/script/from_torchx.txtar#TORCHX_CFG_SLURM_PARTITION",
}

// TestRows: each difference of a recording has its row in torchx-differences.md, and each row has
// its test.
func TestRows(t *testing.T) {
	t.Parallel()
	rows := pageRows(t)
	shown := slices.Clone(dockerShape)
	for _, d := range slices.Concat(differences, dockerDifferences) {
		shown = append(shown, d.row)
	}
	for _, d := range kubernetesDifferences {
		shown = append(shown, d.row)
	}
	for _, row := range shown {
		if !slices.Contains(rows, row) {
			t.Errorf("torchx-differences.md has no row %q, but recordings differ", row)
		}
	}
	for _, row := range rows {
		if _, ok := rowTests[row]; ok == slices.Contains(shown, row) {
			t.Errorf("row %q needs a recording or an entry of rowTests, and not both", row)
		}
	}
	for row, test := range rowTests {
		file, text, _ := strings.Cut(test, "#")
		data, err := os.ReadFile(filepath.Join("../..", file))
		if err != nil || !strings.Contains(string(data), text) || !slices.Contains(rows, row) {
			t.Errorf("row %q: no such row, or no %q in %s (%v)", row, text, file, err)
		}
	}
}

// pageRows returns the first cells of the tables of differences: all but that of migrate.
func pageRows(t *testing.T) (rows []string) {
	data, err := os.ReadFile(differencesPage)
	must(t, err)
	page, _, _ := strings.Cut(string(data), "## What `migrate` ports")
	for line := range strings.Lines(page) {
		cells := strings.Split(line, "|")
		if len(cells) < 3 {
			continue
		}
		switch subject := strings.TrimSpace(cells[1]); subject {
		case "subject", "TorchX", "---":
		default:
			rows = append(rows, subject)
		}
	}
	return rows
}
