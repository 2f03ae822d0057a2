package component

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

var recordedParams = []Param{
	{Name: "num_replicas", Type: Type{Kind: Int}},
	{Name: "m", Type: Type{Kind: String}},
	{Name: "dry", Type: Type{Kind: Bool}},
	{Name: "msg", Type: Type{Kind: String}},
	{Name: "rest", Type: Type{Kind: String}, Variadic: true},
}

func TestMergeRecorded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, recorded, args, want string }{
		{"nothing given", "--msg a x y", "", "--msg a x y"},
		{"nothing recorded", "", "--msg a x", "--msg a x"},
		{"joined", "--msg a", "-m b", "--msg a -m b"},
		{"replaced", "--msg a -m 1", "--msg b", "-m 1 --msg b"},
		{"equals sign", "--msg=a", "--msg b", "--msg b"},
		{"equals sign now", "--msg a", "--msg=b", "--msg=b"},
		{"dashes and underscores", "--num-replicas 1", "--num_replicas=2", "--num_replicas=2"},
		{"one letter", "-m a", "--m=b", "--m=b"},
		{"negative number", "--num_replicas -1", "--num_replicas -2", "--num_replicas -2"},
		{"switch off", "--dry --msg a", "--dry=false", "--msg a --dry=false"},
		{"switch on", "--dry False", "--dry", "--dry"},
		{"values for the rest", "--msg a -- x -y", "z", "--msg a -- z"},
		{"the rest stays", "--msg a -- x -y", "--msg b", "--msg b -- x -y"},
		{"the rest without --", "x -y", "--msg b", "--msg b -- x -y"},
		{"switch before the rest", "--dry", "x", "--dry -- x"},
		{"the rest removed", "--msg a x", "--", "--msg a"},
		{"-- in the rest", "-- a -- b", "--dry", "--dry -- a -- b"},
		{"a rest after -- now", "x", "-- -a --", "-- -a --"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := mergeRecorded(recordedParams, strings.Fields(c.recorded), strings.Fields(c.args))
			if err != nil || strings.Join(got, " ") != c.want {
				t.Fatalf("%q, %v; want %q", got, err, c.want)
			}
			// The merged command line means the same as the new arguments over the recorded ones.
			line, err := parseArgs(recordedParams, got)
			if err != nil {
				t.Fatal(err)
			}
			now, err := parseArgs(recordedParams, strings.Fields(c.args))
			if err != nil {
				t.Fatal(err)
			}
			for name, value := range now.given {
				if line.given[name] != value {
					t.Errorf("%s is %q, want %q", name, line.given[name], value)
				}
			}
			if now.closed && !reflect.DeepEqual(line.rest, now.rest) {
				t.Errorf("rest is %q, want %q", line.rest, now.rest)
			}
		})
	}
}

func TestMergeRecordedErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, recorded, args, want string
		old                        bool
	}{
		{"recorded option is gone", "--gone 1", "", `the recorded arguments no longer fit: unknown option "--gone"`, true},
		{"recorded option is gone, others given", "--gone 1", "--msg b", `unknown option "--gone"`, true},
		{"unknown now", "--msg a", "--mgs b", `unknown option "--mgs". Did you mean --msg?`, false},
		{"twice now", "--msg a", "--msg b --msg c", "repeated argument --msg", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := mergeRecorded(recordedParams, strings.Fields(c.recorded), strings.Fields(c.args))
			var recorded recordedError
			if err == nil || !strings.Contains(err.Error(), c.want) || errors.As(err, &recorded) != c.old {
				t.Errorf("%v (recorded: %v), want %q", err, errors.As(err, &recorded), c.want)
			}
		})
	}
	if _, err := mergeRecorded(recordedParams, []string{"--gone"}, []string{"--help"}); !errors.Is(err, ErrHelp) {
		t.Errorf("--help: got %v, want ErrHelp", err)
	}
}
