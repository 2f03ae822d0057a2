package onend

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"
)

// backoff are the pauses before the second try of a POST and the further ones.
var backoff = []time.Duration{time.Second, 4 * time.Second, 16 * time.Second}

const (
	// postTimeout bounds one try.
	postTimeout = 15 * time.Second
	// maxAnswer bounds what is read of an answer, in bytes.
	maxAnswer = 64 << 10
)

// isLoopback reports whether a host is this machine.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// errRedirect is the answer of a server that names another URL.
var errRedirect = errors.New("torchx does not follow redirects: use the URL of the receiver itself")

// stopAtRedirect returns the redirect to the caller: the user consented to one URL, and a server
// could name another host, a service of this machine or network, or a URL without encryption.
func stopAtRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// post sends the summary to a URL and tries again after failures.
func (p *performer) post(target string) error {
	body, err := p.json()
	if err != nil {
		return err
	}
	client := &http.Client{Timeout: postTimeout, CheckRedirect: stopAtRedirect}
	for try := 0; ; try++ {
		err := postOnce(client, target, body)
		if err == nil || errors.Is(err, errRedirect) {
			return err
		}
		if try == len(p.backoff) {
			return fmt.Errorf("not delivered in %d tries: %w", try+1, err)
		}
		time.Sleep(p.backoff[try])
	}
}

// postOnce returns an error without the URL, which may contain secrets.
func postOnce(client *http.Client, target string, body []byte) error {
	req, err := http.NewRequest(http.MethodPost, target, bytes.NewReader(body)) //nolint:noctx // the client has a time limit
	if err != nil {
		return errors.New("not a valid URL")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "torchx")
	res, err := client.Do(req)
	if at, ok := errors.AsType[*url.Error](err); ok {
		return at.Err
	}
	if err != nil {
		return err
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, maxAnswer)) // what it says does not matter
	if res.StatusCode >= 300 && res.StatusCode <= 399 {
		return fmt.Errorf("the server answered %s, %w", res.Status, errRedirect)
	}
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return fmt.Errorf("the server answered %s", res.Status)
	}
	return nil
}
