package observe

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"torchx/runtime/spec"

	corev1 "k8s.io/api/core/v1"
)

// maxText bounds what is shown of a cluster's message, in bytes: some hold whole objects.
const maxText = 400

// plain makes one line of what the cluster says.
func plain(text string) string {
	return cutText(strings.Join(strings.Fields(text), " "), maxText)
}

// cutText cuts what is longer than most bytes between two characters.
func cutText(text string, most int) string {
	if len(text) <= most {
		return text
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}

// firstText is the first text that says something.
func firstText(texts ...string) string {
	for _, t := range texts {
		if t = plain(t); t != "" {
			return t
		}
	}
	return ""
}

// apiMessage is the message in an API error that Volcano printed as a Go value.
func apiMessage(text string) string {
	const begin, end = `Message:"`, `", Reason:`
	_, rest, ok := strings.Cut(text, begin)
	if !ok {
		return text
	}
	message, _, ok := strings.Cut(rest, end)
	if !ok {
		return text
	}
	return strings.ReplaceAll(message, `\"`, `"`)
}

// signals are those of Linux on x86 and ARM by their number (signal(7)): nodes run
// it, whatever runs torchx.
var signals = [...]string{
	"", "SIGHUP", "SIGINT", "SIGQUIT", "SIGILL", "SIGTRAP", "SIGABRT", "SIGBUS", "SIGFPE", "SIGKILL", "SIGUSR1",
	"SIGSEGV", "SIGUSR2", "SIGPIPE", "SIGALRM", "SIGTERM", "SIGSTKFLT", "SIGCHLD", "SIGCONT", "SIGSTOP", "SIGTSTP",
	"SIGTTIN", "SIGTTOU", "SIGURG", "SIGXCPU", "SIGXFSZ", "SIGVTALRM", "SIGPROF", "SIGWINCH", "SIGIO", "SIGPWR", "SIGSYS",
}

// lastSignal is SIGRTMAX.
const lastSignal = 64

// signalName is the signal that an exit code stands for, "" for a plain one.
func signalName(code int) string {
	n := code - spec.ExitSignal
	switch {
	case n <= 0 || n > lastSignal:
		return ""
	case n < len(signals):
		return signals[n]
	}
	return "SIG" + strconv.Itoa(n)
}

// maxPull bounds what is shown of a cause that is not known, in bytes.
const maxPull = 100

// pullCauses are what kubelet, containerd and registries say, and what that means.
// The first that fits counts.
var pullCauses = []struct{ said, means string }{
	{"no such host", "its registry's name has no address"},
	{"server misbehaving", "its registry's name cannot be looked up"},
	{"connection refused", "its registry is not there"},
	{"i/o timeout", "its registry does not answer"},
	{"deadline exceeded", "its registry does not answer"},
	{"network is unreachable", "its registry cannot be reached"},
	{"x509: ", "its registry has a certificate that the node does not trust"},
	{"server gave HTTP response to HTTPS client", "its registry does not speak TLS"},
	{"pull access denied", "it does not exist, or its registry wants credentials (-cfg image_pull_secrets)"},
	{"nauthorized", "its registry wants other credentials (-cfg image_pull_secrets)"},
	{"403 Forbidden", "its registry wants other credentials (-cfg image_pull_secrets)"},
	{"insufficient_scope", "its registry wants other credentials (-cfg image_pull_secrets)"},
	{"Too Many Requests", "its registry limits how often one may pull"},
	{"no match for platform", "there is none for the node's kind of CPU"},
	{"no space left", "the node's disk is full"},
	{"invalid reference format", "that is no valid name"},
	{"pull policy of Never", "it is not on the node, and image_pull_policy is Never"},
	{": not found", "its registry does not have it"},
}

// imageReason says which image a container waits for and why, shortly: the texts of
// kubelets hold the URL of the request, and the image three times.
func imageReason(c *corev1.ContainerStatus) string {
	w := c.State.Waiting
	return "image " + c.Image + " cannot be pulled: " + pullCause(w.Message, w.Reason, c.Image)
}

func pullCause(message, reason, image string) string {
	message = strings.Join(strings.Fields(message), " ")
	for _, c := range pullCauses {
		if strings.Contains(message, c.said) {
			return c.means
		}
	}
	quoted := `"` + image + `": `
	for _, noise := range []string{
		"Back-off pulling image " + quoted, "ErrImagePull: ", "failed to pull and unpack image " + quoted,
		"failed to resolve reference " + quoted, "failed to resolve image: ",
	} {
		message = strings.TrimPrefix(message, noise)
	}
	return cutText(firstText(message, reason), maxPull)
}
