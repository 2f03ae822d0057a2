package api

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

// Guard admits requests: it checks the token, key or cookie, the host and the origin, and tells the
// browser what the page may do.
//
// A token in the URL of a page becomes a cookie and a key. Browsers send cookies to all ports of a
// host, where other users may listen, so the cookie opens only the frame of the page, which has no
// data. The key arrives in the fragment of the URL, and the page keeps it in the storage of its
// origin, which includes the port. Its scripts send the key with each request to the API. Cookie
// and key end with the token, which is new for each server, and do not reveal it.
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

// Key returns what the page sends to the API in place of the token.
func (g *Guard) Key() string { return g.derived("key") }

// opensAPI reports whether a text is the token or the key.
func (g *Guard) opensAPI(text string) bool { return equal(text, g.Token) || equal(text, g.Key()) }

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
			refuse(w, http.StatusForbidden, "the request is for another host than this server")
			return
		}
		if !g.isOrigin(r) {
			refuse(w, http.StatusForbidden, "the request comes from another page")
			return
		}
		switch {
		case !g.authenticate(w, r):
			refuse(w, http.StatusUnauthorized, "open the URL that `torchx ui` printed: the token is missing or of another server")
		case isRead(r.Method):
			if q := r.URL.Query(); q.Has("token") && !isAPI(r) {
				path := withoutToken(r.URL)
				if equal(q.Get("token"), g.Token) { // a cookie beside another token must not bring the key
					path += "#key=" + g.Key()
				}
				leave(w, r, path)
				return
			}
			next.ServeHTTP(w, r)
		case g.ReadOnly:
			refuse(w, http.StatusForbidden, "this page is read-only")
		default:
			next.ServeHTTP(w, r)
		}
	})
}

func isRead(method string) bool { return method == http.MethodGet || method == http.MethodHead }

func isAPI(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/api/") }

// authenticate reports whether a request may proceed. The API ignores cookies.
func (g *Guard) authenticate(w http.ResponseWriter, r *http.Request) bool {
	if token, found := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); found {
		return g.opensAPI(token)
	}
	token := r.URL.Query().Get("token")
	if !isRead(r.Method) {
		return false
	}
	if isAPI(r) {
		return g.opensAPI(token)
	}
	session := g.derived("session")
	if equal(token, g.Token) {
		http.SetCookie(w, &http.Cookie{
			Name: g.Cookie, Value: session, Path: "/", HttpOnly: true, Secure: g.TLS, SameSite: http.SameSiteStrictMode,
		})
		return true
	}
	return slices.ContainsFunc(r.CookiesNamed(g.Cookie), func(c *http.Cookie) bool { return equal(c.Value, session) })
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
	if origins := r.Header["Origin"]; len(origins) > 0 &&
		(len(origins) > 1 || !strings.EqualFold(origins[0], scheme+r.Host)) {
		return false
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return true
	}
	// A link from another page may open this one. Its first request has no cookie (SameSite).
	return isRead(r.Method) && r.Header.Get("Sec-Fetch-Mode") == "navigate" && !isAPI(r)
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
	if site := r.Header.Get("Sec-Fetch-Site"); site == "" || site == "none" ||
		site == "same-origin" {
		http.Redirect(w, r, path, http.StatusSeeOther)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	path = html.EscapeString(path)
	_, _ = fmt.Fprintf(w, `<!doctype html><meta http-equiv="refresh" content="0; url='%s'"><a href="%s">torchx</a>`+"\n", path, path) // the client may be gone
}

// refuse answers with an error in the form of the API.
func refuse(w http.ResponseWriter, status int, why string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": why}) // the client may be gone
}
