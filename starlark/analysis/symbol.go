package analysis

// Kind says what a name stands for.
type Kind int

// The kinds of names.
const (
	Function Kind = iota
	Variable
	Constant // a variable in capitals, or a built-in value
	Parameter
	Field
	Module
	Type // a function that makes a value of its own kind, such as specs.Role
)

// Symbol is a name and what is known of it.
type Symbol struct {
	Name string
	Kind Kind
	// Signature is how it is declared, on one line: `def f(a, b = 1)`, `N = 3`.
	Signature string
	// Doc is its description in Markdown, "" for none.
	Doc string
	// Params are those of what can be called, in their order.
	Params   []Param
	Callable bool

	// File is where it is defined, nil for what is built in.
	File       *File
	Start, End int // of the name there
	// From and To are where the whole definition begins and ends.
	From, To int

	// Label and Original are of a name that load() brings in: from where, and as what.
	Label, Original string

	value string // what it is assigned, as text; its type for a parameter
}

// Param is a parameter of a function.
type Param struct {
	Name string
	Text string // as declared: "a", "b = 1", "*args"
	Doc  string // one line, "" for none
	// Choices are what its value can be, where that is a list of texts.
	Choices []string
	// Resource: its value is the name of a resource.
	Resource bool
	// Star: it takes what is left, so it cannot be named in a call.
	Star bool
	// Required: it has no default.
	Required bool
}

// Private reports whether a name cannot be loaded by other files.
func Private(name string) bool { return len(name) > 0 && name[0] == '_' }
