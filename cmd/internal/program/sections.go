package program

import "torchx/runtime/backend"

// Sections are the keys of the sections of .torchxconfig that belong to no backend, as options.
// "component" holds the arguments of built-in components that are not harmless.
var Sections = map[string][]backend.Option{
	"torchx": {
		{Key: "env_file", Risk: backend.Loads, Type: backend.TypeStr},
		{Key: "env_file_secrets", Risk: backend.Harmless, Type: backend.TypeBool},
		{Key: "image", Risk: backend.Elsewhere, Type: backend.TypeStr},
		{Key: "on_end", Risk: backend.Executes, Type: backend.TypeStr},
		{Key: "provenance", Risk: backend.Harmless, Type: backend.TypeStr},
		{Key: "secrets", Risk: backend.Harmless, Type: backend.TypeStr},
		{Key: "tags", Risk: backend.Harmless, Type: backend.TypeStr},
	},
	"cli:run": {
		{Key: "scheduler", Risk: backend.Harmless, Type: backend.TypeStr},
		{Key: "backend", Risk: backend.Harmless, Type: backend.TypeStr},
		{Key: "workspace", Risk: backend.Exports, Type: backend.TypeStr},
		{Key: "component", Risk: backend.Harmless, Type: backend.TypeStr},
	},
	"cli:list": {
		{Key: "scheduler", Risk: backend.Harmless, Type: backend.TypeStr},
		{Key: "backend", Risk: backend.Harmless, Type: backend.TypeStr},
	},
	"component": {
		{Key: "image", Risk: backend.Elsewhere, Type: backend.TypeStr},
		{Key: "mounts", Risk: backend.Escalates, Type: backend.TypeStr},
		{Key: "env", Risk: backend.Loads, Type: backend.TypeStr},
	},
}
