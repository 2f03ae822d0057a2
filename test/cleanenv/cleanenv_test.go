package cleanenv

import "testing"

func TestIsForeign(t *testing.T) {
	t.Setenv("TORCHX_REQUIRE", "root,slurm")
	for name, want := range map[string]bool{
		"TORCHX_HOME": true, "GIT_DIR": true, "http_proxy": true, "KUBECONFIG": true, "DOCKER_HOST": true,
		"SLURM_CONF": false, "TORCHX_REQUIRE": false, "TORCHX_SEED": false, "PATH": false, "HOME": false, "GOCACHE": false,
	} {
		if got := isForeign(name); got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
}
