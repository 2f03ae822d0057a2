package image

import (
	"regexp"
	"slices"
	"strings"

	"torchx/runtime/pattern"
)

// instruction is an instruction of a Dockerfile with its continuation lines joined.
type instruction struct {
	line int // from 1
	text string
}

// instructions splits a Dockerfile into instructions, without comments.
func instructions(text string) (all []instruction) {
	open := false
	for n, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		part, continued := strings.CutSuffix(line, "\\")
		if part == "" {
			continue
		}
		if open {
			all[len(all)-1].text += " " + part
		} else {
			all = append(all, instruction{n + 1, part})
		}
		open = continued
	}
	return all
}

// Bases returns the images that the stages of a Dockerfile start from, where $IMAGE is
// base. It leaves out names with other variables, which only the builder can resolve.
func Bases(dockerfile, base string) (refs []string) {
	stages := map[string]bool{"scratch": true}
	for _, i := range instructions(dockerfile) {
		fields := strings.Fields(i.text)
		if !strings.EqualFold(fields[0], "FROM") {
			continue
		}
		fields = slices.DeleteFunc(fields[1:], func(f string) bool { return strings.HasPrefix(f, "--") })
		if len(fields) == 0 {
			continue
		}
		ref := imageVariable().ReplaceAllLiteralString(fields[0], base)
		if !stages[strings.ToLower(ref)] && !strings.Contains(ref, "$") {
			refs = append(refs, ref)
		}
		if len(fields) > 2 && strings.EqualFold(fields[1], "AS") {
			stages[strings.ToLower(fields[2])] = true
		}
	}
	return refs
}

// imageVariable matches the build argument IMAGE, with or without a default.
var imageVariable = pattern.Lazy(`\$(IMAGE\b|\{IMAGE(:?[-+][^}]*)?\})`)

// newFlags match flags that the engine's builder refuses ("requires BuildKit").
var newFlags = map[string]func() *regexp.Regexp{
	"RUN":  pattern.Lazy(`^--(mount|network|security|device)\b`),
	"COPY": pattern.Lazy(`^--(chmod|link|parents|exclude)\b`),
	"ADD":  pattern.Lazy(`^--(chmod|link|checksum|keep-git-dir|exclude|unpack)\b`),
}

// hereDocument matches `<<EOF` and its variants.
var hereDocument = pattern.Lazy(`<<-?["']?[A-Za-z_]`)

// needsBuildKit returns the line of the first instruction that needs BuildKit, and what
// needs it; "" if nothing does.
func needsBuildKit(dockerfile string) (line int, what string) {
	for _, i := range instructions(dockerfile) {
		fields := strings.Fields(i.text)
		verb := strings.ToUpper(fields[0])
		flags, ok := newFlags[verb]
		if !ok {
			continue
		}
		for _, f := range fields[1:] {
			if !strings.HasPrefix(f, "--") {
				break
			}
			if found := flags().FindString(f); found != "" {
				return i.line, verb + " " + found
			}
		}
		if verb != "RUN" || !strings.Contains(i.text, "<<<") { // bash's here string is not a document
			if found := hereDocument().FindString(i.text); found != "" {
				return i.line, verb + " " + found
			}
		}
	}
	return 0, ""
}
