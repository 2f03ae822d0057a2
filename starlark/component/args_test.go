package component

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
)

// shParams resembles utils.sh.
func shParams() []Param {
	return []Param{
		{Name: "msg", Type: Type{Kind: String}, Required: true},
		{Name: "num_replicas", Type: Type{Kind: Int}},
		{Name: "ratio", Type: Type{Kind: Float}},
		{Name: "debug", Type: Type{Kind: Bool}},
		{Name: "j", Type: Type{Kind: String}},
		{Name: "h", Type: Type{Kind: String}},
		{Name: "m", Type: Type{Kind: String}},
		{Name: "args", Type: Type{Kind: String}, Variadic: true},
	}
}

func TestParseArgs(t *testing.T) {
	t.Parallel()
	tests := []struct {
		args  string // separated by "|"
		given string // "name=value" in order, separated by "|"
		rest  string
	}{
		{"", "", ""},
		{"--msg|hi", "msg=hi", ""},
		{"--msg=hi", "msg=hi", ""},
		{"--msg=", "msg=", ""},
		{"--msg=a=b", "msg=a=b", ""},
		{"--msg|-", "msg=-", ""},
		{"--msg=-x", "msg=-x", ""},
		{"--num-replicas|3", "num_replicas=3", ""},
		{"--num_replicas|-1", "num_replicas=-1", ""},
		{"--ratio|-.5e3", "ratio=-.5e3", ""},
		{"-j|1x2", "j=1x2", ""},
		{"-j=1x2", "j=1x2", ""},
		{"--j|1x2", "j=1x2", ""},
		{"-h|gpu.small", "h=gpu.small", ""},
		{"--debug", "debug=true", ""},
		{"--debug|--msg|x", "debug=true|msg=x", ""},
		{"--debug|false|--msg|x", "debug=false|msg=x", ""},
		{"--debug|--|a", "debug=true", "a"},
		{"echo|hi", "", "echo|hi"},
		{"ls|-l|--msg|x|--|y", "", "ls|-l|--msg|x|--|y"},
		{"--msg|x|--|--flag|v|--|more", "msg=x", "--flag|v|--|more"},
		{"--|--|x", "", "--|x"},
		{"--", "", ""},
		{"--|--help", "", "--help"},
		{"-|x", "", "-|x"},
		{"-5", "", "-5"},
	}
	for _, test := range tests {
		line, err := parseArgs(shParams(), split(test.args))
		if err != nil {
			t.Errorf("%s: %v", test.args, err)
			continue
		}
		var given []string
		for _, name := range slices.Sorted(maps.Keys(line.given)) {
			given = append(given, name+"="+line.given[name])
		}
		if strings.Join(given, "|") != test.given || strings.Join(line.rest, "|") != test.rest {
			t.Errorf("%s: given %q rest %q, want %q %q", test.args, given, line.rest, test.given, test.rest)
		}
	}
}

func split(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, "|")
}

func TestParseArgsRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct{ args, want string }{
		{"--msg", "--msg needs a value"},
		{"--msg|--debug", "--msg=--debug"},
		{"--msg|-1", "--msg=-1"},
		{"--msg|--|x", "--msg needs a value"},
		{"--num_replicas|-x", "--num_replicas=-x"},
		{"--msg|a|--msg|b", "repeated argument --msg"},
		{"--msg=a|--msg|b", "repeated argument --msg"},
		{"--num-replicas=1|--num_replicas=1", "repeated argument --num_replicas"},
		{"-j|1|--j=1", "repeated argument -j"},
		{"--nope|1", `unknown option "--nope"`},
		{"--mgs|1", "Did you mean --msg?"},
		{"--num", `unknown option "--num"`},
		{"--num-replica=2", "Did you mean --num_replicas?"},
		{"--d", `unknown option "--d"`},
		{"-msg|x", "Did you mean --msg?"},
		{"-j2x4", "Did you mean -j 2x4?"},
		{"-x", `unknown option "-x"`},
		{"--args|x", "after --"},
		{"--=x", "unknown option"},
	}
	for _, test := range tests {
		_, err := parseArgs(shParams(), split(test.args))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want %q", test.args, err, test.want)
		}
	}
}

func TestPositionalWithoutVarargs(t *testing.T) {
	t.Parallel()
	params := shParams()[:4]
	for args, want := range map[string]string{
		"x":          `unexpected argument "x"`,
		"msg=hi":     "Did you mean --msg?",
		"--|--mgs=x": "Did you mean --msg?",
		"-1":         `unexpected argument "-1"`,
	} {
		_, err := parseArgs(params, split(args))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", args, err, want)
		}
	}
	if _, err := parseArgs(params, []string{"--msg", "x", "--"}); err != nil {
		t.Errorf("a final -- without arguments after it: %v", err)
	}
}

func TestHelpRequested(t *testing.T) {
	t.Parallel()
	if _, err := parseArgs(shParams(), []string{"--msg", "x", "--help"}); !errors.Is(err, ErrHelp) {
		t.Errorf("--help: got %v, want ErrHelp", err)
	}
	if _, err := parseArgs(shParams()[:4], []string{"-h"}); !errors.Is(err, ErrHelp) {
		t.Errorf("-h without a parameter h: %v", err)
	}
	if _, err := parseArgs(shParams(), []string{"-h"}); errors.Is(err, ErrHelp) || err == nil {
		t.Errorf("-h with a parameter h: %v", err)
	}
}

// FuzzParseArgs checks that no argument is lost: everything after the options
// reaches *args, and parsing the options again gives the same values.
func FuzzParseArgs(f *testing.F) {
	for _, seed := range []string{"--msg|x|--|a|-b", "-j=1|--debug|ls|-l", "--num-replicas|-1|--", "--msg=|-5|--x", "-|--msg"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		args := split(text)
		line, err := parseArgs(shParams(), args)
		if err != nil {
			return
		}
		tail := args[len(args)-len(line.rest):]
		if !slices.Equal(tail, line.rest) {
			t.Fatalf("%q: rest %q is not at its end", args, line.rest)
		}
		var again []string
		for _, name := range slices.Sorted(maps.Keys(line.given)) {
			again = append(again, "--"+name+"="+line.given[name])
		}
		twice, err := parseArgs(shParams(), append(append(again, "--"), line.rest...))
		if err != nil || !maps.Equal(twice.given, line.given) || !slices.Equal(twice.rest, line.rest) {
			t.Fatalf("%q: given %q rest %q; written out and read again: %+v, %v", args, line.given, line.rest, twice, err)
		}
	})
}
