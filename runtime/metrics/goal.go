package metrics

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
)

// Goal says which values of a metric are better.
type Goal string

// The goals. An empty one counts as Min.
const (
	Min Goal = "min"
	Max Goal = "max"
)

// maximized are the words of names of metrics of which more is better.
var maximized = strings.Fields("acc accuracy ap auc auroc bleu dice f1 hits iou map ndcg precision psnr r2 recall return reward rouge score speed ssim success throughput top1 top5 wins")

// MaximizedExamples are words of such names, for help.
const MaximizedExamples = "accuracy, auc, f1, reward, score or throughput"

// GoalOf returns the goal that the name of a metric suggests.
func GoalOf(name string) Goal {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if slices.ContainsFunc(words, func(w string) bool { return slices.Contains(maximized, w) }) {
		return Max
	}
	return Min
}

// ParseGoal parses NAME, NAME:min or NAME:max. The goal of a NAME alone is empty.
func ParseGoal(text string) (name string, goal Goal, err error) {
	name = text
	for _, g := range []Goal{Max, Min} {
		if before, found := strings.CutSuffix(text, ":"+string(g)); found {
			name, goal = before, g
		}
	}
	if name == "" {
		return "", "", fmt.Errorf("the name is empty: write NAME, NAME:min or NAME:max")
	}
	return name, goal, nil
}

// Better reports whether a is better than b.
func (g Goal) Better(a, b float64) bool { return g.Cost(a) < g.Cost(b) }

// Cost returns a value of which less is better.
func (g Goal) Cost(value float64) float64 {
	if g == Max {
		return -value
	}
	return value
}

// Best returns the best value of a metric.
func (g Goal) Best(s *Summary) float64 {
	if g == Max {
		return s.Max
	}
	return s.Min
}

// Number is a value in JSON: NaN and infinite ones are strings, as in the JSON form of protocol
// buffers.
type Number float64

// String returns the shortest text with all digits.
func (n Number) String() string {
	switch v := float64(n); {
	case math.IsNaN(v):
		return "NaN"
	case math.IsInf(v, 1):
		return "Infinity"
	case math.IsInf(v, -1):
		return "-Infinity"
	default:
		data, _ := json.Marshal(v) // finite
		return string(data)
	}
}

// MarshalJSON implements json.Marshaler.
func (n Number) MarshalJSON() ([]byte, error) {
	if isFinite(float64(n)) {
		return []byte(n.String()), nil
	}
	return json.Marshal(n.String())
}

// UnmarshalJSON implements json.Unmarshaler.
func (n *Number) UnmarshalJSON(data []byte) error {
	switch string(data) {
	case `"NaN"`:
		*n = Number(math.NaN())
	case `"Infinity"`:
		*n = Number(math.Inf(1))
	case `"-Infinity"`:
		*n = Number(math.Inf(-1))
	default:
		return json.Unmarshal(data, (*float64)(n))
	}
	return nil
}
