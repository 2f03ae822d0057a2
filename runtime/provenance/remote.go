package provenance

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxURL bounds a recorded URL in bytes.
const maxURL = 2048

// plainUser is the user name of most ssh servers of git: it is not a secret.
const plainUser = "git"

// StripCredentials returns the URL of a remote, in any form that git accepts, without user
// names, passwords, queries and fragments; the user name "git" stays. It returns "" if it is
// unclear where credentials are.
func StripCredentials(remote string) string {
	if len(remote) > maxURL || !utf8.ValidString(remote) ||
		strings.ContainsFunc(remote, unicode.IsControl) {
		return ""
	}
	if helper, _, ok := strings.Cut(remote, "::"); ok && !strings.ContainsAny(helper, "/[") {
		return "" // the helper chooses the form of its addresses
	}
	if scheme, rest, ok := strings.Cut(remote, "://"); ok {
		rest, ok = stripURL(rest)
		if !ok {
			return ""
		}
		return scheme + "://" + rest
	}
	colon, slash := strings.IndexByte(remote, ':'), strings.IndexByte(remote, '/')
	if colon < 0 || slash >= 0 && slash < colon {
		return remote // a folder
	}
	return stripScp(remote)
}

// stripURL strips what follows "://". Passwords may have any character; ok is false if it is
// unclear where one ends.
func stripURL(rest string) (host string, ok bool) {
	user, host := "", rest
	authority, path, _ := strings.Cut(rest, "/")
	at := strings.LastIndexByte(authority, '@')
	server := authority[at+1:]
	if !isServer(server) {
		at = strings.LastIndexByte(rest, '@') // "/", "?" or "#" in a password
	} else if strings.Contains(server, ":") && strings.Contains(path, "@") {
		return "", false // USER:DIGITS/MORE@HOST, or HOST:PORT/PATH
	}
	if at >= 0 {
		user, host = rest[:at], rest[at+1:]
	}
	if cut := strings.IndexAny(host, "?#"); cut >= 0 {
		host = host[:cut]
	}
	if server, _, _ = strings.Cut(host, "/"); !isServer(server) {
		return "", false
	}
	if user == plainUser {
		host = plainUser + "@" + host
	}
	return host, true
}

// isServer reports whether text is HOST or HOST:PORT, maybe with a query.
func isServer(text string) bool {
	text, _, _ = strings.Cut(text, "?")
	name, port := text, ""
	if at := strings.LastIndexByte(text, ':'); at > strings.LastIndexByte(text, ']') {
		name, port = text[:at], text[at+1:]
	}
	return isPort(port) && !strings.Contains(name, "#") &&
		(!strings.Contains(name, ":") || strings.HasPrefix(name, "["))
}

// isPort reports whether text is a port of a URL, which may be empty.
func isPort(text string) bool { return strings.Trim(text, "0123456789") == "" }

// stripScp strips [USER@]HOST:PATH. A user with ":" has a password, which may have any character.
func stripScp(remote string) string {
	user, rest, ok := strings.Cut(remote, "@")
	if !ok || strings.Contains(user, ":") && !strings.Contains(rest, ":") { // HOST:PATH@MORE
		user, rest = "", remote
	}
	for {
		before, after, ok := strings.Cut(rest, "@")
		if !ok || user == "" || !strings.Contains(after, ":") || !strings.Contains(user, ":") &&
			strings.Contains(before, ":") {
			break
		}
		user, rest = user+":", after
	}
	if cut := strings.IndexAny(rest, "?#"); cut >= 0 {
		rest = rest[:cut]
	}
	if user == plainUser {
		return plainUser + "@" + rest
	}
	return rest
}
