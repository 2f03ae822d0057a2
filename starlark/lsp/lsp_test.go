package lsp

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

const helper = `"""Helpers."""

def role(name, image = "x"):
    """Makes a role.

    Args:
        name (str): what to call it
        image (str): container image
    """
    return specs.Role(name = name, image = image, resource = specs.resource(cpu = 1))
`

const train = `"""Trains."""

load("./helper.star", "role")

def train(steps = 3):
    """Trains a model.

    Args:
        steps (int): how many steps

    Returns:
        the app
    """
    return specs.AppDef(name = "train", roles = [role("t%d" % steps)])
`

func project() map[string]string {
	return map[string]string{"components/helper.star": helper, "components/train.star": train}
}

func TestSession(t *testing.T) {
	t.Parallel()
	c := connect(t, project(), nil)
	if m := c.call("textDocument/hover", c.at("x.star", position{})); m.Error == nil || m.Error.Code != codeNotInitialized {
		t.Errorf("before initialize: got %+v, want an error", m)
	}
	caps := c.initialize("utf-16")
	if caps["positionEncoding"] != "utf-16" {
		t.Errorf("got encoding %v, want utf-16", caps["positionEncoding"])
	}
	c.await("a request to watch files", func() bool { return slices.Contains(c.asked, "client/registerCapability") })
	if m := c.call("initialize", map[string]any{}); m.Error == nil {
		t.Error("a second initialize succeeded, want an error")
	}
	if m := c.call("workspace/nonsense", nil); m.Error == nil || m.Error.Code != -32601 {
		t.Errorf("unknown method: got %+v, want code -32601", m)
	}
	c.notify("$/nonsense", nil)
	c.notify("textDocument/didChange", "nonsense")
	if m := c.call("textDocument/hover", "nonsense"); m.Error == nil || m.Error.Code != -32602 {
		t.Errorf("bad parameters: got %+v, want code -32602", m)
	}
	if m := c.call("textDocument/hover", c.at("not-open.star", position{})); m.Error == nil {
		t.Errorf("a document that is not open: %+v", m)
	}
	if m := c.call("shutdown", nil); m.Error != nil || string(m.Result) != "null" {
		t.Errorf("shutdown: got %+v, want null", m)
	}
	if m := c.call("textDocument/hover", c.at("x.star", position{})); m.Error == nil {
		t.Error("got an answer after shutdown, want an error")
	}
	c.notify("exit", nil)
	if err := <-c.ends; err != nil {
		t.Error(err)
	}
}

// TestClientDies checks that the server ends with the connection, or with the client's process.
func TestClientDies(t *testing.T) {
	t.Parallel()
	c := connect(t, nil, nil)
	c.initialize()
	c.out.Close()
	if err := <-c.ends; !errors.Is(err, ErrNoShutdown) {
		t.Errorf("closed pipe: got %v, want ErrNoShutdown", err)
	}
	gone := make(chan struct{})
	c = connect(t, nil, func(c *Config) {
		c.Alive = func(pid int) bool {
			select {
			case <-gone:
				return false
			default:
				return pid == 42
			}
		}
	})
	c.call("initialize", map[string]any{"processId": 42, "capabilities": map[string]any{}})
	close(gone)
	select {
	case err := <-c.ends:
		if !errors.Is(err, ErrNoShutdown) {
			t.Errorf("dead process: got %v, want ErrNoShutdown", err)
		}
	case <-time.After(patience):
		t.Error("the server outlives its client")
	}
}

// TestBrokenMessages checks that an invalid message is answered and logged, and the next one is served.
func TestBrokenMessages(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]struct {
		code int
		text string
	}{
		`{"a"}`:                         {-32700, "the message is not JSON: invalid character '}' after object key at byte 5"},
		`{"jsonrpc": "2.0", "id": 1`:    {-32700, "not JSON: unexpected end"},
		"{\"method\": \"\xff\"}":        {-32700, "not UTF-8"},
		`{}`:                            {-32600, "not a message of the protocol"},
		`[]`:                            {-32600, "not a message of the protocol"},
		`[{"id": 1, "method": "exit"}]`: {-32600, "not a message of the protocol"},
		`{"id": 7, "method": 5}`:        {-32600, "not a message of the protocol"},
		`7`:                             {-32600, "not a message of the protocol"},
		"":                              {-32700, "not JSON"},
		strings.Repeat("[", 20000):      {-32700, "not JSON"},
		strings.Repeat(" ", 16<<20+1):   {-32600, "the message has 16777217 bytes, over the limit of 16777216"},
	} {
		t.Run(fmt.Sprintf("%.20q", body), func(t *testing.T) {
			t.Parallel()
			c := connect(t, project(), nil)
			c.initialize()
			_, err := fmt.Fprintf(c.out, "content-length:%d\r\nContent-Type: x\r\n\r\n%s", len(body), body)
			must(t, err)
			c.await("the answer to a broken message", func() bool {
				m, ok := c.answers["null"]
				return ok && m.Error != nil && m.Error.Code == want.code && strings.Contains(m.Error.Message, want.text) &&
					slices.ContainsFunc(c.logged, func(line string) bool { return strings.Contains(line, want.text) })
			})
			c.open("components/train.star", train) // the server continues
			c.diagnosed("components/train.star")
		})
	}
}

// TestBrokenHeaders checks that the server reports an error and ends if the next message cannot be found.
func TestBrokenHeaders(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Content-Length: -1\r\n\r\n{}":                   `Content-Length is " -1", want a number of bytes: closing the connection`,
		"Content-Length: 99999999999999999999\r\n\r\n{}": `want a number of bytes`,
		"Content-Length: many\n\n{}":                     `Content-Length is " many"`,
		"Content-Type: x\r\n\r\n{}":                      "the header of a message has no Content-Length",
		"\r\n{}":                                         "has no Content-Length",
		strings.Repeat("x", 1<<20):                       "a header line is too long",
		"Content-Length: 50\r\n\r\n{}":                   "the input ends inside a message",
		"Content-Length: 99999999999\r\n\r\n{}":          "the input ends inside a message",
		"Content-Len":                                    "the input ends inside the header",
	} {
		t.Run(fmt.Sprintf("%.30q", text), func(t *testing.T) {
			t.Parallel()
			c := connect(t, nil, nil)
			c.initialize()
			go func() { // the server stops reading
				_, _ = c.out.Write([]byte(text))
				_ = c.out.Close()
			}()
			if err := <-c.ends; !errors.Is(err, ErrNoShutdown) {
				t.Errorf("got %v, want ErrNoShutdown", err)
			}
			c.await("the reason", func() bool {
				return slices.ContainsFunc(c.logged, func(line string) bool { return strings.Contains(line, want) })
			})
		})
	}
}

func TestDiagnostics(t *testing.T) {
	t.Parallel()
	c := connect(t, project(), nil)
	c.initialize()
	c.open("components/train.star", train)
	c.diagnosed("components/train.star")
	c.change("components/train.star", 2, strings.Replace(train, "steps)])", "(steps, stps))])", 1))
	d := c.diagnosed("components/train.star", "undefined: stps")
	if d[0].Severity != severityError || d[0].Range.Start.Line != 13 || d[0].Code != "names" {
		t.Errorf("got %+v, want an error of rule names in line 13", d)
	}
	c.change("components/train.star", 3, strings.Replace(train, "steps)])", "steps)", 1))
	c.diagnosed("components/train.star", "want ']'")
	c.change("components/train.star", 4, strings.Replace(train, "name = \"train\"", "nme = \"train\"", 1))
	c.diagnosed("components/train.star", "specs.AppDef needs the argument name", "specs.AppDef has no argument nme. Did you mean name?")
	c.change("components/train.star", 5, strings.Replace(train, "./helper", "./helpers", 1))
	c.diagnosed("components/train.star", "helpers.star")
	c.notify("textDocument/didClose", requestParams{TextDocument: textDocument{URI: c.uri("components/train.star")}})
	c.diagnosed("components/train.star")
}

// TestUnsavedBuffersWin checks that open documents are used by files that load them, and that after
// closing the file on disk is used again.
func TestUnsavedBuffersWin(t *testing.T) {
	t.Parallel()
	c := connect(t, project(), nil)
	c.initialize()
	c.open("components/train.star", train)
	c.diagnosed("components/train.star")
	c.open("components/helper.star", helper)
	c.change("components/helper.star", 2, strings.Replace(helper, "def role", "def make_role", 1))
	c.diagnosed("components/train.star", "has no role. Did you mean make_role?")
	at := c.change("components/train.star", 2, strings.Replace(train, `"role")`, `"|")`, 1))
	c.offers("components/train.star", at, "make_role", "!role")
	c.notify("textDocument/didClose", requestParams{TextDocument: textDocument{URI: c.uri("components/helper.star")}})
	c.offers("components/train.star", at, "role", "!make_role")
	// A file that changes on disk is read again.
	must(t, os.WriteFile(filepath.Join(c.dir, "components/helper.star"), []byte("def other():\n    pass\n"), 0o600))
	c.notify("workspace/didChangeWatchedFiles", map[string]any{"changes": []any{}})
	c.offers("components/train.star", at, "other", "!role")
}

func TestCycle(t *testing.T) {
	t.Parallel()
	c := connect(t, map[string]string{
		"components/a.star": "load(\"./b.star\", \"b\")\n\na = b\n", "components/b.star": "load(\"./a.star\", \"a\")\n\nb = a\n",
	}, nil)
	c.initialize()
	c.open("components/a.star", "load(\"./b.star\", \"b\")\n\na = b\n")
	c.diagnosed("components/a.star", "load cycle")
}

func TestCompletion(t *testing.T) {
	t.Parallel()
	c := connect(t, project(), nil)
	c.initialize()
	at := c.open("components/train.star", train+"\ndef more(rate):\n    x = [1,\n    y = specs.|")
	c.offers("components/train.star", at, "Role", "AppDef", "resource", "!len")
	at = c.change("components/train.star", 2, train+"\ndef more(rate):\n    specs.Role(|")
	c.offers("components/train.star", at, "name =", "num_replicas =", "rate", "role", "train", "specs")
	at = c.change("components/train.star", 3, train+"\ndef more(rate):\n    role(im|")
	c.offers("components/train.star", at, "image =", "!name =")
	at = c.change("components/train.star", 4, "load(\"@torchx//|\")")
	c.offers("components/train.star", at, "@torchx//dist.star", "@torchx//utils.star")
	at = c.change("components/train.star", 5, "load(\"|\")")
	c.offers("components/train.star", at, "./helper.star", "//", "@torchx//", "!./train.star")
	at = c.change("components/train.star", 6, "load(\"//components/|\")")
	c.offers("components/train.star", at, "//components/helper.star")
	at = c.change("components/train.star", 7, "load(\"@torchx//dist.star\", \"|\")")
	c.offers("components/train.star", at, "ddp", "!_check_choices")

	// The completion replaces the word, at UTF-16 positions.
	at = c.change("components/train.star", 8, "x = [\"😀é\", spe|]")
	list := result[completionList](c, "textDocument/completion", c.at("components/train.star", at))
	i := slices.IndexFunc(list.Items, func(i completionItem) bool { return i.Label == "specs" })
	if i < 0 || list.Items[i].TextEdit.Range != (textRange{position{0, 12}, position{0, 15}}) {
		t.Errorf("got %+v, want an edit of the typed word", list.Items)
	}
}

// TestIncremental types a line key by key, with characters that UTF-16 writes in two units.
func TestIncremental(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"utf-16", "utf-8"} {
		c := connect(t, project(), nil)
		if got := c.initialize("utf-32", name)["positionEncoding"]; got != name {
			t.Errorf("%v, want %s", got, name)
		}
		c.open("components/train.star", "a = \"😀\"\r\nb = 2\r\n")
		emoji := 2 // UTF-16 units of an emoji
		if name == "utf-8" {
			emoji = 4
		}
		end := 5 + emoji + 1
		insert := func(line, col int, text string) contentChange {
			p := position{line, col}
			return contentChange{Range: &textRange{p, p}, Text: text}
		}
		c.edit("components/train.star", 2, insert(0, end, " + s"), insert(0, end+4, "p"))
		c.offers("components/train.star", position{0, end + 5}, "specs", "!len")
		c.edit("components/train.star", 3, insert(0, end+5, "ecs."))
		c.offers("components/train.star", position{0, end + 9}, "Role", "!len")
		c.edit("components/train.star", 4, contentChange{Range: &textRange{position{0, 5}, position{1, 0}}, Text: "\"\n"})
		h := result[*hover](c, "textDocument/hover", c.at("components/train.star", position{1, 0}))
		if h == nil || !strings.Contains(h.Contents.Value, "b = 2") {
			t.Errorf("%s: got %+v, want b = 2", name, h)
		}
		// A position after the end means the end.
		c.edit("components/train.star", 5, contentChange{Range: &textRange{position{7, 9}, position{99, 99}}, Text: "c = len"})
		c.offers("components/train.star", position{2, 50}, "len", "!specs")
	}
}

func TestHoverAndSignature(t *testing.T) {
	t.Parallel()
	c := connect(t, project(), nil)
	c.initialize()
	hover := func(text, want string) {
		t.Helper()
		at := c.open("components/train.star", train+"\n"+text)
		h := result[*hover](c, "textDocument/hover", c.at("components/train.star", at))
		if h == nil && want != "" || h != nil && (want == "" || !strings.Contains(h.Contents.Value, want)) {
			t.Errorf("%s: %+v, want %q", text, h, want)
		}
	}
	hover("x = specs.Ro|le()", "One kind of process")
	hover("x = rol|e()", "from `./helper.star`")
	hover("x = rol|e()", "what to call it")
	hover("x = role(na|me = 1)", "what to call it")
	hover("x = specs.Role(max_ret|ries = 1)", "max_retries = 0")
	hover("x = torchx.get|env(\"A\")", "environment variable of the user")
	hover("x = unknow|n", "")
	hover("# specs.Ro|le", "")

	signature := func(text, label string, active int) {
		t.Helper()
		at := c.open("components/train.star", train+"\n"+text)
		s := result[*signatureHelp](c, "textDocument/signatureHelp", c.at("components/train.star", at))
		switch {
		case s == nil && label == "":
		case s == nil || !strings.HasPrefix(s.Signatures[0].Label, label) || s.ActiveParameter != active:
			t.Errorf("%s: got %+v, want another signature or parameter", text, s)
		}
	}
	signature("x = specs.AppDef(|", "specs.AppDef(name", 0)
	signature("x = specs.AppDef(\"x\", [|", "specs.AppDef(name", 1)
	signature("x = role(image = |", "role(name, image", 1)
	signature("x = role(1, 2, |", "role(name, image", 2)
	signature("x = (|", "", 0)
	signature("s = \"a\"\nx = s.replace(1, |", "replace(old, new", 1)
	signature("x = unknown(|", "", 0)
}

// TestWritingTests checks that methods of t and resources of the project are known.
func TestWritingTests(t *testing.T) {
	t.Parallel()
	c := connect(t, project(), func(config *Config) {
		config.Resources = func(root string) []string { return []string{"gpu." + filepath.Base(root)} }
	})
	c.initialize()
	const name = "components/train_test.star"
	at := c.open(name, "def test_x(t):\n    t.|")
	c.offers(name, at, "eq", "golden", "plan", "!append")
	at = c.change(name, 2, "def test_x(t):\n    t.eq(|")
	if s := result[*signatureHelp](c, "textDocument/signatureHelp", c.at(name, at)); s == nil || !strings.HasPrefix(s.Signatures[0].Label, "t.eq(got, want") {
		t.Errorf("got %+v, want the signature of t.eq", s)
	}
	at = c.change(name, 3, "def test_x(t):\n    t.fai|ls(len, \"x\")")
	if h := result[*hover](c, "textDocument/hover", c.at(name, at)); h == nil || !strings.Contains(h.Contents.Value, "fn fails with a message") {
		t.Errorf("got %+v, want the documentation of t.fails", h)
	}
	at = c.change(name, 4, "x = specs.resource(h = \"|\")")
	c.offers(name, at, "gpu."+filepath.Base(c.dir), "gpu.small")
}

func TestDefinition(t *testing.T) {
	t.Parallel()
	c := connect(t, project(), nil)
	c.initialize()
	at := func(text string) (uri, word string) {
		t.Helper()
		p := c.open("components/train.star", text)
		list := result[[]location](c, "textDocument/definition", c.at("components/train.star", p))
		if len(list) == 0 {
			return "", ""
		}
		path, _ := pathOf(list[0].URI)
		source := strings.Replace(text, "|", "", 1)
		if path != filepath.Join(c.dir, "components/train.star") {
			data, err := os.ReadFile(path)
			must(t, err)
			source = string(data)
		}
		line := strings.Split(source, "\n")[list[0].Range.Start.Line]
		return path, line[list[0].Range.Start.Character:list[0].Range.End.Character]
	}
	for text, want := range map[string][2]string{
		strings.Replace(train, "[role(", "[ro|le(", 1):               {"components/helper.star", "role"},
		strings.Replace(train, "./helper.star", "./hel|per.star", 1): {"components/helper.star", ""},
		strings.Replace(train, `"role")`, `"ro|le")`, 1):             {"components/helper.star", "role"},
		strings.Replace(train, "% steps", "% st|eps", 1):             {"components/train.star", "steps"},
		train + "\nx = trai|n(":                                      {"components/train.star", "train"},
		train + "\nx = role(ima|ge = 1)":                             {"components/helper.star", "image"},
	} {
		path, word := at(text)
		if path != filepath.Join(c.dir, want[0]) || word != want[1] {
			t.Errorf("%s: %s %q, want %q", text, path, word, want)
		}
	}
	if path, _ := at("x = specs.Ro|le()"); path != "" {
		t.Errorf("got specs.Role in %s, want no file", path)
	}

	// A built-in file is written to disk for the editor, and can load other files there.
	path, word := at("load(\"@torchx//dist.star\", \"ddp\")\n\nx = dd|p\n")
	if word != "ddp" || !strings.HasPrefix(path, filepath.Join(c.dir, "home", "sources")) {
		t.Fatalf("ddp is in %s, %q", path, word)
	}
	data, err := os.ReadFile(path)
	must(t, err)
	name, err := filepath.Rel(c.dir, path)
	must(t, err)
	text := string(data)
	i := strings.Index(text, "load(\"")
	c.open(name, text)
	c.diagnosed(name)
	p := position{strings.Count(text[:i], "\n"), 8}
	if list := result[[]location](c, "textDocument/definition", c.at(name, p)); len(list) != 1 || !strings.HasSuffix(list[0].URI, ".star") {
		t.Errorf("a load in a built-in file leads to %+v", list)
	}
}

func TestFormattingAndSymbols(t *testing.T) {
	t.Parallel()
	c := connect(t, project(), nil)
	c.initialize()
	c.open("components/train.star", "A = 1\n\ndef f( a ):\n  pass\n\nB = 2\n")
	edits := result[[]textEdit](c, "textDocument/formatting", requestParams{TextDocument: textDocument{URI: c.uri("components/train.star")}})
	if len(edits) != 1 || edits[0].NewText != "def f(a):\n    pass\n" || edits[0].Range != (textRange{position{2, 0}, position{4, 0}}) {
		t.Errorf("got %+v, want one edit of the function", edits)
	}
	list := result[[]documentSymbol](c, "textDocument/documentSymbol", requestParams{TextDocument: textDocument{URI: c.uri("components/train.star")}})
	if len(list) != 3 || list[1].Name != "f" || list[1].Kind != 12 || list[1].Range.End.Line != 3 || list[0].Kind != 14 {
		t.Errorf("got %+v, want three symbols", list)
	}
	c.change("components/train.star", 2, "A = 1\n")
	if edits := result[[]textEdit](c, "textDocument/formatting", requestParams{TextDocument: textDocument{URI: c.uri("components/train.star")}}); len(edits) != 0 {
		t.Errorf("got %+v, want no edit", edits)
	}
	c.change("components/train.star", 3, "A = (\n")
	if m := c.call("textDocument/formatting", requestParams{TextDocument: textDocument{URI: c.uri("components/train.star")}}); m.Error == nil || !strings.Contains(m.Error.Message, "train.star:") {
		t.Errorf("got %+v, want an error with the position", m)
	}
}

func TestQuickFix(t *testing.T) {
	t.Parallel()
	c := connect(t, project(), nil)
	c.initialize()
	text := strings.Replace(train, "role(\"t%d\" % steps)", "steps", 1)
	c.open("components/train.star", text)
	d := c.diagnosed("components/train.star", "role")
	fixes := result[[]codeAction](c, "textDocument/codeAction", requestParams{TextDocument: textDocument{URI: c.uri("components/train.star")}, Range: d[0].Range})
	if len(fixes) != 1 || len(fixes[0].Edit.Changes[c.uri("components/train.star")]) == 0 || !slices.Equal(d[0].Tags, []int{tagUnnecessary}) {
		t.Errorf("got %+v, %+v, want one fix of an unused name", fixes, d)
	}
}

// TestCancel checks that a canceled request gets one answer, and that later requests are served.
func TestCancel(t *testing.T) {
	t.Parallel()
	c := connect(t, project(), nil)
	c.initialize()
	at := c.open("components/train.star", strings.Repeat("x = specs.Role()\n", 2000)+"y = |")
	var ids []string
	for range 50 {
		id := c.begin("textDocument/completion", c.at("components/train.star", at))
		ids = append(ids, id)
		c.send(map[string]any{"jsonrpc": "2.0", "method": "$/cancelRequest", "params": map[string]any{"id": c.id}})
	}
	canceled := 0
	c.await("all answers", func() bool {
		canceled = 0
		for _, id := range ids {
			m, ok := c.answers[id]
			if !ok {
				return false
			}
			if m.Error != nil && m.Error.Code == codeCanceled {
				canceled++
			}
		}
		return true
	})
	if canceled == 0 {
		t.Error("got no canceled request, want one")
	}
	c.offers("components/train.star", at, "specs")
}

// TestEndlessFile checks that a file with an endless loop is served like any other, since files are not evaluated.
func TestEndlessFile(t *testing.T) {
	t.Parallel()
	endless := "def f():\n    for _ in range(1 << 60):\n        pass\n\nf()\nX = 1\n"
	c := connect(t, map[string]string{"components/endless.star": endless, "components/a.star": ""}, nil)
	c.initialize()
	at := c.open("components/a.star", "load(\"./endless.star\", \"|\")")
	c.offers("components/a.star", at, "f", "X")
}

// TestNotOnDisk checks that a document without a file is analyzed as far as possible.
func TestNotOnDisk(t *testing.T) {
	t.Parallel()
	c := connect(t, nil, nil)
	c.initialize()
	c.notify("textDocument/didOpen", map[string]any{"textDocument": map[string]any{
		"uri": "untitled:Untitled-1", "version": 1, "text": "load(\"./x.star\", \"x\")\nspecs.\nprint(x)\n",
	}})
	list := result[completionList](c, "textDocument/completion", requestParams{TextDocument: textDocument{URI: "untitled:Untitled-1"}, Position: position{1, 6}})
	if len(list.Items) < 10 {
		t.Errorf("got %+v, want all names", list)
	}
}

// TestLibraries checks completion and definitions of libraries; a library that a folder replaces
// is edited there, and the editor's text is used.
func TestLibraries(t *testing.T) {
	t.Parallel()
	acme := fstest.MapFS{"train.star": {Data: []byte("def old(lr):\n    pass\n")}}
	var dir string
	c := connect(t, project(), func(c *Config) {
		dir = c.Dir
		c.Library = func(_, name string) (fs.FS, error) {
			if name == "acme" || name == "local" {
				return acme, nil
			}
			return nil, fs.ErrNotExist
		}
		c.Libraries = func(string) []string { return []string{"acme", "local"} }
		c.Folder = func(_, name string) (string, bool) { return filepath.Join(dir, "elsewhere"), name == "local" }
	})
	c.initialize()
	at := c.open("components/train.star", "load(\"@|\")")
	c.offers("components/train.star", at, "@acme//", "@local//", "@torchx//")
	at = c.change("components/train.star", 2, "load(\"@acme//|\")")
	c.offers("components/train.star", at, "@acme//train.star")
	c.open("elsewhere/train.star", "def new(lr):\n    pass\n")
	at = c.change("components/train.star", 3, "load(\"@acme//train.star\", \"|\")")
	c.offers("components/train.star", at, "old", "!new")
	at = c.change("components/train.star", 4, "load(\"@local//train.star\", \"|\")")
	c.offers("components/train.star", at, "new", "!old")
	at = c.change("components/train.star", 5, "load(\"@local//train.star\", \"ne|w\")")
	list := result[[]location](c, "textDocument/definition", c.at("components/train.star", at))
	if len(list) != 1 || list[0].URI != c.uri("elsewhere/train.star") {
		t.Errorf("got %+v, want elsewhere/train.star", list)
	}
	c.change("components/train.star", 6, "load(\"@gone//train.star\", \"x\")\n\nprint(x)\n")
	c.diagnosed("components/train.star", "library @gone")
}
