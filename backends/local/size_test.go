package local

import "testing"

func TestParseSize(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"4096": 4096, "0": 0, "1GiB": 1 << 30, "1g": 1 << 30, "1.5M": 3 << 19, "10kb": 10 << 10, "2TiB": 2 << 40, "7b": 7,
	} {
		if got, err := parseSize(text); err != nil || got != want {
			t.Errorf("%s: %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "g", "-1", "1x", "1 GiB", "1gg", "nan", "inf", "1e30", "99999999TiB", "0x10"} {
		if got, err := parseSize(text); err == nil {
			t.Errorf("%s: got %d, want an error", text, got)
		}
	}
}
