package docker

import (
	"errors"
	"strings"
	"testing"

	"github.com/distribution/reference"
	"github.com/opencontainers/go-digest"
)

// TestReference: the names that Docker's client parses are those of the Docker command line.
func TestReference(t *testing.T) {
	t.Parallel()
	hash := "sha256:" + strings.Repeat("0a", 32)
	for in, want := range map[string]struct{ full, familiar, tagged string }{
		"ubuntu":                      {"docker.io/library/ubuntu", "ubuntu", "docker.io/library/ubuntu:latest"},
		"ubuntu:24.04":                {"docker.io/library/ubuntu:24.04", "ubuntu:24.04", "docker.io/library/ubuntu:24.04"},
		"index.docker.io/ubuntu":      {"docker.io/library/ubuntu", "ubuntu", "docker.io/library/ubuntu:latest"},
		"user/app":                    {"docker.io/user/app", "user/app", "docker.io/user/app:latest"},
		"library/a/b":                 {"docker.io/library/a/b", "library/a/b", "docker.io/library/a/b:latest"},
		"localhost/app":               {"localhost/app", "localhost/app", "localhost/app:latest"},
		"localhost:5000/app:v1":       {"localhost:5000/app:v1", "localhost:5000/app:v1", "localhost:5000/app:v1"},
		"[::1]:80/a__b/c--d":          {"[::1]:80/a__b/c--d", "[::1]:80/a__b/c--d", "[::1]:80/a__b/c--d:latest"},
		"ghcr.io/a/b@" + hash:         {"ghcr.io/a/b@" + hash, "ghcr.io/a/b@" + hash, "ghcr.io/a/b@" + hash},
		"ubuntu:24.04@" + hash:        {"docker.io/library/ubuntu:24.04@" + hash, "ubuntu:24.04@" + hash, "docker.io/library/ubuntu:24.04@" + hash},
		"Org/app":                     {"Org/app", "Org/app", "Org/app:latest"},
		"docker.io/library/x:Tag_1.0": {"docker.io/library/x:Tag_1.0", "x:Tag_1.0", "docker.io/library/x:Tag_1.0"},
	} {
		r, err := reference.ParseNormalizedNamed(in)
		if err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		if r.String() != want.full || reference.FamiliarString(r) != want.familiar || reference.TagNameOnly(r).String() != want.tagged {
			t.Errorf("%s: got %s, %s, %s", in, r, reference.FamiliarString(r), reference.TagNameOnly(r))
		}
	}
	for in, want := range map[string]error{
		"a b": reference.ErrReferenceInvalidFormat, "a:": reference.ErrReferenceInvalidFormat, "": reference.ErrReferenceInvalidFormat,
		"a@sha256:" + strings.Repeat("a", 65): digest.ErrDigestInvalidLength, "a@md5:" + strings.Repeat("0", 32): digest.ErrDigestUnsupported,
		"a@sha256:" + strings.Repeat("A", 64): digest.ErrDigestInvalidFormat,
		"a__-b":                               reference.ErrReferenceInvalidFormat, "a@sha256:0": reference.ErrReferenceInvalidFormat, "x.y/z/" + strings.Repeat("a", 256): reference.ErrNameTooLong,
	} {
		if r, err := reference.ParseNormalizedNamed(in); !errors.Is(err, want) {
			t.Errorf("%q: got %v, %v, want %v", in, r, err, want)
		}
	}
	if r, err := reference.ParseAnyReference(hash[len("sha256:"):]); err != nil || r.String() != hash {
		t.Errorf("an identifier: got %v, %v", r, err)
	}
}
