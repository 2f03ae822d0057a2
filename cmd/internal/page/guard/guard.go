// Package guard admits requests to the page: it checks the token or the cookie, the host and the
// origin, and tells the browser what the page may do.
//
// A token in the URL becomes a cookie. The cookie is not the token, so that a copy of one does not
// reveal the other, and pages of other servers on the same host name have their own.
package guard

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Header of a POST that a cookie authenticates.
const Header = "X-Torchx-Csrf"

// Guard admits requests.
type Guard struct {
	Token    string
	Cookie   string   // name of the cookie
	Hosts    []string // names of this server, without ports; loopback names are always allowed
	TLS      bool
	ReadOnly bool
}

// NewToken returns a random token of 256 bits.
func NewToken() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

func (g *Guard) derived(what string) string {
	m := hmac.New(sha256.New, []byte(g.Token))
	m.Write([]byte(what))
	return hex.EncodeToString(m.Sum(nil))
}

// CSRF returns the value of Header.
func (g *Guard) CSRF() string { return g.derived("csrf") }

func equal(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// policy allows nothing that does not come from this server.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// Wrap returns a handler that admits requests to next.
func (g *Guard) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		if !g.knowsHost(r.Host) {
			Refuse(w, http.StatusForbidden, "the request is for another host than this server")
			return
		}
		if !g.isOrigin(r) {
			Refuse(w, http.StatusForbidden, "the request comes from another page")
			return
		}
		byCookie, ok := g.authenticate(w, r)
		switch {
		case !ok:
			Refuse(w, http.StatusUnauthorized, "open the URL that `torchx ui` printed: this request has no token")
		case isRead(r.Method):
			if r.URL.Query().Has("token") && !strings.HasPrefix(r.URL.Path, "/api/") {
				leave(w, r, withoutToken(r.URL))
				return
			}
			next.ServeHTTP(w, r)
		case g.ReadOnly:
			Refuse(w, http.StatusForbidden, "this page is read-only")
		case byCookie && !equal(r.Header.Get(Header), g.CSRF()):
			Refuse(w, http.StatusForbidden, "the request lacks the header "+Header)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

func isRead(method string) bool { return method == http.MethodGet || method == http.MethodHead }

// authenticate reports whether a request may proceed, and whether only its cookie says so.
func (g *Guard) authenticate(w http.ResponseWriter, r *http.Request) (byCookie, ok bool) {
	if token, found := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); found {
		return false, equal(token, g.Token)
	}
	session := g.derived("session")
	if token := r.URL.Query().Get("token"); token != "" && isRead(r.Method) && equal(token, g.Token) {
		http.SetCookie(w, &http.Cookie{
			Name: g.Cookie, Value: session, Path: "/", HttpOnly: true, Secure: g.TLS, SameSite: http.SameSiteStrictMode,
		})
		return true, true
	}
	for _, c := range r.CookiesNamed(g.Cookie) {
		if equal(c.Value, session) {
			return true, true
		}
	}
	return false, false
}

// knowsHost reports whether a Host names this server. A page of another site whose name was made
// to resolve to this machine has that name as its host.
func (g *Guard) knowsHost(hostPort string) bool {
	host := hostPort
	if h, _, err := net.SplitHostPort(hostPort); err == nil {
		host = h
	}
	host = strings.Trim(host, "[]")
	if ip := net.ParseIP(host); ip != nil {
		return ip.IsLoopback() || slices.Contains(g.Hosts, ip.String())
	}
	return strings.EqualFold(host, "localhost") || slices.ContainsFunc(g.Hosts, func(known string) bool { return strings.EqualFold(host, known) })
}

// isOrigin reports whether a request comes from a page of this server, or from none.
func (g *Guard) isOrigin(r *http.Request) bool {
	scheme := "http://"
	if g.TLS {
		scheme = "https://"
	}
	if origins := r.Header["Origin"]; len(origins) > 0 && (len(origins) > 1 || !strings.EqualFold(origins[0], scheme+r.Host)) {
		return false
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return true
	}
	// A link from another page may open this one. Its first request has no cookie (SameSite).
	return isRead(r.Method) && r.Header.Get("Sec-Fetch-Mode") == "navigate" && !strings.HasPrefix(r.URL.Path, "/api/")
}

// withoutToken returns the path and the other parameters of a URL.
func withoutToken(u *url.URL) string {
	q := u.Query()
	q.Del("token")
	q.Del("open") // of a redirect file
	// One slash at the start: two would name another host.
	clean := url.URL{Path: "/" + strings.TrimLeft(u.Path, `/\`), RawQuery: q.Encode()}
	return clean.String()
}

// leave sends the browser to a path. From a link in another page, such as that of a web terminal, a
// redirect would not send the new cookie, as it is SameSite=Strict; a page of this server does.
func leave(w http.ResponseWriter, r *http.Request, path string) {
	if site := r.Header.Get("Sec-Fetch-Site"); site == "" || site == "none" || site == "same-origin" {
		http.Redirect(w, r, path, http.StatusSeeOther)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	path = html.EscapeString(path)
	_, _ = fmt.Fprintf(w, `<!doctype html><meta http-equiv="refresh" content="0; url='%s'"><a href="%s">torchx</a>`+"\n", path, path) // the client may be gone
}

// Refuse answers with an error in the form of the API.
func Refuse(w http.ResponseWriter, status int, why string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": why}) // the client may be gone
}
