package job

import (
	"fmt"
	"strconv"
	"strings"
)

// maxHosts bounds the names that a list expands to; no cluster has more nodes.
const maxHosts = 1 << 17

// ExpandHosts returns the names in Slurm's short form: n[1-3,07],login becomes n1, n2, n3, n07,
// login. A text that is not such a list is returned as the only name.
func ExpandHosts(list string) (names []string) {
	if list = plain(list); list == "" {
		return nil
	}
	for _, part := range splitOutside(list) {
		more, ok := expandPart(part)
		if !ok || len(names)+len(more) > maxHosts {
			return []string{list}
		}
		names = append(names, more...)
	}
	return names
}

// splitOutside splits a list at its commas outside of brackets, and drops empty parts.
func splitOutside(list string) (parts []string) {
	depth, start := 0, 0
	for i := 0; i <= len(list); i++ {
		switch {
		case i == len(list), list[i] == ',' && depth == 0:
			if part := strings.TrimSpace(list[start:i]); part != "" {
				parts = append(parts, part)
			}
			start = i + 1
		case list[i] == '[':
			depth++
		case list[i] == ']':
			depth--
		}
	}
	return parts
}

// expandPart expands the first brackets of a part, and then those after them.
func expandPart(part string) (names []string, ok bool) {
	before, rest, found := strings.Cut(part, "[")
	if !found {
		return []string{part}, !strings.Contains(part, "]")
	}
	inside, after, found := strings.Cut(rest, "]")
	if !found {
		return nil, false
	}
	tails, ok := expandPart(after)
	if !ok {
		return nil, false
	}
	for item := range strings.SplitSeq(inside, ",") {
		first, last, isRange := strings.Cut(item, "-")
		if !isRange {
			last = first
		}
		from, err := strconv.Atoi(first)
		to, err2 := strconv.Atoi(last)
		if err != nil || err2 != nil || from < 0 || to < from ||
			(to-from+1)*len(tails)+len(names) > maxHosts {
			return nil, false
		}
		for n := from; n <= to; n++ {
			for _, tail := range tails {
				names = append(names, fmt.Sprintf("%s%0*d%s", before, len(first), n, tail))
			}
		}
	}
	return names, true
}
