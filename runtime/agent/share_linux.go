package agent

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Entries of a POSIX access control list (linux/posix_acl.h, linux/posix_acl_xattr.h).
const (
	aclDefault = "system.posix_acl_default"
	aclVersion = 2
	aclNoID    = 0xFFFFFFFF

	aclUserObj  = 0x01
	aclUser     = 0x02
	aclGroupObj = 0x04
	aclMask     = 0x10
	aclOther    = 0x20

	aclRead, aclWrite, aclExecute = 4, 2, 1
)

// shareFolder lets every user write to a folder, as to /tmp: the user of a container may be
// any. A default access control list lets the user owner read and delete what they create.
func shareFolder(dir string, owner int) error {
	if err := os.Chmod(dir, 0o777|os.ModeSticky); err != nil {
		return fmt.Errorf("share output folder: %w", err)
	}
	if owner == 0 {
		return nil // it reads and deletes all files anyway
	}
	const all, others = aclRead | aclWrite | aclExecute, aclRead | aclExecute
	acl := binary.LittleEndian.AppendUint32(nil, aclVersion)
	for _, e := range []struct {
		tag, rights uint16
		id          uint32
	}{
		{aclUserObj, all, aclNoID},
		{aclUser, all, uint32(owner)},
		{aclGroupObj, others, aclNoID},
		{aclMask, all, aclNoID},
		{aclOther, others, aclNoID},
	} {
		acl = binary.LittleEndian.AppendUint16(acl, e.tag)
		acl = binary.LittleEndian.AppendUint16(acl, e.rights)
		acl = binary.LittleEndian.AppendUint32(acl, e.id)
	}
	err := unix.Setxattr(dir, aclDefault, acl, 0)
	if err != nil && !errors.Is(err, unix.ENOTSUP) {
		return fmt.Errorf("share output folder: set %s of %s: %w", aclDefault, dir, err)
	}
	return nil
}
