// Package mcp tests `torchx mcp` by the clients of two implementations of the Model Context Protocol.
package mcp

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"torchx/test/binary"
	"torchx/test/homedir"
)

// project returns a folder with a component, and the environment of commands in it.
func project(t *testing.T) (dir string, env []string) {
	t.Helper()
	dir = homedir.New(t)
	const star = "def train(token = \"\"):\n    \"\"\"Trains.\"\"\"\n    return specs.AppDef(name = \"train\", roles = [specs.Role(name = \"w\", image = \"\", entrypoint = \"sleep\", args = [\"600\"], env = {\"MY_TOKEN\": token})])\n"
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "components"), 0o755),
		os.WriteFile(filepath.Join(dir, "components", "c.star"), []byte(star), 0o600)); err != nil {
		t.Fatal(err)
	}
	return dir, append(os.Environ(), "TORCHX_HOME="+filepath.Join(dir, "home"), "HOME="+dir)
}

// connect starts the server and connects the client of the SDK.
func connect(t *testing.T, exe, dir string, env []string, args ...string) *mcp.ClientSession {
	t.Helper()
	c := exec.Command(exe, append([]string{"mcp"}, args...)...)
	c.Dir, c.Env = dir, env
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: c}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := session.Close(); err != nil {
			t.Error(err)
		}
	})
	return session
}

// call calls a tool and returns its text and its structured answer.
func call(t *testing.T, s *mcp.ClientSession, name string, in map[string]any, failed bool) (text string, out map[string]any) {
	t.Helper()
	r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: in})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for _, c := range r.Content {
		if part, ok := c.(*mcp.TextContent); ok {
			text += part.Text
		}
	}
	if r.IsError != failed {
		t.Fatalf("%s %v: got failure %v, want %v: %s", name, in, r.IsError, failed, text)
	}
	out, _ = r.StructuredContent.(map[string]any)
	return text, out
}

func TestMCP(t *testing.T) {
	t.Parallel()
	exe, err := binary.Build(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Run("tools", func(t *testing.T) { t.Parallel(); testTools(t, exe) })
	t.Run("schemas", func(t *testing.T) { t.Parallel(); testSchemas(t, exe) })
	t.Run("read-only", func(t *testing.T) { t.Parallel(); testReadOnly(t, exe) })
	t.Run("trust", func(t *testing.T) { t.Parallel(); testTrust(t, exe) })
	t.Run("messages", func(t *testing.T) { t.Parallel(); testMessages(t, exe) })
	t.Run("typescript", func(t *testing.T) { t.Parallel(); testTypeScript(t, exe) })
}

// An app is found, planned, run, watched and ended; its secrets stay hidden.
func testTools(t *testing.T, exe string) {
	dir, env := project(t)
	s := connect(t, exe, dir, env)
	if text, _ := call(t, s, "list_components", nil, false); !strings.Contains(text, "c.train") {
		t.Errorf("got components %s, want c.train", text)
	}
	secret := map[string]any{"component": "c.train", "args": []string{"--token", "hunter2hunter2"}}
	plan, _ := call(t, s, "dry_run", secret, false)
	_, run := call(t, s, "run", secret, false)
	handle, _ := run["handle"].(string)
	text, status := call(t, s, "wait", map[string]any{"handle": handle, "timeout_s": 1}, false)
	if status["state"] != "RUNNING" {
		t.Errorf("got %v, want RUNNING after a second", status["state"])
	}
	described, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "torchx://runs/" + handle[strings.LastIndexByte(handle, '/')+1:]})
	if err != nil {
		t.Fatal(err)
	}
	for _, shown := range []string{plan, text, described.Contents[0].Text} {
		if strings.Contains(shown, "hunter2") || !strings.Contains(shown, "train") {
			t.Errorf("got %.3000s, want the app without its secret", shown)
		}
	}
	for _, in := range []string{"--all", "-a", "", "no-such-app"} {
		call(t, s, "cancel", map[string]any{"handle": in}, true)
	}
	call(t, s, "cancel", map[string]any{"handle": handle}, false)
	if _, status = call(t, s, "wait", map[string]any{"handle": handle}, false); status["state"] != "CANCELLED" {
		t.Errorf("got %v, want CANCELLED", status["state"])
	}
	print := map[string]any{"component": "utils.sh", "args": []string{"-c", "seq 5000; for i in $(seq 3000); do echo '{\"step\": '$i', \"loss\": '$i'}'; done >>$TORCHX_METRICS; exit 3"}}
	_, run = call(t, s, "run", print, false)
	if text, status = call(t, s, "wait", map[string]any{"handle": run["handle"]}, false); status["exit_code"] != 3.0 || !strings.Contains(text, "5000") {
		t.Errorf("got %v, %s, want exit code 3 and the last line", status["exit_code"], text)
	}
	for want, in := range map[string]map[string]any{
		"sh/0 5000\n":            {"tail": 1},
		"sh/0 4999\nsh/0 5000\n": {"tail": 2, "failed": true},
		"sh/0 4777\n":            {"regex": "^4777$"},
		"sh/0 7\nsh/0 8\n":       {"lines": "7:8"},
	} {
		in["handle"] = run["handle"]
		if got, _ := call(t, s, "logs", in, false); got != want {
			t.Errorf("logs %v: got %q, want %q", in, got, want)
		}
	}
	_, metrics := call(t, s, "metrics", map[string]any{"handles": []any{run["handle"]}, "points": 5}, false)
	series := metrics["series"].([]any)[0].(map[string]any)
	points := series["points"].([]any)
	if first, last := points[0].(map[string]any), points[4].(map[string]any); len(points) != 5 || first["step"] != 1.0 || last["step"] != 3000.0 || series["count"] != 3000.0 {
		t.Errorf("got %v, want 5 points from step 1 to 3000", series)
	}
	_, sweep := call(t, s, "sweep", map[string]any{"component": "utils.echo", "grid": []string{"msg=a,b"}}, false)
	if _, status = call(t, s, "wait", map[string]any{"handle": sweep["handle"]}, false); status["state"] != "SUCCEEDED" {
		t.Errorf("got %v, want a sweep that succeeded", status["state"])
	}
	for _, wrong := range []map[string]any{{}, {"component": 7}, {"component": "utils.echo", "color": "red"}, {"component": "--dryrun"}, {"component": "utils.echo", "args": "x"}, {"component": "nothing.here"}} {
		call(t, s, "run", wrong, true)
	}
}

// Each schema is one document by which a validator can check, and fits its tool's answers (the
// TypeScript client checks those).
func testSchemas(t *testing.T, exe string) {
	dir, env := project(t)
	list, err := connect(t, exe, dir, env).ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	with := 0
	for _, tool := range list.Tools {
		for _, schema := range []any{tool.InputSchema, tool.OutputSchema} {
			if schema == nil {
				continue
			}
			with++
			data, err := json.Marshal(schema)
			if err != nil {
				t.Fatal(err)
			}
			doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(data)))
			c := jsonschema.NewCompiler()
			if err = errors.Join(err, c.AddResource("mem:///schema.json", doc)); err == nil { // a file's URL would have the folder's space
				_, err = c.Compile("mem:///schema.json")
			}
			if err != nil || strings.Contains(string(data), "common.json") {
				t.Errorf("%s: %v: %.300s", tool.Name, err, data)
			}
		}
	}
	if with < 25 {
		t.Errorf("got %d schemas, want those of all tools", with)
	}
}

// Without --read-only there are tools that change something, marked as such; with it there are none.
func testReadOnly(t *testing.T, exe string) {
	dir, env := project(t)
	names := func(readOnly bool, args ...string) (all []string) {
		list, err := connect(t, exe, dir, env, args...).ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range list.Tools {
			if readOnly == tool.Annotations.ReadOnlyHint {
				all = append(all, tool.Name)
			}
		}
		return all
	}
	changing := []string{"run", "sweep", "cancel"}
	if got := names(false); !slices.Equal(got, changing) {
		t.Errorf("got changing tools %q, want %q", got, changing)
	}
	if got := names(false, "--read-only"); len(got) != 0 {
		t.Errorf("with --read-only: got %q, want none", got)
	}
	if got := names(true, "--read-only"); !slices.Equal(got, names(true)) {
		t.Errorf("with --read-only: got %q, want all that read", got)
	}
	s := connect(t, exe, dir, env, "--read-only")
	if _, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "run", Arguments: map[string]any{"component": "utils.echo"}}); err == nil || !strings.Contains(err.Error(), "--read-only") {
		t.Errorf("got %v, want that the server is read-only", err)
	}
}

// A folder with settings that the user has not trusted runs nothing.
func testTrust(t *testing.T, exe string) {
	_, env := project(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, ".torchxconfig"), []byte("[local]\nprepend_cwd = true\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := connect(t, exe, t.TempDir(), env, "--dir", dir)
	if text, _ := call(t, s, "run", map[string]any{"component": "utils.echo"}, true); !strings.Contains(text, "trust") {
		t.Errorf("got %q, want how to trust the folder", text)
	}
	if _, runs := call(t, s, "list_runs", nil, false); len(runs["runs"].([]any)) != 0 {
		t.Errorf("got %v, want no run", runs)
	}
}

// Requests before the end of the input are answered, and broken ones with an error.
func testMessages(t *testing.T, exe string) {
	dir, env := project(t)
	c := exec.Command(exe, "mcp")
	c.Dir, c.Env = dir, env
	c.Stdin = strings.NewReader(strings.Join([]string{
		`{"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocolVersion":"1999-01-01"}}`,
		``, `nonsense`, `[]`, `{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":1,"method":"no/such"}`, `{"jsonrpc":"2.0","id":2,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"list_runs"}}`,
		`{"jsonrpc":"2.0","id":4,"method":"resources/read","params":{"uri":"torchx://docs/nothing"}}`,
		`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"nothing"}}`,
	}, "\n"))
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"id":"a","result":{`, `"protocolVersion":"2025-11-25"`, `"id":null,"error":{"code":-32700`, `"id":1,"error":{"code":-32601`,
		`"id":2,"result":{}`, `{\"runs\":[]}`, `"id":4,"error":{"code":-32002`, `"id":5,"error":{"code":-32602`,
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("got %s, want %s", out, want)
		}
	}
	if got := strings.Count(string(out), "\n"); got != 8 {
		t.Errorf("got %d answers, want 8: %s", got, out)
	}
}

func testTypeScript(t *testing.T, exe string) {
	if _, err := os.Stat("node_modules/@modelcontextprotocol/sdk"); err != nil {
		if strings.Contains(os.Getenv("TORCHX_REQUIRE"), "npm") {
			t.Fatal(err)
		}
		t.Skip("run `make e2e-mcp`, which installs the client")
	}
	dir, env := project(t)
	c := exec.Command("node", "client.mjs")
	c.Env = append(env, "TORCHX="+exe, "DIR="+dir)
	if out, err := c.CombinedOutput(); err != nil || string(out) != "ok\n" {
		t.Errorf("got %v: %s", err, out)
	}
}
