// Package digest takes the place of the digests that the client of the Docker Engine links: the
// original compiles its patterns at each start of every command. It has what the client uses.
package digest

import (
	"errors"
	"regexp"
	"strings"
	"sync"
)

// Errors of digests.
var (
	ErrDigestInvalidFormat = errors.New("invalid checksum digest format")
	ErrDigestInvalidLength = errors.New("invalid checksum digest length")
	ErrDigestUnsupported   = errors.New("unsupported digest algorithm")
)

// encodedLength has the lengths of digests in hexadecimal digits.
var encodedLength = map[string]int{"sha256": 64, "sha384": 96, "sha512": 128}

var anyDigest = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[a-z0-9]+(?:[.+_-][a-z0-9]+)*:[a-zA-Z0-9=_-]+$`)
})

// Digest is "ALGORITHM:HEXADECIMAL DIGITS".
type Digest string

func (d Digest) String() string { return string(d) }

// Parse returns a valid digest.
func Parse(s string) (Digest, error) { return Digest(s), Digest(s).Validate() }

// Validate returns why a digest is invalid.
func (d Digest) Validate() error {
	algorithm, encoded, _ := strings.Cut(string(d), ":")
	length := encodedLength[algorithm]
	switch {
	case algorithm == "" || encoded == "":
		return ErrDigestInvalidFormat
	case length == 0 && anyDigest().MatchString(string(d)):
		return ErrDigestUnsupported
	case length == 0:
		return ErrDigestInvalidFormat
	case len(encoded) != length:
		return ErrDigestInvalidLength
	case strings.Trim(encoded, "0123456789abcdef") != "":
		return ErrDigestInvalidFormat
	}
	return nil
}
