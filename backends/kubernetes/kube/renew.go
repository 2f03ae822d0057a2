package kube

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"k8s.io/client-go/rest"
)

// renewal replaces the connection of a client that outlives its credentials: an app runs for
// weeks, and a login or a moved cluster writes the kubeconfig anew.
type renewal struct {
	with Config
	now  atomic.Pointer[connection]
	mu   sync.Mutex // held while now is replaced
}

func (r *renewal) rest() rest.Interface { return r.now.Load().rest }

// renew connects anew if the kubeconfig has changed since it was read. It is called after a failure:
// what works stays as it is. A file that cannot be used now may be written at this moment.
func (r *renewal) renew() {
	r.mu.Lock()
	defer r.mu.Unlock()
	old := r.now.Load()
	if r.with.Renew == nil || !old.hasChanged() {
		return
	}
	a, err := r.with.Renew()
	if err != nil {
		return
	}
	if next, err := a.connect(r.with); err == nil {
		r.now.Store(next)
		old.http.CloseIdleConnections()
	}
}

// hasChanged reports whether a kubeconfig is another one than when it was read. client-go itself
// reads the tokens, certificates and programs anew that it names.
func (a *Access) hasChanged() bool {
	return !slices.Equal(a.stamps, stampsOf(filepath.SplitList(a.Kubeconfig)))
}

// stampsOf returns what tells the contents of files apart; "" for one that cannot be read.
func stampsOf(files []string) []string {
	stamps := make([]string, len(files))
	for i, f := range files {
		if info, err := os.Stat(f); err == nil {
			stamps[i] = fmt.Sprint(info.ModTime().UnixNano(), info.Size())
		}
	}
	return stamps
}
