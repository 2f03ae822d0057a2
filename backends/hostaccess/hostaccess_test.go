package hostaccess

import (
	"strings"
	"testing"
)

func TestIsSensitive(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]bool{ // writable, read-only
		"/":                            {true, true},
		"/data/../":                    {true, true},
		"/etc":                         {true, true},
		"/etc/kubernetes/admin.conf":   {true, true},
		"/etc/ssl/certs":               {true, false},
		"/etcetera":                    {false, false},
		"/proc":                        {true, true},
		"/sys/fs/cgroup":               {true, true},
		"/dev":                         {true, true},
		"/dev/sda":                     {true, true},
		"/dev/mem":                     {true, true},
		"/dev/shm":                     {false, false},
		"/dev/nvidia0":                 {false, false},
		"/dev/nvidia-caps/nvidia-cap1": {false, false},
		"/dev/infiniband/uverbs0":      {false, false},
		"/var":                         {true, true},
		"/var/run/docker.sock":         {true, true},
		"/run/containerd":              {true, true},
		"/home/me/.docker/docker.sock": {true, true},
		"/var/lib/kubelet/pki":         {true, true},
		"/var/lib":                     {true, true},
		"/var/lib/mydata":              {false, false},
		"/home":                        {true, true},
		"/root":                        {true, true},
		"/root/project":                {false, false},
		"/home/me/data":                {false, false},
		"/usr/bin":                     {true, false},
		"/opt":                         {true, false},
		"/opt/models":                  {false, false},
		"/mnt/nfs":                     {false, false},
		"/tmp/x":                       {false, false},
	} {
		if got := [2]bool{IsSensitive(text, false), IsSensitive(text, true)}; got != want {
			t.Errorf("%s: got %v, want %v (writable, read-only)", text, got, want)
		}
	}
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	var f Findings
	if lines := f.Warnings(); len(lines) != 0 {
		t.Errorf("without findings: %q", lines)
	}
	f.AddMount("a", "/data", false)
	f.AddCapabilities("a", []string{"IPC_LOCK", "cap_sys_admin", "SYS_ADMIN", "ALL"})
	f.AddMount("b", "/..", true)
	f.AddMount("a", "//etc//", false)
	want := "role a takes the host: capability SYS_ADMIN, capability ALL, mount of /etc; role b takes the host: mount of /"
	if got := strings.Join(f.Warnings(), "\n"); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}
