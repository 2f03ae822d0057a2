// Package reference takes the place of the names of images that the client of the Docker Engine
// links: the original compiles its patterns at each start of every command, a tenth of the time of
// `torchx version`. It has what the client calls.
//
//	reference = name [":" tag] ["@" digest], name = [domain "/"] path
package reference

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/opencontainers/go-digest"
)

const (
	hub       = "docker.io"       // the domain of names without one
	hubIndex  = "index.docker.io" // its former name
	official  = "library/"        // where hub has images without a namespace
	latest    = "latest"
	maxPath   = 255
	component = `[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?`
	domain    = `(?:` + component + `(?:\.` + component + `)*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?`
	part      = `[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*`
	digestHex = `[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[[:xdigit:]]{32,}`
	whole     = `^(?:(` + domain + `)/)?(` + part + `(?:/` + part + `)*)(?::(\w[\w.-]{0,127}))?(?:@(` + digestHex + `))?$`
)

// The patterns are compiled on first use.
var (
	pattern       = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(whole) })
	digestPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^` + digestHex + `$`) })
	identifier    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-f0-9]{64}$`) })
)

// Errors of names.
var (
	ErrReferenceInvalidFormat = errors.New("invalid reference format")
	ErrDigestInvalidFormat    = errors.New("invalid digest format")
	ErrNameContainsUppercase  = errors.New("repository name must be lowercase")
	ErrNameTooLong            = fmt.Errorf("repository name must not be more than %v characters", maxPath)
)

// Reference is the name or the digest of an image.
type Reference interface{ String() string }

// Named is a reference with a name.
type Named interface {
	Reference
	Name() string
}

// Tagged is a reference with a tag.
type Tagged interface {
	Reference
	Tag() string
}

// Digested is a reference with a digest.
type Digested interface {
	Reference
	Digest() digest.Digest
}

// Canonical is a reference with a name and a digest.
type Canonical interface {
	Named
	Digest() digest.Digest
}

type (
	named  string // [domain "/"] path
	tagged struct {
		named
		tag string
	}
	canonical struct {
		named
		digest digest.Digest
	}
	taggedCanonical struct {
		canonical
		tag string
	}
	digestOnly digest.Digest
)

func (n named) Name() string               { return string(n) }
func (n named) String() string             { return string(n) }
func (t tagged) Tag() string               { return t.tag }
func (t tagged) String() string            { return t.Name() + ":" + t.tag }
func (c canonical) Digest() digest.Digest  { return c.digest }
func (c canonical) String() string         { return c.Name() + "@" + c.digest.String() }
func (t taggedCanonical) Tag() string      { return t.tag }
func (t taggedCanonical) String() string   { return t.Name() + ":" + t.tag + "@" + t.digest.String() }
func (d digestOnly) Digest() digest.Digest { return digest.Digest(d) }
func (d digestOnly) String() string        { return string(d) }

// ParseAnyReference parses an identifier, a digest or a name as Docker prints it.
func ParseAnyReference(s string) (Reference, error) {
	if identifier().MatchString(s) {
		return digestOnly("sha256:" + s), nil
	}
	if d, err := digest.Parse(s); err == nil {
		return digestOnly(d), nil
	}
	return ParseNormalizedNamed(s)
}

// ParseNormalizedNamed parses a name as Docker prints it and adds the domain and namespace that it
// leaves out.
func ParseNormalizedNamed(s string) (Named, error) {
	if identifier().MatchString(s) {
		return nil, fmt.Errorf("invalid repository name (%s), cannot specify 64-byte hexadecimal strings", s)
	}
	host, rest := split(s)
	path, _, _ := strings.Cut(rest, ":")
	if strings.ToLower(path) != path {
		return nil, fmt.Errorf("invalid reference format: repository name (%s) must be lowercase", path)
	}
	return parse(host + "/" + rest)
}

// split returns the domain of a name and the rest.
func split(s string) (host, rest string) {
	host, rest, found := strings.Cut(s, "/")
	switch {
	case !found:
		return hub, official + s
	case host == hubIndex:
		host = hub
	case host != "localhost" && !strings.ContainsAny(host, ".:") && strings.ToLower(host) == host:
		host, rest = hub, s
	}
	if host == hub && !strings.Contains(rest, "/") {
		rest = official + rest
	}
	return host, rest
}

func parse(s string) (Named, error) {
	m := pattern().FindStringSubmatch(s)
	switch {
	case m == nil && pattern().MatchString(strings.ToLower(s)):
		return nil, ErrNameContainsUppercase
	case m == nil:
		return nil, ErrReferenceInvalidFormat
	case len(m[2]) > maxPath:
		return nil, ErrNameTooLong
	}
	host, path, tag, hash := m[1], m[2], m[3], m[4]
	if host != "" {
		path = host + "/" + path
	}
	if hash == "" {
		if tag == "" {
			return named(path), nil
		}
		return tagged{named(path), tag}, nil
	}
	d, err := digest.Parse(hash)
	if err != nil {
		return nil, err
	}
	if tag == "" {
		return canonical{named(path), d}, nil
	}
	return taggedCanonical{canonical{named(path), d}, tag}, nil
}

// WithDigest adds a digest to a name.
func WithDigest(n Named, d digest.Digest) (Canonical, error) {
	if !digestPattern().MatchString(d.String()) {
		return nil, ErrDigestInvalidFormat
	}
	c := canonical{named(n.Name()), d}
	if t, ok := n.(Tagged); ok {
		return taggedCanonical{c, t.Tag()}, nil
	}
	return c, nil
}

// TagNameOnly adds the tag latest to a name that has neither a tag nor a digest.
func TagNameOnly(n Named) Named {
	_, isTagged := n.(Tagged)
	_, isCanonical := n.(Canonical)
	if isTagged || isCanonical {
		return n
	}
	return tagged{named(n.Name()), latest}
}

// FamiliarString returns a reference as Docker prints it.
func FamiliarString(r Reference) string {
	s, isHub := strings.CutPrefix(r.String(), hub+"/")
	if rest, ok := strings.CutPrefix(s, official); isHub && ok && !strings.Contains(rest, "/") {
		return rest
	}
	return s
}
