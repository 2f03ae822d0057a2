package ui

import (
	"strings"

	"torchx/runtime/spec"
)

// QueuedMark begins the message of an app that waits for its turn.
const QueuedMark = "queued: "

// StateText is a state in a table, which has no room for why an app waits.
func StateText(s spec.State, msg string) string {
	if s == spec.Pending && strings.HasPrefix(msg, QueuedMark) {
		return s.String() + " queued"
	}
	return s.String()
}
