package observe

import "torchx/runtime/spec"

// restartsAfter returns the restarts that followed failed attempts, which are sorted by
// time. Those of pods that no client saw before the cluster deleted them are missing.
func (b *assessment) restartsAfter(past []spec.ReplicaStatus) (all []spec.Restart) {
	retries := map[string]int{} // of each replica of a role
	for _, u := range b.units {
		retries[b.roles[u.role].name] = u.retries
	}
	begun := map[int]bool{} // attempts of the app that a restart of it followed
	for i := range past {
		f := &past[i]
		if f.State != spec.Failed {
			continue
		}
		own := retries[f.Role]
		of, nth := f.Attempt/(own+1), f.Attempt%(own+1) // attempt of the app, and of the replica in it
		switch {
		case nth < own:
			all = append(all, spec.RestartOf(f, spec.RetryReplica, nth+1, own))
		case !begun[of]:
			begun[of] = true
			all = append(all, spec.RestartOf(f, spec.RetryApplication, of+1, b.maxRestarts))
		}
	}
	return all
}
