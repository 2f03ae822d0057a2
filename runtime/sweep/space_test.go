package sweep

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
)

func must[T any](t *testing.T) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func texts(s *Space) (all []string) {
	for i := range s.Len() {
		trial := s.Trial(i)
		text := fmt.Sprint(trial.Seed)
		for _, p := range trial.Params {
			text += " " + p.Name + "=" + p.Value
		}
		all = append(all, text)
	}
	return all
}

// TestGrid: rows, grid and repeats are multiplied; the last varies fastest.
func TestGrid(t *testing.T) {
	t.Parallel()
	s := &Space{
		Rows:   [][]Param{{{"r", "x"}}, {{"r", "y"}}},
		Grid:   []Grid{must[Grid](t)(ParseGrid("lr=0.1,0.01")), must[Grid](t)(ParseGrid(`--m=["a,b", 3, true]`))},
		Repeat: 2, Seed: 7,
	}
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	got := texts(s)
	if len(got) != 24 {
		t.Fatalf("got %d trials, want 24", len(got))
	}
	for i, want := range map[int]string{
		0: "7 r=x lr=0.1 m=a,b", 1: "8 r=x lr=0.1 m=a,b", 2: "7 r=x lr=0.1 m=3", 4: "7 r=x lr=0.1 m=True",
		6: "7 r=x lr=0.01 m=a,b", 12: "7 r=y lr=0.1 m=a,b", 23: "8 r=y lr=0.01 m=True",
	} {
		if got[i] != want {
			t.Errorf("trial %d: got %q, want %q", i, got[i], want)
		}
	}
}

// TestDraws: a drawing depends on the seed and its number only, and stays within the bounds.
func TestDraws(t *testing.T) {
	t.Parallel()
	s := &Space{Samples: 500, Seed: 3, Draws: []Draw{
		must[Draw](t)(ParseRange("lr=log:1e-5..1e-1")), must[Draw](t)(ParseRange("n=int:-2..2")),
		must[Draw](t)(ParseRange("x=lin:0.5..0.75")), must[Draw](t)(ParseChoice("opt=adam,sgd")),
	}}
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	first := texts(s)
	more := *s
	more.Samples = 600
	if got := texts(&more)[:500]; strings.Join(got, "\n") != strings.Join(first, "\n") {
		t.Error("more drawings changed the first ones")
	}
	below, ints := 0, map[string]int{}
	for i := range s.Len() {
		p := s.Trial(i).Params
		lr, _ := strconv.ParseFloat(p[0].Value, 64)
		x, _ := strconv.ParseFloat(p[2].Value, 64)
		if lr < 1e-5 || lr > 1e-1 || x < 0.5 || x > 0.75 || len(p[0].Value) > 12 {
			t.Fatalf("trial %d: got %v, want values within the bounds and few digits", i, p)
		}
		if lr < 1e-3 {
			below++
		}
		ints[p[1].Value]++
		ints[p[3].Value]++
	}
	if math.Abs(float64(below)-250) > 75 {
		t.Errorf("got %d of 500 below the middle of the logarithms, want about 250", below)
	}
	if len(ints) != 7 {
		t.Errorf("got %v, want each of -2 to 2, adam and sgd", ints)
	}
	later := *s
	later.Samples, later.Drawn = 100, 500
	if got := texts(&later); strings.Join(got, "\n") != strings.Join(texts(&more)[500:], "\n") {
		t.Error("drawings after 500 earlier ones differ from those of a larger space")
	}
	other := *s
	other.Seed = 4
	if strings.Join(texts(&other), "\n") == strings.Join(first, "\n") {
		t.Error("another seed drew the same values")
	}
}

// TestErrors: each mistake is one line that names what is wrong.
func TestErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"lr": "is not NAME=VALUES", "=1": "is not NAME=VALUES", "lr=[]": "no values", "lr=[1": "must be JSON", "lr=[{}]": "must be texts", "lr=[1] x": "must be JSON",
	} {
		if _, err := ParseGrid(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("--grid %s: got %v, want %q", text, err, want)
		}
	}
	for text, want := range map[string]string{
		"lr": "NAME=VALUES", "lr=1..2": "lin|log|int", "lr=exp:1..2": "unknown distribution", "lr=log:0..1": "greater than 0", "lr=lin:2..1": "less than",
		"lr=lin:nan..1": "finite", "lr=lin:-1e308..1.7e308": "finite", "lr=int:1..2.5": "whole numbers", "lr=int:-9223372036854775808..9223372036854775807": "less than",
	} {
		if _, err := ParseRange(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("--range %s: got %v, want %q", text, err, want)
		}
	}
	many := Grid{"a", strings.Split(strings.Repeat("1,", 999)+"1", ",")}
	for want, s := range map[string]Space{
		"has values twice":   {Grid: []Grid{{"a", []string{"1"}}}, Rows: [][]Param{{{"a", "1"}}}},
		"--random N":         {Draws: []Draw{{"a", choice{"1"}}}},
		"nothing to draw":    {Grid: []Grid{{"a", []string{"1"}}}, Samples: 3},
		"no values to try":   {},
		"more than 100000":   {Grid: []Grid{many, {"b", many.Values}}},
		"more than 100000 t": {Repeat: math.MaxInt, Grid: []Grid{many}},
	} {
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestReadList(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"lr,name\n0.1,\"a,b\"\n0.2,c\n":                            "[[{lr 0.1} {name a,b}] [{lr 0.2} {name c}]]",
		"\xef\xbb\xbflr\r\n1\r\n":                                  "[[{lr 1}]]",
		"{\"lr\": 0.10, \"a\": \"x\"}\n\n{\"a\": true, \"lr\": 1}": "[[{a x} {lr 0.10}] [{a True} {lr 1}]]",
	} {
		if got, err := ReadList(strings.NewReader(text)); err != nil || fmt.Sprint(got) != want {
			t.Errorf("%q: got %v, %v, want %s", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"": "no runs", "lr\n": "no runs", "lr,\n1,2\n": "line 1", "a,a\n1,2\n": "line 1", "a,b\n1\n": "line 2",
		"{\"a\": 1}\n{\"b\": 1}": "line 2: other names", "{\"a\": [1]}": "line 1: a:", "{\"a\": 1} 2": "line 1", "{": "line 1",
	} {
		if got, err := ReadList(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, %v, want %q", text, got, err, want)
		}
	}
}

// FuzzReadList: any text gives rows with the same names, or an error of one line.
func FuzzReadList(f *testing.F) {
	f.Add("lr\n1\n")
	f.Add("{\"a\": 1}\n")
	f.Fuzz(func(t *testing.T, text string) {
		rows, err := ReadList(strings.NewReader(text))
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("got %q, want one line", err)
		}
		for _, r := range rows {
			if !sameNames(r, rows[0]) {
				t.Errorf("got %v and %v, want the same names", r, rows[0])
			}
		}
	})
}
