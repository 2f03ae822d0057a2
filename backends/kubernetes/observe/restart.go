package observe

import "torchx/runtime/spec"

// restartsAfter returns the restarts that followed failed attempts, which are sorted by
// time. It misses restarts of pods that were deleted before a client read them.
func (b *assessment) restartsAfter(past []spec.ReplicaStatus) (all []spec.Restart) {
	type key struct {
		spec.Replica
		attempt int
	}
	disrupted, alone := map[key]bool{}, map[string]bool{}
	retries := map[string]int{} // of each replica of a role
	for _, u := range b.units {
		retries[b.roles[u.role].name], alone[b.roles[u.role].name] = u.retries, u.disruptions.alone
	}
	for _, r := range b.replicas {
		for i := range r.attempts {
			if a := &r.attempts[i]; r.wasDisrupted(a) && (b.seen.Volcano == nil || b.maxRestarts == 0) { // Volcano counts all
				disrupted[key{r.key, a.status.Attempt}] = true
			}
		}
	}
	free := map[spec.Replica]int{} // attempts of a replica that did not count
	freeApp := 0                   // restarts of the app that did not count
	restarted := map[int]bool{}    // attempts of the app after which all of it restarted
	for i := range past {
		f := &past[i]
		if f.State != spec.Failed {
			continue
		}
		one := spec.Replica{Role: f.Role, ID: f.ID}
		replicaRetries, isFree := retries[f.Role], disrupted[key{one, f.Attempt}]
		counted := f.Attempt - free[one]
		appAttempt, replicaAttempt := f.Attempt/(replicaRetries+1), counted%(replicaRetries+1)
		switch {
		case isFree && alone[f.Role]:
			free[one]++
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
