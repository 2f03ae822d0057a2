package observe

import (
	"strings"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
)

// maxText bounds the bytes shown of a cluster's message: some contain whole objects.
const maxText = 400

// plain returns a message of the cluster as one line.
func plain(text string) string {
	return cutText(strings.Join(strings.Fields(text), " "), maxText)
}

// cutText cuts text to at most limit bytes, between two characters.
func cutText(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	cut := limit
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}

// firstText returns the first text that is not empty.
func firstText(texts ...string) string {
	for _, t := range texts {
		if t = plain(t); t != "" {
			return t
		}
	}
	return ""
}

// apiMessage returns the message in an API error that Volcano printed as a Go value.
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

// maxPull bounds the bytes shown of an unknown cause.
const maxPull = 100

// pullCauses explains texts of kubelet, containerd and registries. The first match counts.
var pullCauses = []struct{ text, meaning string }{
	{"no such host", "the host name of its registry does not exist"},
	{"server misbehaving", "the host name of its registry cannot be resolved"},
	{"connection refused", "its registry refuses connections"},
	{"i/o timeout", "its registry does not respond"},
	{"deadline exceeded", "its registry does not respond"},
	{"network is unreachable", "its registry is not reachable"},
	{"x509: ", "the node does not trust the certificate of its registry"},
	{"server gave HTTP response to HTTPS client", "its registry does not use TLS"},
	{"pull access denied", "it does not exist, or its registry requires credentials (-cfg image_pull_secrets)"},
	{"nauthorized", "its registry denies access (-cfg image_pull_secrets)"},
	{"403 Forbidden", "its registry denies access (-cfg image_pull_secrets)"},
	{"insufficient_scope", "its registry denies access (-cfg image_pull_secrets)"},
	{"Too Many Requests", "its registry limits the rate of pulls"},
	{"no match for platform", "it is not available for the node's CPU architecture"},
	{"no space left", "the node's disk is full"},
	{"invalid reference format", "its name is not valid"},
	{"pull policy of Never", "it is not on the node, and image_pull_policy is Never"},
	{": not found", "not found in its registry"},
}

// imageReason describes in short which image a container waits for and why: the kubelet's
// text contains the URL of the request, and the image three times.
func imageReason(c *corev1.ContainerStatus) string {
	w := c.State.Waiting
	return "image " + c.Image + " cannot be pulled: " + pullCause(w.Message, w.Reason, c.Image)
}

func pullCause(message, reason, image string) string {
	message = strings.Join(strings.Fields(message), " ")
	for _, c := range pullCauses {
		if strings.Contains(message, c.text) {
			return c.meaning
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
