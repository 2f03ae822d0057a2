package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"torchx/cmd/internal/program"
	"torchx/test/homedir"
)

// secretComponent puts a secret into each field of an app that can hold one.
const secretComponent = `
def c(lr = "0.1", password = "none"):
    """An app with secrets"""
    return specs.AppDef(name = "s", metadata = {"api_key": "sesame-meta"}, roles = [specs.Role(
        name = "r", image = "i", entrypoint = "true", args = ["--token", "sesame-arg", "--lr", lr, "--secret=sesame-eq"],
        env = {"HF_TOKEN": "sesame-env", "CORP_X": "sesame-corp", "TEAM_ID": "sesame-team", "LR": "plain-lr", "TOKENIZERS_PARALLELISM": "plain-tok",
               "DB": "postgres://u:sesame-url@h/x", "OPTS": "-v --api-key sesame-opt"})])

def typed(api_token = 0):
    """A secret number

    Args:
        api_token (int): it
    """
    return c()
`

func secretDir(t *testing.T) string {
	t.Helper()
	dir := homedir.New(t)
	must(t, os.WriteFile(filepath.Join(dir, "s.star"), []byte(secretComponent), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, ".torchxconfig"), []byte("[torchx]\nsecrets = CORP_*,OTHER\n[docker]\nenv = HF_TOKEN:sesame-cfg;team_token:sesame-team;LR:plain-lr\n"), 0o600))
	return dir
}

// runSecret returns the command line of a dry run, or with -d a run, of the app with secrets.
func runSecret(flags ...string) []string {
	return append(append([]string{"run"}, flags...), "--env", "DB_PASSWORD=sesame-flag", "s.star:c", "--password", "sesame-component")
}

func checkHidden(t *testing.T, what, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		if strings.Contains(line, "sesame") {
			t.Errorf("%s shows %q", what, line)
		}
	}
	for _, want := range []string{"******", "plain-lr", "plain-tok", "HF_TOKEN"} {
		if !strings.Contains(text, want) {
			t.Errorf("%s does not show %s:\n%s", what, want, text)
		}
	}
}

func checkShown(t *testing.T, what, text string) {
	t.Helper()
	if n := strings.Count(text, "sesame"); n < 8 || strings.Contains(text, "******") {
		t.Errorf("%s shows %d secrets:\n%s", what, n, text)
	}
}

func TestDryRunHidesSecrets(t *testing.T) {
	t.Parallel()
	dir := secretDir(t)
	vars := []string{"TORCHX_SECRETS=team_id"}
	checkHidden(t, "dry run", torchx(t, dir, vars, "", runSecret("--dryrun")...).out)
	checkShown(t, "dry run with --show-secrets", torchx(t, dir, vars, "", runSecret("--dryrun", "--show-secrets")...).out)
	checkShown(t, "dry run as JSON", torchx(t, dir, vars, "", runSecret("--dryrun", "--json")...).out)
}

func TestDescribeHidesSecrets(t *testing.T) {
	t.Parallel()
	dir := secretDir(t)
	vars := []string{"TORCHX_SECRETS=team_id"}
	if got := torchx(t, dir, vars, "", runSecret("-d")...); got.code != program.ExitOK || strings.Contains(got.err, "sesame") {
		t.Fatalf("exit code %d: %s", got.code, got.err)
	}
	t.Cleanup(func() { torchx(t, dir, vars, "", "delete", "-f", "-") })
	for _, form := range [][]string{{"describe", "-", "--full"}, {"describe", "-", "--json"}} {
		checkHidden(t, strings.Join(form, " "), torchx(t, dir, vars, "", form...).out)
		form = append(form, "--show-secrets")
		checkShown(t, strings.Join(form, " "), torchx(t, dir, vars, "", form...).out)
	}
}

// TestArgumentsHideSecrets: commands that repeat typed or configured secrets hide them.
func TestArgumentsHideSecrets(t *testing.T) {
	t.Parallel()
	dir := secretDir(t)
	vars := []string{"TORCHX_SECRETS=team_id"}
	torchx(t, dir, vars, "", append(runSecret(), "--lr", "plain-lr")...)
	for _, args := range [][]string{
		{"rerun", "--dryrun", "-"},
		{"rerun", "-", "--password=sesame-new", "--lr=3"},
		{"diff", "-", "--", "--password sesame-new --lr 4"},
		{"diff", "--json", "-", "--", "--password sesame-new --lr 4"},
		{"diff", "--json", "s.star:c --password sesame-a", "s.star:c --password sesame-b"},
		{"config", "explain", "-b", "docker"},
		{"config", "explain", "-b", "docker", "--json"},
		{"config", "explain", "-b", "docker", "-cfg", "env=HF_TOKEN:sesame;bad"},
		{"run", "--dryrun", "-b", "docker", "s.star:c"},
		{"run", "--dryrun", "-b", "kubernetes", "s.star:c"},
		{"events", "--json", "-"},
		{"list", "--json"},
		{"status", "-"},
		{"describe", "-"},
	} {
		got := torchx(t, dir, vars, "", args...)
		if text := got.out + got.err; strings.Contains(text, "sesame") || text == "" {
			t.Errorf("%q: got %s%s, want no secret", args, got.out, got.err)
		}
	}
	for _, args := range [][]string{{"rerun", "--dryrun", "-"}, {"config", "explain", "-b", "docker"}} {
		got := torchx(t, dir, vars, "", append([]string{"--show-secrets"}, args...)...)
		if !strings.Contains(got.out+got.err, "sesame") {
			t.Errorf("%q with --show-secrets: got %s%s, want the secrets", args, got.out, got.err)
		}
	}
}

// TestMaskedAppIsRefused: an app with values that describe hid cannot be submitted.
func TestMaskedAppIsRefused(t *testing.T) {
	t.Parallel()
	dir := secretDir(t)
	torchx(t, dir, nil, "", "run", "s.star:c")
	masked := strings.NewReplacer(`"HF_TOKEN": "******"`, `"HF_TOKEN": "x"`).Replace(torchx(t, dir, nil, "", "describe", "--json", "-").out)
	if got := torchx(t, dir, nil, masked, "submit", "-"); got.code != program.ExitError || !strings.Contains(got.err, "is masked") {
		t.Errorf("got %+v, want that a value is masked", got)
	}
}

func TestBadSecretPattern(t *testing.T) {
	t.Parallel()
	dir := secretDir(t)
	got := torchx(t, dir, []string{"TORCHX_SECRETS=*"}, "", "run", "--dryrun", "s.star:c")
	if got.code != program.ExitError || !strings.Contains(got.err, `$TORCHX_SECRETS: invalid pattern "*"`) || strings.Contains(got.out, "sesame") {
		t.Errorf("exit code %d: %s%s", got.code, got.out, got.err)
	}
	oneClearLine(t, got)
}

func TestErrorsHideSecrets(t *testing.T) {
	t.Parallel()
	dir := secretDir(t)
	for _, args := range [][]string{
		{"run", "--env", "=HF_TOKEN=sesame", "s.star:c"},
		{"run", "-cfg", "API_KEY=sesame", "--dryrun", "s.star:nothing"},
		{"run", "s.star:c", "--nothing", "--token=sesame"},
		{"status", "local://torchx/HF_TOKEN=sesame"},
		{"submit", "https://u:sesame@host"},
		{"run", "--env", "HF_TOKEN:sesame", "s.star:c"},
		{"run", "--env", "HF_TOKEN sesame", "s.star:c"},
		{"run", "-b", "docker", "-cfg", "env=HF_TOKEN:sesame;bad", "s.star:c"},
		{"run", "s.star:typed", "--api_token", "sesame"},
		{"run", "s.star:typed", "--api-token=sesame"},
		{"run", "dist.ddp", "--", "--token", "sesame"},
		{"diff", `s.star:c --password "sesame`, "x"},
	} {
		got := torchx(t, dir, nil, "", args...)
		if got.code == program.ExitOK || strings.Contains(got.out+got.err, "sesame") {
			t.Errorf("%q: exit code %d: %s%s", args, got.code, got.out, got.err)
		}
		if shown := torchx(t, dir, nil, "", append([]string{"--show-secrets"}, args...)...); shown.code != got.code {
			t.Errorf("%q: exit code %d with --show-secrets, %d without", args, shown.code, got.code)
		}
	}
}
