package program

import (
	"strconv"
	"strings"
)

// ArgumentValues returns the arguments of a component by name; those without a name are "argument N".
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
			values[argumentName(name)] = value
		case i+1 < len(args) && (!strings.HasPrefix(args[i+1], "-") || isNumber(args[i+1])):
			i++
			values[argumentName(arg)] = args[i]
		default:
			values[argumentName(arg)] = "true"
		}
	}
	return values
}

func argumentName(text string) string {
	return strings.ReplaceAll(strings.TrimLeft(text, "-"), "-", "_")
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
