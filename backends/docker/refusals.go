package docker

import (
	"errors"
	"fmt"
	"regexp"

	"torchx/runtime/lazyregexp"
)

// refusals are what engines say of mistakes in a container, and the same with what
// to do. The words are those of Docker 20.10 to 28.
var refusals = []struct {
	pattern func() *regexp.Regexp
	clear   string // with what the pattern's group has
}{
	{
		lazyregexp.New(`bind source path does not exist: (\S+)`),
		"mount source %s does not exist on the engine's machine: create it first",
	},
	{
		lazyregexp.New(`adding custom device "(.+)": no such file or directory`),
		"device %s does not exist on the engine's machine",
	},
	{
		lazyregexp.New(`adding custom device "(.+)": not a device node`),
		"device %s is not a device: mount files and folders by BindMount",
	},
	{
		lazyregexp.New(`Bind for (\S+) failed: port is already allocated`),
		"port %s is in use by another container: end that one, or leave out publish_ports",
	},
	{
		lazyregexp.New(`(?:listen tcp4?|failed to bind host port(?: for)?) (\S+?)(?:/tcp)?: (?:bind: )?address already in use`),
		"port %s is in use by another program: end that one, or leave out publish_ports",
	},
	{
		lazyregexp.New(`(no space left on device)`),
		"the disk of the engine is full (%s): make room, such as by `docker system prune`",
	},
}

// clearly is an engine's error in words that say what to do, if it is known, and
// without the words that every one begins with.
func clearly(err error) error {
	for _, r := range refusals {
		if m := r.pattern().FindStringSubmatch(err.Error()); m != nil {
			return &engineError{fmt.Sprintf(r.clear, m[1]), err}
		}
	}
	var known *engineError
	if errors.As(err, &known) {
		return err
	}
	return plain(err)
}
