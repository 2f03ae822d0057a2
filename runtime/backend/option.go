package backend

// OptionType is the type of a -cfg value.
type OptionType string

// The option types, as `torchx runopts` prints them.
const (
	TypeStr   OptionType = "str"
	TypeInt   OptionType = "int"
	TypeFloat OptionType = "float"
	TypeBool  OptionType = "bool"
	TypeList  OptionType = "list" // []string
	TypeMap   OptionType = "dict" // map[string]string
)

// Option is one -cfg key of a backend.
type Option struct {
	Key      string
	Type     OptionType
	Required bool
	Default  any      // nil or a string, int, float64, bool, []string or map[string]string
	Choices  []string // for TypeStr: the allowed values; nil: any
	Help     string
	Risk     Risk // of a value that a project chooses
	Path     bool // a TypeStr that is a path: a leading ~ is expanded
	// Protects marks a limit: Misspelled rejects a similar key.
	Protects bool
}

// Risk is what a project gains by setting an option, in words for a question to the user.
type Risk string

// The risks. All but Harmless need the user's consent.
const (
	Harmless  Risk = "is harmless"
	Executes  Risk = "runs programs on this machine"
	Escalates Risk = "grants rights"
	Exports   Risk = "passes on secrets or files"
	Elsewhere Risk = "chooses an identity, an image or a place"
	Writes    Risk = "writes outside of the folder"           // harmless if the path is inside
	Loads     Risk = "makes programs load code of the folder" // harmless unless it sets such variables
)

var risks = []Risk{Harmless, Executes, Escalates, Exports, Elsewhere, Writes, Loads}

// Config holds resolved options: every key of the backend, nil if it has no value.
type Config map[string]any
