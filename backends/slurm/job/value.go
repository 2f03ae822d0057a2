package job

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"
)

// number is a number in one of Slurm's forms: 5, "5", {"set": true, "infinite": false, "number":
// 5}, null. Anything else counts as not set.
type number struct {
	N   int64
	Set bool
}

func (n *number) UnmarshalJSON(data []byte) error {
	*n = number{}
	switch data = bytes.TrimSpace(data); {
	case len(data) == 0:
	case data[0] == '{':
		var o struct {
			Set      *bool
			Infinite bool
			Number   json.RawMessage
		}
		if json.Unmarshal(data, &o) == nil && (o.Set == nil || *o.Set) && !o.Infinite {
			n.parse(string(o.Number))
		}
	case data[0] == '"':
		var text string
		if json.Unmarshal(data, &text) == nil {
			n.parse(text)
		}
	default:
		n.parse(string(data))
	}
	return nil
}

// parse sets n to the number in text, if it has one.
func (n *number) parse(text string) {
	if v, err := strconv.ParseInt(text, 10, 64); err == nil {
		*n = number{v, true}
		return
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil && math.Abs(f) < 1<<62 {
		*n = number{int64(f), true}
	}
}

// noValue is the least of the numbers by which Slurm 20.11 to 22.05 says that there is none
// (NO_VAL and INFINITE in slurm.h).
const noValue = 0xfffffffd

// time returns a time in unix seconds; 0 and Slurm's words for "none" are nil.
func (n number) time() *time.Time {
	if !n.Set || n.N <= 0 || n.N >= noValue {
		return nil
	}
	t := time.Unix(n.N, 0).UTC()
	return &t
}

// minutes returns a limit in minutes; 0 means that there is none.
func (n number) minutes() time.Duration {
	if !n.Set || n.N <= 0 || n.N >= noValue {
		return 0
	}
	return time.Duration(n.N) * time.Minute
}

// words is a string or a list of strings; null and other forms are empty.
type words []string

func (w *words) UnmarshalJSON(data []byte) error {
	*w = nil
	var one text
	var list []text
	switch data = bytes.TrimSpace(data); {
	case len(data) == 0:
	case data[0] == '[':
		_ = json.Unmarshal(data, &list) // another form is empty
	case json.Unmarshal(data, &one) == nil:
		list = []text{one}
	}
	for _, t := range list {
		if t != "" {
			*w = append(*w, string(t))
		}
	}
	return nil
}

// text is a string; a number becomes its digits, and other forms are empty.
type text string

func (t *text) UnmarshalJSON(data []byte) error {
	*t = ""
	switch data = bytes.TrimSpace(data); {
	case len(data) == 0:
	case data[0] == '"':
		var s string
		if json.Unmarshal(data, &s) == nil {
			*t = text(plain(s))
		}
	case data[0] == '-' || data[0] >= '0' && data[0] <= '9':
		*t = text(data)
	}
	return nil
}

// plain returns "" for what Slurm prints instead of an absent text.
func plain(s string) string {
	switch s = strings.TrimSpace(s); s {
	case "(null)", "N/A", "None assigned", "Unknown":
		return ""
	}
	return s
}
