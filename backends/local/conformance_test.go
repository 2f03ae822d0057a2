//go:build unix

package local

import (
	"os"
	"testing"

	"torchx/runtime/backend"
	"torchx/test/backendtest"
	"torchx/test/homedir"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	backendtest.Run(t, func(t *testing.T) backendtest.Harness {
		home := homedir.New(t)
		open := func(t *testing.T) backend.Backend {
			b, err := New(Config{Home: home, Exe: os.Args[0]})
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
		return backendtest.Harness{
			Backend: open(t), Programs: backendtest.Shell{}, Caps: backendtest.AllCaps(),
			Cfg: map[string]string{"grace_period": "2"}, Home: home, Reopen: open,
		}
	})
}
