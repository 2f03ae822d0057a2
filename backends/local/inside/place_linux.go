package inside

import (
	"fmt"
	"os"
	"strings"
)

// PlaceOf returns the environment with which a process was started, and its working folder.
func PlaceOf(pid int) (p Place, err error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil {
		return p, err
	}
	p.Env = strings.Split(strings.TrimSuffix(string(data), "\x00"), "\x00")
	p.Dir, err = os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid))
	return p, err
}
