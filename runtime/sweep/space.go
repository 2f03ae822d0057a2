package sweep

import (
	"fmt"
	"iter"
	"math/rand/v2"

	"torchx/runtime/humanize"
)

// MaxTrials bounds the trials of one sweep.
const MaxTrials = 100_000

// Param is an argument of the component with its value as text.
type Param struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Place is which run of a sweep a trial is.
type Place struct {
	Number int      `json:"trial"`  // from 0
	Params []Param  `json:"params"` // in the order of the flags
	Seed   int64    `json:"seed"`   // for TORCHX_SEED; repeats of the same parameters differ in it
	Args   []string `json:"args"`   // of the component, as typed with the parameters
}

// Space is a set of trials. Grid, Rows and repeats are multiplied; with a Draw there are Samples
// drawings for each of their combinations.
type Space struct {
	Rows    [][]Param // of --list; nil: one empty row
	Grid    []Grid
	Draws   []Draw
	Samples int   // drawings; 1 without Draws
	Drawn   int   // drawings of earlier trials, which are not drawn again
	Repeat  int   // runs with the same parameters, at least 1
	Seed    int64 // of the drawings and of the trials
}

// Grid is an argument that takes each of its values.
type Grid struct {
	Name   string
	Values []string
}

// Draw is an argument whose value is drawn.
type Draw struct {
	Name string
	Distribution
}

// LogScaled returns the arguments whose values are drawn evenly by the logarithm.
func (s *Space) LogScaled() (names []string) {
	for _, d := range s.Draws {
		if r, ok := d.Distribution.(reals); ok && r.isLog {
			names = append(names, d.Name)
		}
	}
	return names
}

// Distribution draws a value as text.
type Distribution interface {
	Draw(r *rand.Rand) string
}

// Check returns an error if arguments repeat, if drawings and their number do not fit, or if
// there are no trials or too many.
func (s *Space) Check() error {
	seen := map[string]bool{}
	for name := range s.names() {
		if seen[name] {
			return fmt.Errorf("argument %s has values twice: name it in one of --grid, --choice, --range and --list", humanize.Quote(name))
		}
		seen[name] = true
	}
	switch {
	case len(s.Draws) > 0 && s.Samples < 1:
		return fmt.Errorf("--choice and --range draw values: say how often with --random N")
	case len(s.Draws) == 0 && s.Samples > 1:
		return fmt.Errorf("--random has nothing to draw: add --choice or --range")
	case len(seen) == 0 && s.repeats() == 1:
		return fmt.Errorf("no values to try: add --grid, --choice, --range, --list or --repeat")
	}
	_, err := s.count()
	return err
}

func (s *Space) names() iter.Seq[string] {
	return func(yield func(string) bool) {
		if len(s.Rows) > 0 {
			for _, p := range s.Rows[0] {
				if !yield(p.Name) {
					return
				}
			}
		}
		for _, g := range s.Grid {
			if !yield(g.Name) {
				return
			}
		}
		for _, d := range s.Draws {
			if !yield(d.Name) {
				return
			}
		}
	}
}

// Len returns the number of trials of a space that Check accepts.
func (s *Space) Len() int {
	n, _ := s.count()
	return n
}

func (s *Space) count() (int, error) {
	n := max(1, len(s.Rows))
	factors := []int{s.samples(), s.repeats()}
	for _, g := range s.Grid {
		factors = append(factors, len(g.Values))
	}
	for _, f := range factors {
		if n *= f; n > MaxTrials || f > MaxTrials {
			return 0, fmt.Errorf("the sweep has more than %d trials: use fewer values, or --random N with --choice", MaxTrials)
		}
	}
	return n, nil
}

func (s *Space) samples() int { return max(1, s.Samples) }

func (s *Space) repeats() int { return max(1, s.Repeat) }

// Trial returns a trial without Args by its number, less than Len. The last dimension varies
// fastest: repeats, then drawings, then the grid from its last argument to its first, then rows.
// Drawings depend on the seed and on the number of the drawing only.
func (s *Space) Trial(number int) Place {
	t := Place{Number: number, Seed: s.Seed + int64(number%s.repeats())}
	rest := number / s.repeats()
	sample := rest + s.Drawn
	rest /= s.samples()
	values := make([]Param, len(s.Grid))
	for i := len(s.Grid) - 1; i >= 0; i-- {
		g := s.Grid[i]
		values[i] = Param{g.Name, g.Values[rest%len(g.Values)]}
		rest /= len(g.Values)
	}
	if len(s.Rows) > 0 {
		t.Params = append(t.Params, s.Rows[rest]...)
	}
	t.Params = append(t.Params, values...)
	random := rand.New(rand.NewPCG(uint64(s.Seed), uint64(sample)))
	for _, d := range s.Draws {
		t.Params = append(t.Params, Param{d.Name, d.Draw(random)})
	}
	return t
}
