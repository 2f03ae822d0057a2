package starlint

import "slices"

// Names of our own rules.
const (
	ruleSyntax       = "syntax"
	ruleNames        = "names"
	ruleDocstring    = "missing-docstring"
	ruleUndocumented = "undocumented-argument"
	ruleNoSuch       = "unknown-argument"
	ruleType         = "unknown-type"
	ruleDefault      = "default-type"
	ruleKwargs       = "component-kwargs"
	ruleResource     = "role-without-resource"
	ruleUnusedLoad   = "unused-load"
)

// ownRules are ours; the others are those of buildtools (warnings).
func ownRules() []Rule {
	return []Rule{
		{ruleSyntax, "the file cannot be parsed", false},
		{ruleNames, "a name is not defined, or defined twice", false},
		{ruleDocstring, "a component (a function without _ in front) has no docstring, so nobody sees what it does", false},
		{ruleUndocumented, "a component's argument is not in the Args: section of its docstring", false},
		{ruleNoSuch, "the docstring describes an argument that the function does not have", true},
		{ruleType, "the docstring gives an argument a type that does not exist", true},
		{ruleDefault, "an argument's default is no value of its type", true},
		{ruleKwargs, "a component takes **kwargs or an argument called help, which a command line cannot give", false},
		{ruleResource, "specs.Role(...) says nothing about the resources that a replica needs", false},
	}
}

// Rules lists what is looked for, by name.
func Rules() []Rule {
	rules := ownRules()
	for _, w := range warnings() {
		rules = append(rules, w.Rule)
	}
	slices.SortFunc(rules, func(a, b Rule) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	return rules
}
