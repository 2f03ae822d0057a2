package component

// ParseType reads a type as docstrings write it, such as "list[int]". The error is
// one line that lists the forms.
func ParseType(text string) (Type, error) { return parseType(text) }
