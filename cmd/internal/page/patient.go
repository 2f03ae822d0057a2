package page

import (
	"net/http"
	"time"
)

const (
	// patience is how long a client may take to receive a piece of an answer.
	patience = 20 * time.Second
	// piece is the size of a piece in bytes: slow connections receive one in time.
	piece = 64 << 10
)

// dropSlow closes the connections of clients that do not read what next answers.
func dropSlow(next http.Handler, patience time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := &patient{w, http.NewResponseController(w), patience}
		next.ServeHTTP(p, r)
		_ = p.conn.SetWriteDeadline(time.Now().Add(patience)) // the server sends what is left
	})
}

// patient is an answer that is written with a deadline for each piece.
type patient struct {
	http.ResponseWriter
	conn     *http.ResponseController
	patience time.Duration
}

// Unwrap gives a ResponseController access to the connection.
func (p *patient) Unwrap() http.ResponseWriter { return p.ResponseWriter }

func (p *patient) Write(data []byte) (n int, err error) {
	for first := true; err == nil && (first || n < len(data)); first = false {
		var sent int
		err = p.timed(func() (err error) {
			sent, err = p.ResponseWriter.Write(data[n:min(len(data), n+piece)])
			return err
		})
		n += sent
	}
	return n, err
}

// FlushError sends what was written. A ResponseController calls it.
func (p *patient) FlushError() error { return p.timed(p.conn.Flush) }

// timed calls send with a deadline. Between two calls there is none: over HTTP/2 it would end the
// answer, whether or not something is sent.
func (p *patient) timed(send func() error) error {
	if err := p.conn.SetWriteDeadline(time.Now().Add(p.patience)); err != nil {
		return err
	}
	if err := send(); err != nil {
		return err
	}
	return p.conn.SetWriteDeadline(time.Time{})
}
