package safefile

import (
	"os/user"
	"testing"
)

func TestExpand(t *testing.T) {
	t.Parallel()
	me, err := user.Current()
	if err != nil {
		t.Fatalf("name of this user: %v", err)
	}
	for path, want := range map[string]string{
		"~":                      "/h",
		"~/":                     "/h/",
		"~/a/~/b":                "/h/a/~/b",
		"~" + me.Username:        me.HomeDir,
		"~" + me.Username + "/x": me.HomeDir + "/x",
		"":                       "",
		"a/~/b":                  "a/~/b",
		"a~":                     "a~",
		"./~":                    "./~",
		"/~/x":                   "/~/x",
		"~no such user/x":        "",
	} {
		got, err := ExpandHome(path, "/h/")
		if got != want || (err != nil) != (want == "" && path != "") {
			t.Errorf("%q: got %q, %v, want %q", path, got, err, want)
		}
	}
	t.Run("default", func(t *testing.T) {
		if got, err := ExpandHome("~/x", ""); err != nil || got == "~/x" {
			t.Errorf("got %q, %v, want the home of this user", got, err)
		}
	})
}
