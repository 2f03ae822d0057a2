package metrics

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestLines(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"a":`, 300) + "1" + strings.Repeat("}", 300)
	for line, want := range map[string][]added{
		`{"step": 10, "loss": 0.31}`:                                      {{"loss", "0.31", 10, true}},
		`{"loss": NaN, "up": Infinity, "down": -Infinity}`:                {{"loss", "NaN", 0, false}, {"up", "+Inf", 0, false}, {"down", "-Inf", 0, false}},
		`{"train": {"loss": 1, "top": {"k5": 2}}, "lr": 1e-3}`:            {{"train.loss", "1", 0, false}, {"train.top.k5", "2", 0, false}, {"lr", "0.001", 0, false}},
		`{"loss": 1, "loss": 2}`:                                          {{"loss", "2", 0, false}},
		`{"a": "text", "b": [1, {"c": 2}], "d": true, "e": null, "f": 3}`: {{"f", "3", 0, false}},
		`{"big": 1e999, "tiny": 1e-999, "long": 123456789012345678901234567890}`: {
			{"big", "+Inf", 0, false}, {"tiny", "0", 0, false}, {"long", "1.2345678901234568e+29", 0, false},
		},
		`{"l\u006fss": 1, "é": 2}`: {{"loss", "1", 0, false}, {"é", "2", 0, false}},
		`{"step": 3.0, "x": 1}`:    {{"x", "1", 3, true}},
		`{"step": -1, "x": 1}`:     {{"x", "1", -1, true}},
		`{"v": {"step": 1}}`:       {{"v.step", "1", 0, false}},
		`{}`:                       nil,
		"  \t\r":                   nil,
		`{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":1}}}}}}}},"b":2}`: {{"b", "2", 0, false}},
	} {
		c := &collected{}
		NewLines(c, "r", 0, SourceFile).Line([]byte(line), start, 0)
		if !reflect.DeepEqual(c.points, want) || c.broken != nil {
			t.Errorf("%s: got %+v, broken %q, want %+v", line, c.points, c.broken, want)
		}
	}
	for line, want := range map[string]string{
		`{"loss": 0.3`: "not valid JSON", `[1]`: "not a JSON object", "\x00": "not a JSON object", `{"a": 1} x`: "not valid JSON",
		`{"a": 0x1p-2}`: "not valid JSON", `{"a": +1}`: "not valid JSON", `{"a": nan}`: "not valid JSON", `{"a": 1_0}`: "not valid JSON",
		"{\"a\xff\": 1}": "not valid JSON", "{\"a\": 1}\x00": "not valid JSON", `{"a" 1}`: "not valid JSON", `{,}`: "not valid JSON",
		`{"a": 1,}`: "not valid JSON", deep: "not valid JSON", `{"a": "` + strings.Repeat("x", MaxLine) + `"}`: "longer than 1 MiB",
		`{"step": 0.5}`: "not a whole number", `{"time": "yesterday"}`: "neither", `{"time": NaN}`: "neither", `{"time": -5}`: "neither",
		strings.Repeat("{", 1000): "not valid JSON", strings.Repeat(`{"a":[`, 500): "not valid JSON",
	} {
		c := &collected{}
		NewLines(c, "r", 0, SourceFile).Line([]byte(line), start, 0)
		if len(c.broken) != 1 || !strings.Contains(c.broken[0], want) || len(c.points) > 0 {
			t.Errorf("%.60s: got %+v, broken %q, want %q", line, c.points, c.broken, want)
		}
	}
}

func TestTimeOfLine(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]time.Time{
		`{"x": 1}`:                        start,
		`{"x": 1, "time": 1767323045.25}`: time.Date(2026, 1, 2, 3, 4, 5, 250e6, time.UTC),
		`{"time": "2026-01-02T04:04:05+01:00", "x": 1}`: start.Truncate(time.Second),
		`{"time": 1e30, "x": 1}`:                        start,
	} {
		c := &collected{}
		NewLines(c, "r", 0, SourceFile).Line([]byte(line), start, 0)
		if len(c.times) != 1 || !c.times[0].Equal(want) {
			t.Errorf("%s: got %v, want %v", line, c.times, want)
		}
	}
}

// The parser accepts what encoding/json accepts, and finds the same numbers.
func TestLinesAsEncodingJSON(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	parts := []string{`{`, `}`, `"a"`, `"b"`, `:`, `,`, `1`, `-2.5e3`, `[`, `]`, `null`, `true`, ` `, `"\n"`, `0.1`}
	valid := 0
	for range 200_000 {
		line := `{"a":`
		for range r.IntN(8) {
			line += parts[r.IntN(len(parts))]
		}
		var want map[string]any
		isValid := json.Valid([]byte(line))
		var p lineParser
		if got := p.parse([]byte(line)); (got == nil) != isValid {
			t.Fatalf("%s: got %v, want valid: %v", line, got, isValid)
		}
		if json.Unmarshal([]byte(line), &want) != nil { // or a number is too large
			continue
		}
		valid++
		if v, ok := want["b"].(float64); ok {
			found := false
			for _, pair := range p.pairs {
				found = found || pair.name == "b" && pair.value == v
			}
			if !found {
				t.Fatalf("%s: got %+v, want b = %g", line, p.pairs, v)
			}
		}
	}
	if valid < 100 {
		t.Errorf("got %d valid lines, want more", valid)
	}
}

// Numbers are those of package strconv.
func TestParseNumber(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	for range 100_000 {
		text := strconv.FormatFloat(math.Ldexp(r.Float64()-0.5, r.IntN(80)-40), "fge"[r.IntN(3)], r.IntN(18), 64)
		want, err := strconv.ParseFloat(text, 64)
		if got, ok := parseNumber([]byte(text)); err != nil || !ok || got != want {
			t.Fatalf("%s: got %g, %v, want %g, %v", text, got, ok, want, err)
		}
	}
	for _, text := range []string{"", "-", ".", "1e", "0x1p-2", "1_0", "1..2", "--1", "e5"} {
		if v, ok := parseNumber([]byte(text)); ok {
			t.Errorf("%q: got %g, want no number", text, v)
		}
	}
}

func BenchmarkLines(b *testing.B) {
	var lines [][]byte
	size := 0
	for i := range 10_000 {
		line := fmt.Appendf(nil, `{"step": %d, "time": %d.25, "loss": %.5f, "lr": 0.001, "acc": 0.75}`, i, 1767323045+i, 1/float64(i+1))
		lines, size = append(lines, line), size+len(line)+1
	}
	b.SetBytes(int64(size))
	s, err := Open(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	l := NewLines(s, "r", 0, SourceFile)
	for b.Loop() {
		for _, line := range lines {
			l.Line(line, start, 0)
		}
		if err := s.Flush(nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*30_000/b.Elapsed().Seconds(), "points/s")
}
