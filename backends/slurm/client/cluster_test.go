//go:build unix

package client

import (
	"errors"
	"reflect"
	"testing"
)

func TestPartitions(t *testing.T) {
	t.Parallel()
	c, _ := fakes(t, map[string]string{"sinfo": `case $1 in
--version) echo slurm-wlm 22.05.8 ;;
*) case "$*" in *list-reasons*) printf 'n1|Not responding\nn[4-5]|maintenance work\n' ;; *) printf 'main*|up|2|mix|16000\nmain*|up|1|idle*|16000\nmain*|up|1|drain|8000+\nshut|down|4|idle|900\nodd\n' ;; esac ;;
esac`})
	all, err := c.Partitions(t.Context())
	want := []Partition{{"main", true, true, 4, 2, 8000}, {"shut", false, false, 4, 4, 900}}
	if err != nil || !reflect.DeepEqual(all, want) {
		t.Errorf("got %+v, %v, want %+v", all, err, want)
	}
	if p := PartitionOf(all, ""); p == nil || p.Name != "main" {
		t.Errorf("default: got %+v, want main", p)
	}
	if p := PartitionOf(all, "nope"); p != nil {
		t.Errorf("unknown: got %+v, want none", p)
	}
	if v, err := c.Version(t.Context()); err != nil || v != "22.05.8" {
		t.Errorf("version: got %q, %v, want 22.05.8", v, err)
	}
	reasons, err := c.NodeReasons(t.Context())
	if want := []string{"n1 (Not responding)", "n[4-5] (maintenance work)"}; err != nil || !reflect.DeepEqual(reasons, want) {
		t.Errorf("reasons: got %q, %v, want %q", reasons, err, want)
	}
}

func TestAccounts(t *testing.T) {
	t.Parallel()
	c, _ := fakes(t, map[string]string{"sacctmgr": "printf 'test\\nother\\ntest\\n'"})
	if all, err := c.Accounts(t.Context(), "ann"); err != nil || !reflect.DeepEqual(all, []string{"other", "test"}) {
		t.Errorf("got %q, %v, want both accounts once", all, err)
	}
	c, _ = fakes(t, map[string]string{"sacctmgr": "echo \"You are not running a supported accounting_storage plugin\" >&2; exit 1"})
	if _, err := c.Accounts(t.Context(), "ann"); !errors.Is(err, ErrNoAccounting) {
		t.Errorf("got %v, want ErrNoAccounting", err)
	}
}
