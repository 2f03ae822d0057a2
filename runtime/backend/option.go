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
	Path     bool // a TypeStr that is a path: a leading ~ is expanded
	// Protects marks a limit: Misspelled rejects a similar key.
	Protects bool
}

// Config holds resolved options: every key of the backend, nil if it has no value.
type Config map[string]any
