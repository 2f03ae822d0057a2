package history

import (
	"strconv"
	"strings"
)

// ArgumentValues returns the arguments of a component by name; those without a name are "argument
// N".
func ArgumentValues(args []string) map[string]string {
	values := map[string]string{}
	rest := func(arg string) { values["argument "+strconv.Itoa(countRest(values)+1)] = arg }
	for i := 0; i < len(args); i++ {
		arg := args[i]
		name, value, hasValue := strings.Cut(arg, "=")
		switch {
		case arg == "--":
			for _, arg := range args[i+1:] {
				rest(arg)
			}
			return values
		case len(arg) < 2 || arg[0] != '-' || isNumber(arg):
			rest(arg)
		case hasValue:
			values[ArgumentName(name)] = value
		case i+1 < len(args) && (!strings.HasPrefix(args[i+1], "-") || isNumber(args[i+1])):
			i++
			values[ArgumentName(arg)] = args[i]
		default:
			values[ArgumentName(arg)] = "true"
		}
	}
	return values
}

// ArgumentName returns the name of an option as a component has it.
func ArgumentName(text string) string {
	return strings.ReplaceAll(strings.TrimLeft(text, "-"), "-", "_")
}

// RestArguments returns the positional ones of ArgumentValues.
func RestArguments(values map[string]string) []string {
	rest := make([]string, countRest(values))
	for i := range rest {
		rest[i] = values["argument "+strconv.Itoa(i+1)]
	}
	return rest
}

func countRest(values map[string]string) (n int) {
	for name := range values {
		if strings.HasPrefix(name, "argument ") {
			n++
		}
	}
	return n
}

func isNumber(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	return err == nil
}
