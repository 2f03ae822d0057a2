package history

import (
	"database/sql"
	"strings"
	"testing"

	_ "modernc.org/sqlite"
)

// Pattern is what SQLite's GLOB says.
func TestPatternIsGlob(t *testing.T) {
	t.Parallel()
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	texts := []string{"", "train", "train.star:f", "a/b.star:f", "a]b", "a[b", "a^b", `a\b`, "a-b", "é", "日本", "T", "a\nb", "x.y"}
	for _, pattern := range []string{
		"", "train", "*", "t*", "*.star:*", "?", "tr?in", "[a-c]*", "[^a]*", "a[]]b", "a[^]]b", "a[[]b", "a[^-]b", `a\b`, `a[\]b`, "a[]x^]b", "a.b", "(a)+", "日*", "a[x-]b",
	} {
		re, err := Pattern(pattern)
		if err != nil {
			t.Errorf("%q: %v", pattern, err)
			continue
		}
		for _, text := range texts {
			var want bool
			if err := db.QueryRow(`SELECT ? GLOB ?`, text, pattern).Scan(&want); err != nil {
				t.Fatal(err)
			}
			if got := re.MatchString(text); got != want {
				t.Errorf("%q on %q: got %v, want %v", pattern, text, got, want)
			}
		}
	}
}

func TestPatternErrors(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]string{
		"a[b": "[ without ]", "[": "[ without ]", "[]": "[ without ]", "[^]": "[ without ]", "[z-a]": "reversed", "\xff": "not UTF-8",
	} {
		if _, err := Pattern(pattern); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want an error with %q", pattern, err, want)
		}
	}
}

func TestFindWords(t *testing.T) {
	t.Parallel()
	const text = "train-1 dist.ddp --lr 0.10 Überfit"
	for search, want := range map[string]bool{
		"": true, "train": true, "trai": false, "trai*": true, "DIST ddp": true, "dist.ddp": true, "ddp.dist": false, "lr 0.1": false, "0.1*": true, "überfit": true, "--": true, "none": false, "train none": false,
	} {
		if got := FindWords(text, search); got != want {
			t.Errorf("%q: got %v, want %v", search, got, want)
		}
	}
}

func TestTags(t *testing.T) {
	t.Parallel()
	tags, err := ParseTags([]string{"b=2", "a", "b=3=4", "é/x.y_z-1=日 本"})
	if got, want := FormatTags(tags, "|"), "a|b=3=4|é/x.y_z-1=日 本"; got != want || err != nil {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	for _, bad := range []string{"", "=", "=x", "a b", "a-", "-a=\x00", "a=\n", "a=\xff", "\xff", strings.Repeat("k", 64), "a=" + strings.Repeat("v", 257)} {
		if tags, err := ParseTags([]string{bad}); err == nil {
			t.Errorf("%q: got %v, want an error", bad, tags)
		}
	}
}
