package starlint

import "torchx/starlark/analysis"

// Names of rules.
const (
	ruleSyntax        = "syntax"
	ruleNames         = "names"
	ruleDocstring     = "missing-docstring"
	ruleUndocumented  = "undocumented-argument"
	ruleNoSuch        = "unknown-argument"
	ruleType          = "unknown-type"
	ruleDefault       = "default-type"
	ruleKwargs        = "component-kwargs"
	ruleResource      = "role-without-resource"
	ruleNoApp         = "no-app"
	ruleMacro         = "unknown-macro"
	ruleConfusing     = "confusing-name"
	ruleNamedDefault  = "dict-method-named-arg"
	ruleHeader        = "docstring-header"
	ruleAppend        = "list-append"
	ruleNoEffect      = "no-effect"
	ruleReturn        = "return-value"
	ruleString        = "string-iteration"
	ruleUninitialized = "uninitialized"
	ruleUnreachable   = "unreachable"
	ruleUnusedLoad    = "unused-load"
	ruleUnused        = "unused-variable"
)

// Rules lists all rules, sorted by name.
func Rules() []Rule {
	return []Rule{
		{analysis.RuleLoad, "a load fails: its file or name does not exist, is private, does not parse or loads this file", false},
		{ruleKwargs, "a component takes **kwargs or an argument called help, which a command line cannot set", false},
		{ruleConfusing, "a variable is called l, I or O", false},
		{ruleDefault, "an argument's default is not of its type", true},
		{ruleNamedDefault, "a method of a dict is called with a named argument, which it does not accept", false},
		{ruleHeader, "a docstring does not begin with a summary of one line", false},
		{ruleAppend, "x += [y] creates a temporary list; x.append(y) does not", true},
		{ruleDocstring, "a component (a function without a leading _) has no docstring, so its help is empty", false},
		{ruleNames, "a name is not defined, or defined twice", false},
		{ruleNoApp, "a component returns no app, or None instead of one", false},
		{ruleNoEffect, "a statement does nothing", false},
		{ruleReturn, "some paths through a function return a value, others do not", false},
		{ruleResource, "specs.Role(...) does not state the resources that a replica needs", false},
		{ruleString, "a string is iterated or indexed like a list", false},
		{ruleSyntax, "the file cannot be parsed", false},
		{ruleUndocumented, "a component's argument is not in the Args: section of its docstring", false},
		{ruleUninitialized, "a variable may be used before it has a value", false},
		{ruleNoSuch, "the docstring describes an argument that the function does not have", true},
		{analysis.RuleAttribute, "a module or value does not have an attribute", false},
		{ruleMacro, "a string has a misspelled macro such as ${replicaid}", false},
		{ruleType, "the docstring gives an argument a type that does not exist", true},
		{ruleUnreachable, "a statement can never be reached", false},
		{ruleUnusedLoad, "a loaded name is not used", true},
		{ruleUnused, "a variable is never used; name it _ or _name if that is intended", false},
		{analysis.RuleCall, "a call has unknown, missing or too many arguments", false},
	}
}
