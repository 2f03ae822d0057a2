package backend

// OnEnd is what to run or to tell when an app has ended, however it ended.
type OnEnd struct {
	// Actions are commands of the shell, and URLs that get a POST with JSON.
	Actions []string `json:"actions"`
	// Dir is the folder that commands run in, Environ their environment, "K=V" each, which may
	// be any bytes.
	Dir     string   `json:"dir"`
	Environ [][]byte `json:"environ"`
	// Trusted has the sums (package consent) of the files that the user trusted the actions with.
	Trusted map[string]string `json:"trusted,omitempty"`
	// Command is the component with its arguments, secrets hidden.
	Command string `json:"command"`
	// Secrets are patterns, and Variables exact names, of what the summary must not show.
	Secrets   []string `json:"secrets,omitempty"`
	Variables []string `json:"variables,omitempty"`
}
