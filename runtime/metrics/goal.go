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

// The goals. An empty one says that it is not known, and counts as Min where values are ordered.
const (
	Min Goal = "min"
	Max Goal = "max"
)

// maximized and minimized are the words of names of metrics of which more or less is better.
var (
	maximized = strings.Fields("acc accuracy ap auc auroc bleu dice f1 hits iou map ndcg precision psnr r2 recall return reward rouge score speed ssim success throughput top1 top5 wins")
	minimized = strings.Fields("bpb bpc brier ce cer cost crps divergence eer entropy err error errors fid kid kl latency logloss loss losses lpips mae mape misses mse nll nmse perplexity ppl regret rmse rmsle smape ter wer")
)

// Examples of the words in the names of metrics, for help.
const (
	MaximizedExamples = "accuracy, auc, f1, reward, score or throughput"
	MinimizedExamples = "loss, error, latency, perplexity or rmse"
)

// GoalOf returns the goal that the name of a metric suggests, "" if it suggests none.
func GoalOf(name string) Goal {
	for _, w := range wordsOf(name) {
		switch {
		case slices.Contains(maximized, w):
			return Max
		case slices.Contains(minimized, w):
			return Min
		}
	}
	return ""
}

// wordsOf returns the words of a name in lower case: those of evalLoss are eval and loss.
func wordsOf(name string) []string {
	var b strings.Builder
	before := ' '
	for _, r := range name {
		if unicode.IsUpper(r) && unicode.IsLower(before) {
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(r))
		before = r
	}
	return strings.FieldsFunc(b.String(), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
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
