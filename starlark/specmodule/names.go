package specmodule

// Names lists the names that every component file sees, sorted: the keys of what
// Predeclared returns, without making it.
func Names() []string {
	return []string{"json", "math", "path", "shlex", "specs", "struct", "torchx"}
}
