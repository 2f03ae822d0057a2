package metrics

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"torchx/runtime/pattern"
)

// added is what a source gave to a sink.
type added struct {
	Name    string
	Value   string // as text: NaN does not equal itself
	Step    int64
	HasStep bool
}

// collected is a sink that keeps everything.
type collected struct {
	points []added
	times  []time.Time
	broken []string
}

func (c *collected) Add(k Key, p Point, _ string) {
	c.points = append(c.points, added{k.Name, fmt.Sprint(p.Value), p.Step, p.HasStep})
	c.times = append(c.times, p.Time)
}

func (c *collected) Broken(_ string, _ int, _ string, n int64, reason string) {
	for range n {
		c.broken = append(c.broken, reason)
	}
}

func scan(t *testing.T, patterns map[string]string, withJSON bool, text string) *collected {
	t.Helper()
	p, err := pattern.Parse(patterns)
	if err != nil {
		t.Fatal(err)
	}
	c := &collected{}
	NewScanner(p, c, "r", 0, withJSON).Scan([]byte(text), start, 0)
	return c
}

func TestScan(t *testing.T) {
	t.Parallel()
	c := scan(t, map[string]string{"loss": `loss[=: ]+([-+.0-9eE]+)`, "acc": `acc=(\S+)%`, "step": `step (\d+)`}, false,
		"start loss\nloss=0.5\nstep 1 loss: 0.25 acc=90%\r step 2 acc=91% loss=1e-3\rnothing\nloss==-.5\nloss=-\nacc=nan%\n"+
			"loss=0.1 loss=0.2\nstep 99999999999999999999\nstep 3\nloss=7")
	want := []added{
		{"loss", "0.5", 0, false},
		{"acc", "90", 1, true},
		{"loss", "0.25", 1, true},
		{"acc", "91", 2, true},
		{"loss", "0.001", 2, true},
		{"loss", "-0.5", 2, true},
		{"acc", "NaN", 2, true},
		{"loss", "0.1", 2, true},
		{"loss", "7", 3, true},
	}
	if !reflect.DeepEqual(c.points, want) {
		t.Errorf("got  %+v\nwant %+v", c.points, want)
	}
	if want := []string{`pattern of loss found "-", which is not a number`}; !reflect.DeepEqual(c.broken, want) {
		t.Errorf("got broken %q, want %q", c.broken, want)
	}
}

// In a log, only a line that consists of numbers is a line of metrics.
func TestScanJSON(t *testing.T) {
	t.Parallel()
	c := scan(t, nil, true, `{"step": 1, "loss": 0.5}`+"\n"+`{"level": "info", "ts": 1.5}`+"\n"+`  {"val": {"loss": 2}}`+"\r\n{\n"+`x {"loss": 1}`+"\n")
	want := []added{{"loss", "0.5", 1, true}, {"val.loss", "2", 0, false}}
	if !reflect.DeepEqual(c.points, want) || c.broken != nil {
		t.Errorf("got %+v and %q, want %+v", c.points, c.broken, want)
	}
}

type discard struct{ n int }

func (d *discard) Add(Key, Point, string)                    { d.n++ }
func (d *discard) Broken(string, int, string, int64, string) {}

func BenchmarkScan(b *testing.B) {
	filler := "2026-01-02 03:04:05 INFO reading shard 17 of 64 from /data/train\n"
	always := "epoch 3 step 1200 loss=0.31250 lr=0.001 12.5 it/s\n"
	for name, text := range map[string]string{
		"rarely": strings.Repeat(strings.Repeat(filler, 1000)+always, 64),
		"always": strings.Repeat(always, 80_000),
	} {
		for kind, patterns := range map[string]map[string]string{
			"sequence": {"loss": `loss[=: ]+([-+.0-9eE]+)`, "step": `step (\d+)`},
			"regexp":   {"loss": `loss(?:=|: )([-+.0-9eE]+)`},
		} {
			b.Run(name+"/"+kind, func(b *testing.B) {
				p, err := pattern.Parse(patterns)
				if err != nil {
					b.Fatal(err)
				}
				s := NewScanner(p, &discard{}, "r", 0, false)
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					s.Scan([]byte(text), start, 0)
				}
			})
		}
	}
}
