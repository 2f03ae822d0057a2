package agent

import (
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// TestExitsLeaveRoomForResult: exits do not use the space reserved for the result, since logs that
// are still being copied fill the disk again.
func TestExitsLeaveRoomForResult(t *testing.T) {
	t.Parallel()
	b := Bundle{Dir: t.TempDir()}
	r := newReserve(b, 3)
	if r == nil {
		if slices.Contains(strings.Split(os.Getenv("TORCHX_REQUIRE"), ","), "fallocate") {
			t.Fatal("TORCHX_REQUIRE has fallocate, which this file system does not support")
		}
		t.Skip("this file system cannot reserve space; TORCHX_REQUIRE=fallocate makes this a failure")
	}
	if !r.releaseExits() || r.releaseExits() {
		t.Error("releaseExits: got true or false twice, want true, then false")
	}
	info, err := os.Stat(b.path(resultReserve))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := info.Sys().(*syscall.Stat_t).Blocks*512, int64(resultBase+3*resultReplica); got < want {
		t.Errorf("space for the result: got %d bytes, want %d", got, want)
	}
	r.release()
	if _, err := os.Stat(b.path(resultReserve)); !os.IsNotExist(err) {
		t.Errorf("after release: got %v, want the file removed", err)
	}
	(*reserve)(nil).release()
}
