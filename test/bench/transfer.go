package main

import (
	"os"
	"path/filepath"
)

// askTools is what a client of the Model Context Protocol sends before it shows the tools.
const askTools = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
`

// transfer benchmarks what other machines and programs get: an exported run, and the tools of mcp.
func (w *environment) transfer(s sizes) []bench {
	archive := filepath.Join(w.dir, "run.tar.zst")
	return []bench{
		{
			name: "export, then import", goal: "> 0.3x", floorName: "tar -cz, then tar -xz of the log", runs: min(s.runs, 5), bytes: s.log,
			prepare: func() (side, side, error) {
				handle, file, err := w.makeLog(s.log)
				if err != nil {
					return nil, nil, err
				}
				other, tgz := filepath.Join(w.dir, "other"), filepath.Join(w.dir, "run.tgz")
				return w.command("rm -rf " + other + " " + archive + " && mkdir -m 700 " + other + " && " + w.bin + " export -o " + archive + " " + handle + " && TORCHX_HOME=" + other + " " + w.bin + " import " + archive),
					w.command("rm -rf " + tgz + ".d && mkdir " + tgz + ".d && tar -cz -f " + tgz + " -C " + filepath.Dir(file) + " . && tar -xz -f " + tgz + " -C " + tgz + ".d"), nil
			},
		},
		{
			name: "mcp, its list of tools", floorName: helloWorld, runs: s.runs,
			prepare: func() (side, side, error) {
				file := filepath.Join(w.dir, "mcp.json")
				err := os.WriteFile(file, []byte(askTools), 0o600)
				return w.torchx("mcp < " + file + " > /dev/null"), w.command(w.hello()), err
			},
		},
	}
}
