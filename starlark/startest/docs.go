package startest

import (
	"maps"
	"slices"
)

// Doc describes a name of the value t that tests are given.
type Doc struct {
	Signature string // as it is called: `t.eq(got, want, msg = "")`
	Text      string // one paragraph without line breaks
}

// Docs returns the documentation of all that t has, by name. The caller owns the map.
func Docs() map[string]Doc { return maps.Clone(docs) }

var docs = map[string]Doc{
	"eq":       {`t.eq(got, want, msg = "")`, "Fails the test unless got == want, and shows how they differ; the test goes on. Returns whether it held, as all comparisons do."},
	"ne":       {`t.ne(got, want, msg = "")`, "Fails the test if got == want."},
	"true":     {`t.true(cond, msg = "")`, "Fails the test unless cond is true."},
	"false":    {`t.false(cond, msg = "")`, "Fails the test if cond is true."},
	"contains": {`t.contains(where, what, msg = "")`, "Fails the test unless what is in where: a part of a text, an element of a list, a key of a dict."},
	"lacks":    {`t.lacks(where, what, msg = "")`, "Fails the test if what is in where."},
	"matches":  {`t.matches(text, pattern, msg = "")`, "Fails the test unless the regular expression (RE2) matches a part of the text."},
	"fails":    {`t.fails(fn, pattern, *args, **kwargs)`, "Calls fn with the other arguments, and fails the test unless fn fails with a message that the regular expression matches. Returns the message."},
	"error":    {`t.error(msg)`, "Fails the test with a message, and goes on."},
	"fatal":    {`t.fatal(msg)`, "Fails the test with a message, and ends it."},
	"log":      {`t.log(*args)`, "Writes a line that is shown if the test fails, or with -v."},
	"skip":     {`t.skip(reason = "")`, "Ends the test as skipped."},
	"run":      {`t.run(name, fn, *args, **kwargs)`, "Runs fn(t, *args, **kwargs) as a subtest, and returns whether it passed."},
	"name":     {`t.name`, "The name of the test, with those of the tests around it: test_x/case."},
	"setenv":   {`t.setenv(name, value)`, "Sets what torchx.getenv finds until the test ends; nothing of the user's environment is seen."},
	"app":      {`t.app(component, *args)`, "Returns what `torchx run` makes of a component and these arguments, each a text as it would be typed."},
	"plan":     {`t.plan(app, backend = "local", cfg = {})`, "Returns the request that the backend would get, as dicts and lists, with a fixed id. The backend needs not be there."},
	"golden":   {`t.golden(value, name)`, "Fails the test unless value is what testdata/NAME.json holds, or NAME.txt for a text. `torchx component test -update` writes the file."},
}

// AttrNames lists what a test has.
func (x *test) AttrNames() []string { return slices.Sorted(maps.Keys(docs)) }
