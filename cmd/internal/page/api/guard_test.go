package api

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

const host = "127.0.0.1:8080"

func ask(t *testing.T, g *Guard, method, target string, change func(r *http.Request)) *http.Response {
	t.Helper()
	next := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	r := httptest.NewRequestWithContext(t.Context(), method, target, http.NoBody)
	r.Host = host
	if change != nil {
		change(r)
	}
	w := httptest.NewRecorder()
	g.Wrap(next).ServeHTTP(w, r)
	return w.Result()
}

func TestWrap(t *testing.T) {
	t.Parallel()
	g := &Guard{Token: NewToken(), Cookie: "torchx-8080"}
	withCookie := func(r *http.Request) { r.AddCookie(&http.Cookie{Name: g.Cookie, Value: g.derived("session")}) }
	set := func(header, value string) func(*http.Request) {
		return func(r *http.Request) {
			withCookie(r)
			r.Header.Set(header, value)
		}
	}
	hosted := func(name string) func(*http.Request) {
		return func(r *http.Request) {
			withCookie(r)
			r.Host = name
		}
	}
	const passed = http.StatusTeapot
	tests := []struct {
		name, method, target string
		change               func(*http.Request)
		want                 int
	}{
		{"no token", "GET", "/", nil, 401},
		{"wrong token", "GET", "/?token=x", nil, 401},
		{"empty token", "GET", "/?token=", nil, 401},
		{"token of a page", "GET", "/runs/a?token=" + g.Token, nil, 303},
		{"token of the API", "GET", "/api/v1/runs?token=" + g.Token, nil, passed},
		{"token of a POST", "POST", "/api/v1/runs/a/cancel?token=" + g.Token, nil, 401},
		{"cookie", "GET", "/", withCookie, passed},
		{"the token is not the cookie", "GET", "/", func(r *http.Request) { r.AddCookie(&http.Cookie{Name: g.Cookie, Value: g.Token}) }, 401},
		{"cookie of another port", "GET", "/", func(r *http.Request) { r.AddCookie(&http.Cookie{Name: "torchx-1", Value: g.derived("session")}) }, 401},
		{"bearer", "GET", "/api/v1/runs", func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+g.Token) }, passed},
		{"bearer, POST", "POST", "/api/v1/runs/a/cancel", func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+g.Token) }, passed},
		{"wrong bearer with a cookie", "GET", "/", set("Authorization", "Bearer x"), 401},
		{"POST with a cookie", "POST", "/api/v1/runs/a/cancel", withCookie, 401},
		{"DELETE with a cookie", "DELETE", "/api/v1/runs/a", withCookie, 401},
		{"API with a cookie", "GET", "/api/v1/session", withCookie, 401},
		{"stream with a cookie", "GET", "/api/v1/stream?watch=runs", withCookie, 401},
		{"download with a cookie", "GET", "/api/v1/runs/a/log/download", withCookie, 401},
		{"API with the value of the cookie", "GET", "/api/v1/runs?token=" + g.derived("session"), nil, 401},
		{"POST with the key", "POST", "/api/v1/runs/a/cancel", set("Authorization", "Bearer "+g.Key()), passed},
		{"API with the key", "GET", "/api/v1/runs", func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+g.Key()) }, passed},
		{"stream with the key", "GET", "/api/v1/stream?token=" + g.Key(), nil, passed},
		{"POST with the key in its URL", "POST", "/api/v1/runs/a/cancel?token=" + g.Key(), withCookie, 401},
		{"page with the key in its URL", "GET", "/?token=" + g.Key(), nil, 401},
		{"key of an earlier server", "GET", "/api/v1/runs?token=" + (&Guard{Token: NewToken()}).Key(), withCookie, 401},
		{"foreign host", "GET", "/", hosted("evil.example:8080"), 403},
		{"foreign host that begins so", "GET", "/", hosted("127.0.0.1.evil.example"), 403},
		{"no host", "GET", "/", hosted(""), 403},
		{"localhost", "GET", "/", hosted("localhost:9000"), passed},
		{"IPv6", "GET", "/", hosted("[::1]:8080"), passed},
		{"another address", "GET", "/", hosted("10.0.0.1:8080"), 403},
		{"own origin", "GET", "/", set("Origin", "http://"+host), passed},
		{"foreign origin", "GET", "/", set("Origin", "http://evil.example"), 403},
		{"origin of another port", "GET", "/", set("Origin", "http://127.0.0.1:81"), 403},
		{"origin of another scheme", "GET", "/", set("Origin", "https://"+host), 403},
		{"no origin", "GET", "/", set("Origin", "null"), 403},
		{"cross-site request", "GET", "/api/v1/runs", set("Sec-Fetch-Site", "cross-site"), 403},
		{"cross-site image", "GET", "/", set("Sec-Fetch-Site", "cross-site"), 403},
		{"request of another port", "GET", "/api/v1/runs", set("Sec-Fetch-Site", "same-site"), 403},
		{"own request", "GET", "/", set("Sec-Fetch-Site", "same-origin"), passed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			answer := ask(t, g, tt.method, tt.target, tt.change)
			defer answer.Body.Close()
			if answer.StatusCode != tt.want {
				t.Errorf("got status %d, want %d", answer.StatusCode, tt.want)
			}
			for name, want := range map[string]string{
				"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer", "Content-Security-Policy": policy,
			} {
				if got := answer.Header.Get(name); got != want {
					t.Errorf("%s: got %q, want %q", name, got, want)
				}
			}
		})
	}
}

func TestPolicyHasNoInlineScripts(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"unsafe", "*", "http:", "https:"} {
		if strings.Contains(policy, word) {
			t.Errorf("got %q, want a policy without %q", policy, word)
		}
	}
}

func TestReadOnly(t *testing.T) {
	t.Parallel()
	g := &Guard{Token: NewToken(), Cookie: "c", ReadOnly: true}
	bearer := func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+g.Token) }
	for method, want := range map[string]int{http.MethodGet: http.StatusTeapot, http.MethodPost: http.StatusForbidden, http.MethodPut: http.StatusForbidden} {
		answer := ask(t, g, method, "/api/v1/runs", bearer)
		defer answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("%s: got status %d, want %d", method, answer.StatusCode, want)
		}
	}
}

func TestTokenBecomesCookie(t *testing.T) {
	t.Parallel()
	g := &Guard{Token: NewToken(), Cookie: "torchx-8080"}
	for target, want := range map[string]string{
		"/runs/a?backend=local&token=": "/runs/a?backend=local", "/?token=": "/", "//evil.example/?token=": "/evil.example/", `/\evil.example/?token=`: "/evil.example/",
	} {
		answer := ask(t, g, http.MethodGet, "http://"+host+target+g.Token, nil)
		defer answer.Body.Close()
		if got, want := answer.Header.Get("Location"), want+"#key="+g.Key(); got != want {
			t.Errorf("%s: got location %q, want %q", target, got, want)
		}
		cookies := answer.Cookies()
		if len(cookies) != 1 || !cookies[0].HttpOnly || cookies[0].SameSite != http.SameSiteStrictMode || cookies[0].Value == g.Token {
			t.Errorf("%s: got cookies %v, want one that is HttpOnly and SameSite=Strict, and not the token", target, cookies)
		}
	}
}

// TestCookieDoesNotBecomeKey: only the token of this server brings the key, whatever else the request has.
func TestCookieDoesNotBecomeKey(t *testing.T) {
	t.Parallel()
	g := &Guard{Token: NewToken(), Cookie: "torchx-8080"}
	for _, token := range []string{"", "x", g.Key(), g.derived("session"), "x&token=" + g.Token} {
		for _, site := range []string{"none", "cross-site"} {
			answer := ask(t, g, http.MethodGet, "/runs/a?token="+token, func(r *http.Request) {
				r.AddCookie(&http.Cookie{Name: g.Cookie, Value: g.derived("session")})
				r.Header.Set("Sec-Fetch-Site", site)
				r.Header.Set("Sec-Fetch-Mode", "navigate")
			})
			defer answer.Body.Close()
			text, err := io.ReadAll(answer.Body)
			if err != nil {
				t.Fatal(err)
			}
			if got := answer.Header.Get("Location") + string(text); strings.Contains(got, g.Key()) {
				t.Errorf("token %q from site %q: got the key: %s", token, site, got)
			}
		}
	}
}

func TestLinkOfAnotherPage(t *testing.T) {
	t.Parallel()
	g := &Guard{Token: NewToken(), Cookie: "c"}
	answer := ask(t, g, http.MethodGet, "/runs/a?token="+g.Token, func(r *http.Request) {
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		r.Header.Set("Sec-Fetch-Mode", "navigate")
	})
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK || len(answer.Cookies()) != 1 {
		t.Errorf("got status %d and %d cookies, want a page with one", answer.StatusCode, len(answer.Cookies()))
	}
}

func TestHostsOfTheCertificate(t *testing.T) {
	t.Parallel()
	g := &Guard{Token: NewToken(), Cookie: "c", TLS: true, Hosts: []string{"node7.example", "10.0.0.7"}}
	for name, want := range map[string]int{"node7.example": 418, "NODE7.example:443": 418, "10.0.0.7:8443": 418, "node8.example": 403, "10.0.0.8": 403} {
		answer := ask(t, g, http.MethodGet, "/", func(r *http.Request) {
			r.Host = name
			r.Header.Set("Origin", "https://"+name)
			r.Header.Set("Authorization", "Bearer "+g.Token)
		})
		defer answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("%s: got status %d, want %d", name, answer.StatusCode, want)
		}
	}
}
