package backendtest

// group is a group of cases about one part of the contract.
type group struct {
	name  string
	tests []test
}

// test is one case.
type test struct {
	name  string
	needs func(c Caps) bool // nil: no capabilities
	run   func(s *suite)
}

func groups() []group {
	var (
		streams     = func(c Caps) bool { return c.Streams }
		times       = func(c Caps) bool { return c.Times }
		anyID       = func(c Caps) bool { return c.AnyID }
		signals     = func(c Caps) bool { return c.Signals }
		failsFast   = func(c Caps) bool { return c.FailFast }
		hasAttempts = func(c Caps) bool { return c.Attempts }
		startErrors = func(c Caps) bool { return c.StartErrors }
		deletes     = func(c Caps) bool { return c.Deletes }
	)
	return []group{
		{"plan", []test{
			{"changes nothing", nil, planIsPure},
			{"does not change the app", nil, planKeepsApp},
			{"is deterministic", nil, planIsStable},
			{"load round trip", nil, loadRoundTrip},
			{"load refuses invalid requests", nil, loadRefuses},
		}},
		{"life", []test{
			{"success", nil, success},
			{"running", nil, runningApp},
			{"several roles and replicas", nil, severalReplicas},
			{"environment", nil, environment},
			{"killed", signals, killed},
			{"first failure stops the others", failsFast, failFast},
			{"retries", hasAttempts, retries},
			{"entry point not found", startErrors, notFound},
			{"submit twice", nil, submitTwice},
			{"unknown app", nil, unknownApp},
			{"unknown replica", nil, unknownReplica},
			{"delete", deletes, deleteApp},
			{"wait", nil, waitTwice},
			{"wait ends with its context", nil, waitCancelled},
			{"exit code 1", nil, exitCode(1)},
			{"exit code 3", nil, exitCode(3)},
			{"exit code 126", nil, exitCode(126)},
			{"exit code 255", nil, exitCode(255)},
		}},
		{"inside", []test{
			{"exec", nil, execStreams},
			{"exec with input", nil, execInput},
			{"exec of a missing program", nil, execNotFound},
			{"exec and signals", nil, execSignal},
			{"exec on a terminal", nil, execTerminal},
			{"exec with lost output", nil, execLost},
			{"exec ends", nil, execEnds},
			{"files", nil, copyFiles},
			{"contents of the folder", nil, copyContents},
			{"ports", nil, dialPorts},
		}},
		{"cancel", []test{
			{"ends as CANCELLED", nil, cancelEnds},
			{"does not block", nil, cancelDoesNotBlock},
			{"force", nil, cancelForce},
			{"of a finished app", nil, cancelFinished},
			{"twice", nil, cancelTwice},
		}},
		{"clients", []test{
			{"close twice", nil, closeTwice},
			{"apps outlive their client", nil, outlive},
			{"another client sees everything", nil, anotherClient},
			{"concurrent apps", nil, concurrentApps},
			{"concurrent submits of one ID", nil, concurrentSubmits},
			{"capabilities", nil, capabilities},
			{"options", nil, options},
		}},
		{"ids", []test{{"any characters", anyID, oddIDs}}},
		{"logs", []test{
			{"empty", nil, emptyLog},
			{"reading twice", nil, readTwice},
			{"two readers", nil, twoReaders},
			{"no newline at the end", nil, noNewline},
			{"many lines", nil, manyLines},
			{"of a running app without follow", nil, noFollow},
			{"attempts", hasAttempts, attempts},
		}},
		{"select", []test{
			{"stream", streams, selectStream},
			{"unknown stream", nil, unknownStream},
			{"lines", nil, selectLines},
			{"time", times, selectTime},
		}},
		{"follow", []test{
			{"gets all lines and ends with the app", nil, followAll},
			{"from the end", nil, followTail},
			{"ends at a time", times, followUntil},
			{"ends with its context", nil, followCancelled},
			{"a finished app", nil, followFinished},
			{"a canceled app", nil, followCancel},
		}},
	}
}
