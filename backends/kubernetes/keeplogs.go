package kubernetes

import (
	"context"
	"strings"

	"torchx/backends/kubernetes/archive"
	"torchx/backends/kubernetes/manifest"
)

// keeper archives an app's logs beside somebody who waits for its end, by the watch
// that this one has: clusters delete pods, and whoever waits wants to read on.
type keeper struct {
	b      *Backend
	t      *target
	seen   *archive.Replay    // nil before the first look
	follow *archive.Following // nil where an agent does it
}

// keepLogs begins with the first look.
func (b *Backend) keepLogs(t *target) *keeper { return &keeper{b: b, t: t} }

// see takes what is seen of the app now.
func (k *keeper) see(s *archive.Snapshot) {
	if k.seen != nil {
		k.seen.Put(s)
		return
	}
	k.seen = archive.NewReplay(&logCluster{backend: k.b, id: k.t.id}, s)
	dir := archive.Dir(k.b.config.Home, k.t.id)
	if archive.Followed(dir) {
		return
	}
	app := archive.New(archive.Config{
		Backend: manifest.Name, ID: k.t.id, Dir: dir, Cluster: k.seen, Positions: k.b.config.Positions, Warn: k.b.config.Warn,
	})
	k.follow = app.Follow(s.Status)
}

// end takes what is left of an app that has ended, and says what is missing. err is why
// nobody waits any more, nil at the app's end.
func (k *keeper) end(ctx context.Context, err error) {
	if k.follow == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, saveTime)
	defer cancel()
	if err != nil {
		cancel()
	}
	missing, why := k.follow.End(ctx)
	if err != nil || len(missing) == 0 {
		return
	}
	reason := "the cluster does not send all of it within " + saveTime.String()
	if why != nil {
		reason, _, _ = strings.Cut(why.Error(), "\n")
	}
	k.b.warn("logs of %s of %s are not all archived: %s", replicasText(missing), manifest.Handle(k.t.id), reason)
}
