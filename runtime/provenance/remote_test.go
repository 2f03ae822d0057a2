package provenance

import (
	"strings"
	"testing"
)

func TestStripCredentials(t *testing.T) {
	t.Parallel()
	for remote, want := range map[string]string{
		"https://github.com/o/r.git":               "https://github.com/o/r.git",
		"https://user:s3cret@github.com/o/r.git":   "https://github.com/o/r.git",
		"https://s3cret@github.com/o/r":            "https://github.com/o/r",
		"https://user:s3@cret@github.com/o/r":      "https://github.com/o/r",
		"https://user:s3/cret@github.com/o/r":      "https://github.com/o/r",
		"https://user:s3?cret@github.com/o/r":      "https://github.com/o/r",
		"https://user:s3#cret@github.com:8443/o/r": "https://github.com:8443/o/r",
		"https://user:12/s3cret@github.com/o/r":    "",
		"https://h/o/r?private_token=s3cret":       "https://h/o/r",
		"https://h/o/r#s3cret":                     "https://h/o/r",
		"https://h:s3cret/o/r":                     "",
		"https://h/o@v1/r":                         "https://h/o@v1/r",
		"https://[::1]:8443/r":                     "https://[::1]:8443/r",
		"ssh://git@h/o/r":                          "ssh://git@h/o/r",
		"ssh://git:s3cret@h:22/o/r":                "ssh://h:22/o/r",
		"ssh://me@h/o/r":                           "ssh://h/o/r",
		"git@github.com:o/r.git":                   "git@github.com:o/r.git",
		"s3cret@h:o/r":                             "h:o/r",
		"me:s3cret@h:o/r":                          "h:o/r",
		"me:s3@c:ret@h:o/r":                        "h:o/r",
		"git@h:o/r@v2":                             "git@h:o/r@v2",
		"git@h:o/r?token=s3cret":                   "git@h:o/r",
		"h:o/r@v2":                                 "h:o/r@v2",
		"/srv/a@b:c/r?x":                           "/srv/a@b:c/r?x",
		"../r":                                     "../r",
		"file:///srv/r":                            "file:///srv/r",
		"ext::sh -c s3cret":                        "",
		"https://h/\x1b[31m":                       "",
		"https://h/" + strings.Repeat("x", 5000):   "",
		"":                                         "",
	} {
		got := StripCredentials(remote)
		if strings.Contains(got, "s3") || strings.Contains(got, "cret") {
			t.Errorf("%q: got %q, which has the secret", remote, got)
		} else if got != want {
			t.Errorf("%q: got %q, want %q", remote, got, want)
		}
	}
}
