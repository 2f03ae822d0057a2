package observe

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestPullCauses: the reason names image and cause in one short line.
func TestPullCauses(t *testing.T) {
	t.Parallel()
	const pull = `Back-off pulling image "r.example/a/b:1": ErrImagePull: failed to pull and unpack image "r.example/a/b:1": failed to resolve reference "r.example/a/b:1": `
	for _, test := range []struct{ reason, message, want string }{
		{"ImagePullBackOff", pull + `failed to do request: Head "https://r.example/v2/a/b/manifests/1": dial tcp: lookup r.example on 10.0.0.1:53: no such host`, "host name of its registry does not exist"},
		{"ErrImagePull", pull + `failed to do request: Head "https://r.example/v2/a/b/manifests/1": dial tcp 10.0.0.1:443: connect: connection refused`, "its registry refuses connections"},
		{"ErrImagePull", pull + `r.example/a/b:1: not found`, "not found in its registry"},
		{"ErrImagePull", pull + `pull access denied, repository does not exist or may require authorization: server message: insufficient_scope: authorization failed`, "image_pull_secrets"},
		{"ErrImagePull", pull + `failed to authorize: failed to fetch oauth token: unexpected status: 401 Unauthorized`, "image_pull_secrets"},
		{"ErrImageNeverPull", `Container image "r.example/a/b:1" is not present with pull policy of Never`, "not on the node"},
		{"InvalidImageName", `Failed to apply default image tag "A": couldn't parse image name "A": invalid reference format: repository name (library/A) must be lowercase`, "its name is not valid"},
		{"ImagePullBackOff", "", "pulled: ImagePullBackOff"},
		{"ErrImagePull", pull + strings.Repeat("something new ", 30), "something new"},
	} {
		c := corev1.ContainerStatus{Image: "r.example/a/b:1", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: test.reason, Message: test.message}}}
		got := imageReason(&c)
		if !strings.HasPrefix(got, "image r.example/a/b:1 cannot be pulled: ") || !strings.Contains(got, test.want) || len(got) > 160 || strings.Contains(got, "https:") {
			t.Errorf(`%s: got %s, want HasPrefix(got, "image r.example/a/b:1 cannot be pulled: ") and Contains(got, test.want) and len(got) <= 160 and !Contains(got, "https:")`, test.message, got)
		}
	}
}
