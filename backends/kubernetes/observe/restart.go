package observe

import "torchx/runtime/spec"

// restartsAfter returns the restarts that followed failed attempts, which are sorted by
// time. It misses restarts of pods that were deleted before a client read them.
func (b *assessment) restartsAfter(past []spec.ReplicaStatus) (all []spec.Restart) {
	type key struct {
		spec.Replica
		attempt int
	}
	disrupted := map[key]bool{}
	units := map[string]*unit{} // of roles
	for _, u := range b.units {
		units[b.roles[u.role].name] = u
	}
	for _, r := range b.replicas {
		for i := range r.attempts {
			if a := &r.attempts[i]; r.wasDisrupted(a) {
				disrupted[key{r.key, a.status.Attempt}] = true
			}
		}
	}
	free := map[key]int{}       // attempts of a replica that did not count, since a start of the app
	freeApp := 0                // restarts of the app that did not count
	restarted := map[int]bool{} // attempts of the app after which all of it restarted
	for i := range past {
		f := &past[i]
		if f.State != spec.Failed {
			continue
		}
		one := spec.Replica{Role: f.Role, ID: f.ID}
		replicaRetries, stride := units[f.Role].retries, units[f.Role].stride()
		since := key{one, 0}
		if units[f.Role].spare > 0 {
			since.attempt = f.Attempt / stride
		}
		isFree, counted := disrupted[key{one, f.Attempt}], f.Attempt-free[since]
		appAttempt, replicaAttempt := f.Attempt/stride, counted%stride
		alone := b.seen.JobSet == nil && b.seen.Volcano == nil
		switch {
		case isFree && (alone || replicaRetries > 0):
			free[since]++
			r := spec.RestartOf(f, spec.RetryReplica, replicaAttempt, replicaRetries)
			r.Free = true
			all = append(all, r)
		case replicaAttempt < replicaRetries:
			all = append(all, spec.RestartOf(f, spec.RetryReplica, replicaAttempt+1, replicaRetries))
		case !restarted[appAttempt]:
			restarted[appAttempt] = true
			r := spec.RestartOf(f, spec.RetryApplication, max(1, appAttempt+1-freeApp-b.evictions), b.maxRestarts)
			if isFree {
				freeApp++
				r.Free, r.Retry = true, r.Retry-1
			}
			all = append(all, r)
		}
	}
	return all
}
