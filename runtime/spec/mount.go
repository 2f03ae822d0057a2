package spec

import (
	"cmp"
	"encoding/json"
	"fmt"
)

// MountType is the kind of a mount.
type MountType string

// The mount types of TorchX.
const (
	MountBind   MountType = "bind"
	MountVolume MountType = "volume"
	MountDevice MountType = "device"
)

// Mount is one bind, volume or device mount of a role.
type Mount struct {
	Type        MountType
	Src         string // host path, volume name or device path
	Dst         string // path in the container
	ReadOnly    bool   // bind and volume
	Permissions string // device: letters of "rwm"
}

// mountJSON is a mount with TorchX's field names; the kind determines which fields are set.
type mountJSON struct {
	Kind        string  `json:"kind"`
	SrcPath     *string `json:"src_path,omitempty"`
	Src         *string `json:"src,omitempty"`
	DstPath     string  `json:"dst_path"`
	ReadOnly    *bool   `json:"read_only,omitempty"`
	Permissions *string `json:"permissions,omitempty"`
}

// MarshalJSON writes the mount with TorchX's field names and its kind.
func (m Mount) MarshalJSON() ([]byte, error) {
	switch m.Type {
	case MountBind:
		return json.Marshal(mountJSON{Kind: "BindMount", SrcPath: &m.Src, DstPath: m.Dst, ReadOnly: &m.ReadOnly})
	case MountVolume:
		return json.Marshal(mountJSON{Kind: "VolumeMount", Src: &m.Src, DstPath: m.Dst, ReadOnly: &m.ReadOnly})
	case MountDevice:
		return json.Marshal(mountJSON{Kind: "DeviceMount", SrcPath: &m.Src, DstPath: m.Dst, Permissions: &m.Permissions})
	}
	return nil, fmt.Errorf("unknown mount type %q", m.Type)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (m *Mount) UnmarshalJSON(data []byte) error {
	var j struct {
		Kind, Src   string
		SrcPath     string `json:"src_path"`
		DstPath     string `json:"dst_path"`
		ReadOnly    bool   `json:"read_only"`
		Permissions string
	}
	if err := json.Unmarshal(data, &j); err != nil {
		return fmt.Errorf("decode mount: %w", err)
	}
	*m = Mount{Src: j.SrcPath, Dst: j.DstPath, ReadOnly: j.ReadOnly, Permissions: j.Permissions}
	switch j.Kind {
	case "BindMount":
		m.Type = MountBind
	case "VolumeMount":
		m.Type, m.Src = MountVolume, j.Src
	case "DeviceMount":
		m.Type, m.Permissions = MountDevice, cmp.Or(j.Permissions, "rwm") // the default of TorchX
	default:
		return fmt.Errorf("unknown mount kind %q, must be BindMount, VolumeMount or DeviceMount", j.Kind)
	}
	return nil
}
