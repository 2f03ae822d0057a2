package kube

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	_ "torchx/test/cleanenv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"torchx/runtime/backend"
)

// server starts an API server with TLS and returns a client for it.
func server(t *testing.T, answer http.HandlerFunc, warn func(string)) *Client {
	t.Helper()
	s := httptest.NewUnstartedServer(answer)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	return reach(t, s.URL, write(t, "ca", string(ca)), warn)
}

func reach(t *testing.T, url, ca string, warn func(string)) *Client {
	t.Helper()
	if ca != "" {
		ca = ", certificate-authority: " + ca
	}
	file := write(t, "config", fmt.Sprintf(`current-context: test
clusters: [{name: c, cluster: {server: %q%s}}]
users: [{name: me, user: {token: secret}}]
contexts: [{name: test, context: {cluster: c, user: me}}]
`, url, ca))
	a, err := Find(ClusterRef{Kubeconfig: file}, []string{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := a.Open(Config{UserAgent: "torchx/test", Warn: warn})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// refusal responds like a real API server (1.34).
func refusal(code int, reason, message, details string) http.HandlerFunc {
	if details == "" {
		details = "{}"
	}
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":%q,"reason":%q,"details":%s,"code":%d}`, message, reason, details, code)
	}
}

// TestExplain: each error is one line with what, where and what to do.
func TestExplain(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		answer http.HandlerFunc
		class  error
		want   []string
	}{
		"credentials": {
			refusal(401, "Unauthorized", "Unauthorized", ""), backend.ErrUnavailable,
			[]string{"context test", "credentials of user me", "expired", "log in again"},
		},
		"an object too large for etcd": {
			refusal(500, "", "etcdserver: request is too large", ""), ErrTooLarge,
			[]string{"context test", "refuses the object", "too large for its store"},
		},
		"an object too large to send to etcd": {
			refusal(500, "", "rpc error: code = ResourceExhausted desc = trying to send message larger than max (2356549 vs. 2097152)", ""), ErrRefused,
			[]string{"refuses the object", "2356549"},
		},
		"rights": {
			refusal(403, "Forbidden", `jobs.batch.volcano.sh is forbidden: User "jane" cannot create resource "jobs" in API group "batch.volcano.sh" in the namespace "team"`, `{"group":"batch.volcano.sh","kind":"jobs"}`), ErrForbidden,
			[]string{"jane may not create jobs.batch.volcano.sh in namespace team", "role"},
		},
		"rights on a path": {
			refusal(403, "Forbidden", `forbidden: User "system:anonymous" cannot get path "/apis"`, ""), ErrForbidden,
			[]string{"system:anonymous may not get /apis"},
		},
		"quota": {
			refusal(403, "Forbidden", `pods "p" is forbidden: exceeded quota: few, requested: pods=1, used: pods=2, limited: pods=2`, ""), ErrRefused,
			[]string{"exceeded quota: few", "limited: pods=2"},
		},
		"namespace": {
			refusal(404, "NotFound", `namespaces "nope" not found`, `{"name":"nope","kind":"namespaces"}`), backend.ErrNotFound,
			[]string{"no namespace nope", "kubectl --context test create namespace nope"},
		},
		"object": {
			refusal(404, "NotFound", `jobs.batch "x" not found`, `{"name":"x","group":"batch","kind":"jobs"}`), backend.ErrNotFound,
			[]string{`jobs.batch "x" not found`},
		},
		"kind": {
			refusal(404, "NotFound", "the server could not find the requested resource", ""), backend.ErrNotFound,
			[]string{"not installed"},
		},
		"taken": {
			refusal(409, "AlreadyExists", `jobs.batch "x" already exists`, ""), backend.ErrExists,
			[]string{`"x" already exists`},
		},
		"invalid": {
			refusal(422, "Invalid", "Job.batch \"x\" is invalid: [a: b,\n c: d]", ""), ErrRefused,
			[]string{"[a: b, c: d]"},
		},
		"webhook": {
			refusal(400, "BadRequest", `admission webhook "validatejob.volcano.sh" denied the request: no`, ""), ErrRefused,
			[]string{`"validatejob.volcano.sh" denied`},
		},
		"webhook is away": {
			refusal(500, "InternalError", `Internal error occurred: failed calling webhook "validatejob.volcano.sh": Post "https://x": EOF`, ""), backend.ErrUnavailable,
			[]string{"a webhook of the cluster does not respond", "validatejob.volcano.sh"},
		},
		"too old": {
			refusal(410, "Expired", "The resourceVersion for the provided watch is too old.", ""), nil,
			[]string{"too old"},
		},
		"no status": {
			func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "bad gateway", http.StatusBadGateway) }, backend.ErrUnavailable,
			[]string{"failed"},
		},
		"no JSON": {
			func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>login</html>") }, backend.ErrUnavailable,
			[]string{"context test"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := server(t, tt.answer, nil)
			err := c.Get(t.Context(), Pods, "n", "p", &corev1.Pod{})
			wantError(t, err, tt.class, tt.want...)
			if name == "too old" && !apierrors.IsResourceExpired(err) {
				t.Errorf("got %v, want an error that wraps the API's", err)
			}
		})
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0) // clients do not trust its certificate
	secure.StartTLS()
	t.Cleanup(secure.Close)
	gone := httptest.NewServer(nil)
	gone.Close()
	for name, tt := range map[string]struct{ url, want string }{
		"refused":   {gone.URL, "nothing listens"},
		"name":      {"https://nowhere.invalid:6443", "host name nowhere.invalid does not resolve"},
		"authority": {secure.URL, "certificate of an unknown authority"},
		"no TLS":    {strings.Replace(plain.URL, "http:", "https:", 1), "does not use TLS"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := reach(t, tt.url, "", nil).Groups(t.Context())
			wantError(t, err, backend.ErrUnavailable, "context test", tt.url, tt.want)
		})
	}
	t.Run("late", func(t *testing.T) {
		t.Parallel()
		c := server(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, nil)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		wantError(t, c.GetPath(ctx, "/apis", nil), backend.ErrUnavailable, "does not respond")
	})
	t.Run("cancelled", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		c := server(t, func(_ http.ResponseWriter, r *http.Request) { cancel(); <-r.Context().Done() }, nil)
		if err := c.GetPath(ctx, "/apis", nil); !errors.Is(err, context.Canceled) || errors.Is(err, backend.ErrUnavailable) {
			t.Error(err)
		}
	})
}

func TestPages(t *testing.T) {
	t.Parallel()
	var requests []string
	c := server(t, func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		requests = append(requests, r.URL.Path+" "+q.Get("labelSelector")+" "+q.Get("continue"))
		next, name := "", "b"
		if q.Get("continue") == "" {
			next, name = "more", "a"
		}
		w.Header().Set("Warning", `299 - "old API"`)
		fmt.Fprintf(w, `{"metadata":{"resourceVersion":"7","continue":%q},"items":[{"metadata":{"name":%q}}]}`, next, name)
	}, func(line string) { requests = append(requests, "warning "+line) })
	items, version, err := ListVersion[corev1.Pod](t.Context(), c, Pods, "n", ListOptions{LabelSelector: "a=b"})
	if err != nil || len(items) != 2 || items[1].Name != "b" || version != "7" {
		t.Fatalf("got %+v of version %s, %v, want 2 of version 7", items, version, err)
	}
	want := "/api/v1/namespaces/n/pods a=b ;warning old API;/api/v1/namespaces/n/pods a=b more;warning old API"
	if got := strings.Join(requests, ";"); got != want {
		t.Errorf("got requests %q, want %q", got, want)
	}
}

func TestWatch(t *testing.T) {
	t.Parallel()
	c := server(t, func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		if q.Get("watch") != "true" || q.Get("resourceVersion") != "5" || q.Get("allowWatchBookmarks") != "true" {
			t.Errorf(`got %s, want q.Get("watch") == "true" and q.Get("resourceVersion") == "5" and q.Get("allowWatchBookmarks") == "true"`, r.URL)
		}
		fmt.Fprint(w, `{"type":"ADDED","object":{"metadata":{"name":"a"}}}
{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9"}}}
{"type":"ERROR","object":{"kind":"Status","status":"Failure","code":410,"reason":"Expired","message":"too old"}}`)
	}, nil)
	w, err := Watch[corev1.Pod](t.Context(), c, Pods, "n", ListOptions{}, "5")
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for _, want := range []string{Added + "a", Bookmark} {
		if e, err := w.Next(); err != nil || e.Type+e.Object.Name != want {
			t.Fatalf("got %v, %v, want %s", e, err, want)
		}
	}
	if _, err := w.Next(); !apierrors.IsResourceExpired(err) {
		t.Errorf("got %v, want an expired version", err)
	}
	if _, err := w.Next(); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}

// TestWrites checks the requests of a dry run, a merge patch, and a deletion by UID.
func TestWrites(t *testing.T) {
	t.Parallel()
	var got []string
	c := server(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var v map[string]any
		_ = json.Unmarshal(body, &v)
		delete(v, "apiVersion")
		delete(v, "kind")
		text, _ := json.Marshal(v)
		got = append(got, fmt.Sprintln(r.Method, r.URL, r.Header.Get("Content-Type"), string(text)))
		fmt.Fprint(w, `{"metadata":{"uid":"u"}}`)
	}, nil)
	none := int64(0)
	var created Object
	if err := errors.Join(
		c.Create(t.Context(), JobSets, "n", map[string]any{"a": 1}, true, &created),
		c.Patch(t.Context(), VolcanoJobs, "n", "j", "status", map[string]any{"b": nil}),
		c.Delete(t.Context(), Jobs, "n", "j", "u1", &none),
	); err != nil || created.UID != "u" {
		t.Fatal(err, created)
	}
	want := []string{
		"POST /apis/jobset.x-k8s.io/v1alpha2/namespaces/n/jobsets?dryRun=All&fieldValidation=Strict application/json {\"a\":1}\n",
		"PATCH /apis/batch.volcano.sh/v1alpha1/namespaces/n/jobs/j/status application/merge-patch+json {\"b\":null}\n",
		`DELETE /apis/batch/v1/namespaces/n/jobs/j application/json {"gracePeriodSeconds":0,"preconditions":{"uid":"u1"},"propagationPolicy":"Background"}` + "\n",
	}
	for i := range want {
		if i >= len(got) || got[i] != want[i] {
			t.Errorf("got requests %q, want %q", got, want[i])
		}
	}
}

func TestOf(t *testing.T) {
	t.Parallel()
	for in, want := range map[[2]string]Resource{
		{"v1", "Service"}:                         Services,
		{"batch/v1", "Job"}:                       Jobs,
		{"jobset.x-k8s.io/v1alpha2", "JobSet"}:    JobSets,
		{"networking.k8s.io/v1", "NetworkPolicy"}: {"networking.k8s.io", "v1", "networkpolicies"},
		{"networking.k8s.io/v1", "Ingress"}:       {"networking.k8s.io", "v1", "ingresses"},
		{"x/v1", "Key"}:                           {"x", "v1", "keys"},
	} {
		if got := Of(in[0], in[1]); got != want {
			t.Errorf("Of(%v) = %v, want %v", in, got, want)
		}
	}
}

// TestLimits: only the server limits requests; one that it refuses for now is sent again.
func TestLimits(t *testing.T) {
	t.Parallel()
	var requests atomic.Int32
	c := server(t, func(w http.ResponseWriter, _ *http.Request) {
		if requests.Add(1) == 1 {
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}}`)
	}, nil)
	if limiter := c.rest().GetRateLimiter(); limiter != nil {
		t.Errorf("got a limit of %v requests a second, want none", limiter.QPS())
	}
	var pod corev1.Pod
	if err := c.Get(t.Context(), Pods, "default", "a", &pod); err != nil || pod.Name != "a" || requests.Load() != 2 {
		t.Errorf("got pod %q, %v after %d requests, want pod a after 2", pod.Name, err, requests.Load())
	}
}
