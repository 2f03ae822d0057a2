package backend

import (
	"reflect"
	"strings"
	"testing"
)

var usageOptions = []Option{
	{Key: "namespace", Risk: Harmless, Type: TypeStr, Default: "default", Help: "where to\n put it"},
	{Key: "queue", Risk: Harmless, Type: TypeStr, Required: true, Help: "queue that the job is put into by the scheduler of the cluster"},
	{Key: "env", Risk: Harmless, Type: TypeMap, Default: map[string]string{"b": "2", "a": "1"}},
	{Key: "copy", Risk: Harmless, Type: TypeList, Default: []string{"x", "y"}},
	{Key: "image_type", Risk: Harmless, Type: TypeStr, Choices: []string{"cwd", "dir"}, Help: "what an image is"},
	{Key: "rate", Risk: Harmless, Type: TypeFloat, Default: .5},
	{Key: "quiet", Risk: Harmless, Type: TypeBool, Default: false},
}

func TestUsageText(t *testing.T) {
	t.Parallel()
	want := `usage:
    queue=QUEUE,[namespace=NAMESPACE],
    [env=ENV],[copy=COPY],
    [image_type=IMAGE_TYPE],[rate=RATE],
    [quiet=QUIET]

required arguments:
    queue=QUEUE (str)
        queue that the job is put into by
        the scheduler of the cluster

optional arguments:
    namespace=NAMESPACE (str, default)
        where to put it
    env=ENV (dict, a:1;b:2)
    copy=COPY (list, x;y)
    image_type=IMAGE_TYPE (str, None)
        what an image is
        (one of cwd, dir)
    rate=RATE (float, 0.5)
    quiet=QUIET (bool, false)
`
	if got := UsageText(usageOptions, 41); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := UsageText(usageOptions[:1], 0); strings.Count(got, "\n") != 6 {
		t.Errorf("got\n%s\nwant 6 lines", got)
	}
	if got := UsageText(nil, 80); !strings.HasPrefix(got, "usage:\n") {
		t.Errorf("got %q, want a usage line", got)
	}
}

func TestPlaceholders(t *testing.T) {
	t.Parallel()
	got := Placeholders(usageOptions, false)
	want := [][2]string{{"queue", "#FIXME:(str) queue that the job is put into by the scheduler..."}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	got = Placeholders(usageOptions, true)
	if len(got) != len(usageOptions) || got[2] != [2]string{"env", "a:1;b:2"} || got[4] != [2]string{"image_type", "None"} {
		t.Errorf("got %q, want all options with defaults", got)
	}
}

// TestPlaceholdersReadBack: the text that configure writes for optional keys gives the default.
func TestPlaceholdersReadBack(t *testing.T) {
	t.Parallel()
	layer := Layer{{Key: "queue", Text: "q"}}
	for _, kv := range Placeholders(usageOptions, true) {
		layer = append(layer, Value{Key: kv[0], Text: kv[1]})
	}
	cfg, _, err := Resolve(usageOptions, layer)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range usageOptions {
		if !o.Required && !reflect.DeepEqual(cfg[o.Key], o.Default) {
			t.Errorf("%s: got %#v, want %#v", o.Key, cfg[o.Key], o.Default)
		}
	}
}

func TestCheckOptions(t *testing.T) {
	t.Parallel()
	if err := CheckOptions(usageOptions); err != nil {
		t.Error(err)
	}
	for _, bad := range [][]Option{
		{{Key: "a", Risk: Harmless, Type: TypeInt, Default: "1"}},
		{{Key: "a", Risk: Harmless, Type: TypeInt, Required: true, Default: 1}},
		{{Key: "a", Risk: Harmless, Type: TypeInt}, {Key: "a", Risk: Harmless, Type: TypeInt}},
		{{Key: "a", Risk: Harmless, Type: "text"}},
		{{Key: "a", Risk: Harmless, Type: TypeStr, Default: "x", Choices: []string{"y"}}},
		{{Type: TypeStr, Risk: Harmless}},
		{{Key: "a", Type: TypeStr}},
		{{Key: "a", Type: TypeStr, Risk: "none"}},
	} {
		if err := CheckOptions(bad); err == nil {
			t.Errorf("%+v: got nil, want an error", bad)
		}
	}
}
