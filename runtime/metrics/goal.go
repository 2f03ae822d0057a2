package metrics

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
)

// moreIsBetter are the words of names of metrics of which more is better.
var moreIsBetter = strings.Fields("acc accuracy ap auc auroc bleu dice f1 hits iou map ndcg precision psnr r2 recall return reward rouge score speed ssim success throughput top1 top5 wins")

// MoreIsBetterExamples are words of such names, for help.
const MoreIsBetterExamples = "accuracy, auc, f1, reward, score or throughput"

// MoreIsBetter reports whether the name of a metric says that its greatest value is the best.
func MoreIsBetter(name string) bool {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(moreIsBetter, w) })
}

// ParseGoal parses NAME, NAME:min or NAME:max. known is false for a NAME alone.
func ParseGoal(text string) (name string, isMax, known bool, err error) {
	name = text
	if before, found := strings.CutSuffix(text, ":max"); found {
		name, isMax, known = before, true, true
	} else if before, found := strings.CutSuffix(text, ":min"); found {
		name, known = before, true
	}
	if name == "" {
		return "", false, false, fmt.Errorf("the name is empty: write NAME, NAME:min or NAME:max")
	}
	return name, isMax, known, nil
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
