package spec

import (
	"encoding/json"
	"fmt"
)

// MountType says what a mount binds.
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

type bindJSON struct {
	Kind     string `json:"kind"`
	SrcPath  string `json:"src_path"`
	DstPath  string `json:"dst_path"`
	ReadOnly bool   `json:"read_only"`
}

type volumeJSON struct {
	Kind     string `json:"kind"`
	Src      string `json:"src"`
	DstPath  string `json:"dst_path"`
	ReadOnly bool   `json:"read_only"`
}

type deviceJSON struct {
	Kind        string `json:"kind"`
	SrcPath     string `json:"src_path"`
	DstPath     string `json:"dst_path"`
	Permissions string `json:"permissions"`
}

// MarshalJSON writes the mount as TorchX names its fields, with its kind.
func (m Mount) MarshalJSON() ([]byte, error) {
	switch m.Type {
	case MountBind:
		return json.Marshal(bindJSON{"BindMount", m.Src, m.Dst, m.ReadOnly})
	case MountVolume:
		return json.Marshal(volumeJSON{"VolumeMount", m.Src, m.Dst, m.ReadOnly})
	case MountDevice:
		return json.Marshal(deviceJSON{"DeviceMount", m.Src, m.Dst, m.Permissions})
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
		m.Type = MountDevice
	default:
		return fmt.Errorf("unknown mount kind %q, must be BindMount, VolumeMount or DeviceMount", j.Kind)
	}
	return nil
}
