package safefile

import (
	"fmt"
	"os"
	"os/user"
	"strings"
)

// ExpandHome replaces a leading ~ by home, or by the home of this process's user if home is "",
// and a leading ~NAME by the home of that user. Elsewhere ~ is an ordinary character. It fails if
// the user does not exist.
func ExpandHome(path, home string) (string, error) {
	rest, ok := strings.CutPrefix(path, "~")
	if !ok {
		return path, nil
	}
	name, rest, below := strings.Cut(rest, "/")
	if below {
		rest = "/" + rest
	}
	home, err := homeOf(name, home)
	if err != nil {
		return "", fmt.Errorf("%s: %w (write ./%s for a name that starts with ~)", path, err, path)
	}
	return strings.TrimRight(home, "/") + rest, nil
}

func homeOf(name, home string) (string, error) {
	switch {
	case name != "":
		u, err := user.Lookup(name)
		if err != nil {
			return "", fmt.Errorf("user %q not found", name)
		}
		return u.HomeDir, nil
	case home != "":
		return home, nil
	}
	return os.UserHomeDir()
}
