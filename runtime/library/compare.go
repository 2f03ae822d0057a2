package library

import (
	"fmt"
	"slices"
	"strings"
)

// Difference is how the files of a library differ from an earlier state.
type Difference struct{ Changed, Added, Gone []string }

// Compare returns the changes from old to now.
func Compare(old, now *Locked) Difference {
	var d Difference
	for _, f := range old.Files {
		switch sum, ok := now.Sum(f.Name); {
		case !ok:
			d.Gone = append(d.Gone, f.Name)
		case sum != f.Sum:
			d.Changed = append(d.Changed, f.Name)
		}
	}
	for _, f := range now.Files {
		if _, ok := old.Sum(f.Name); !ok {
			d.Added = append(d.Added, f.Name)
		}
	}
	return d
}

// IsEmpty reports whether there are no differences.
func (d Difference) IsEmpty() bool { return len(d.Changed)+len(d.Added)+len(d.Gone) == 0 }

// String lists the files, at most five by name.
func (d Difference) String() string {
	const few = 5
	names := slices.Clone(d.Changed)
	for _, name := range d.Gone {
		names = append(names, name+" (gone)")
	}
	for _, name := range d.Added {
		names = append(names, name+" (new)")
	}
	if len(names) > few {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:few], ", "), len(names)-few)
	}
	return strings.Join(names, ", ")
}
