package observe

import "torchx/runtime/spec"

// restartsAfter returns the restarts that followed failed attempts, which are sorted by
// time. It misses restarts of pods that were deleted before a client read them.
func (b *assessment) restartsAfter(past []spec.ReplicaStatus) (all []spec.Restart) {
	retries := map[string]int{} // of each replica of a role
	for _, u := range b.units {
		retries[b.roles[u.role].name] = u.retries
	}
	restarted := map[int]bool{} // attempts of the app after which all of it restarted
	for i := range past {
		f := &past[i]
		if f.State != spec.Failed {
			continue
		}
		replicaRetries := retries[f.Role]
		appAttempt, replicaAttempt := f.Attempt/(replicaRetries+1), f.Attempt%(replicaRetries+1)
		switch {
		case replicaAttempt < replicaRetries:
			all = append(all, spec.RestartOf(f, spec.RetryReplica, replicaAttempt+1, replicaRetries))
		case !restarted[appAttempt]:
			restarted[appAttempt] = true
			all = append(all, spec.RestartOf(f, spec.RetryApplication, appAttempt+1, b.maxRestarts))
		}
	}
	return all
}
