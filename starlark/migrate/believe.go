package migrate

// Python does not look at annotations, and how a value is written as text depends on
// its type: where an annotation says another type than what is known of the value,
// nothing is ported.

var classNames = map[class]string{
	aStr: "str", anInt: "int", aFloat: "float", aBool: "bool", aNone: "None", aList: "list", aDict: "dict", aTuple: "tuple", aSet: "set",
}

// contradicts reports whether a value of type t cannot be of an annotated type that
// ports rely on. An int does for a float, in Python too.
func (t typ) contradicts(annotated typ) bool {
	known := classNames[t.class] != "" && classNames[annotated.class] != ""
	return known && t.class != annotated.class && t.class != aNone && (t.class != anInt || annotated.class != aFloat)
}

// checkGiven compares the arguments of a call of a function of the file with its
// annotations.
func (p *porter) checkGiven(n, def *node) {
	check := func(x param, value *node) {
		t := p.annotated(x.annotation)
		if given := p.peek(value); x.star == "" && given.contradicts(t) {
			p.fail(value, "%s of %s is annotated as %s and gets a %s: correct one of them", x.name, def.text("name"), classNames[t.class], classNames[given.class])
		}
	}
	params := parameters(def)
	for i, a := range n.list("args") {
		if a.is("Starred") || i >= len(params) || params[i].star != "" {
			break
		}
		check(params[i], a)
	}
	for _, k := range n.list("keywords") {
		for _, x := range params {
			if x.name == k.text("arg") {
				check(x, k.node("value"))
			}
		}
	}
}

// checkReturned compares what a function returns with its annotation.
func (p *porter) checkReturned(n *node) {
	if p.scope == nil || p.scope.def == nil || n.node("value") == nil {
		return
	}
	t := p.annotated(p.scope.def.node("returns"))
	given := p.peek(n.node("value"))
	if given.class == unknown {
		p.unproved[p.scope.def.text("name")] = true
	}
	if given.contradicts(t) {
		p.fail(n, "%s is annotated to return %s and returns a %s: correct one of them", p.scope.def.text("name"), classNames[t.class], classNames[given.class])
	}
}
