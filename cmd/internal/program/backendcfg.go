package program

import (
	"slices"
	"strings"

	"torchx/runtime/backend"
)

// BackendCfg parses -cfg of a command that submits nothing. It warns about options that have no
// effect; an invalid value is an error.
func (f *Factory) BackendCfg(backendName, cfg string) (backend.Layer, error) {
	layer, err := backend.CfgLayer(cfg)
	if err != nil || len(layer) == 0 {
		return nil, err
	}
	reg, err := f.Registry()
	if err != nil {
		return nil, err
	}
	b, err := reg.Get(backendName)
	if err != nil {
		return nil, err
	}
	for _, w := range backend.Unused(b.Options(), layer) {
		f.Warn("%s", w)
	}
	for _, e := range backend.Explain(b.Options(), layer) {
		if e.Err != nil {
			return nil, backend.Errorf(backend.ErrInvalidOption, "backend %s: %s: option %s: %w",
				backendName, e.Given[0].Origin, e.Key, e.Err)
		}
	}
	return layer, nil
}

// EnvironmentLayer returns the options of a backend that variables set: TORCHX_CFG_KUBERNETES_QUEUE
// is `queue` of kubernetes. An empty variable counts as unset.
func (f *Factory) EnvironmentLayer(b backend.Backend) backend.Layer {
	var layer backend.Layer
	for _, v := range slices.Sorted(slices.Values(f.Env.Vars)) {
		name, text, _ := strings.Cut(v, "=")
		key, ok := strings.CutPrefix(name, "TORCHX_CFG_"+strings.ToUpper(b.Name())+"_")
		if !ok || text == "" {
			continue
		}
		key = strings.ToLower(key)
		for _, o := range b.Options() {
			if strings.ReplaceAll(o.Key, "-", "_") == key {
				key = o.Key
			}
		}
		layer = append(layer, backend.Value{Key: key, Text: text, Origin: "$" + name})
	}
	return layer
}
