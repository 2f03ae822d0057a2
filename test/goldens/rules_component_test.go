package goldens

import "testing"

const (
	role0 = "app.roles[0]"
	args0 = "app.roles[0].args"
)

// forcedEnv returns the last variables of a replica's environment with the usual flags.
func forcedEnv(role string) string {
	dir := `"$LOGS/torchx/` + role + `-` + recordedID
	return `"TORCHX_RANK0_HOST":"localhost","TORCHELASTIC_ERROR_FILE":` + dir + `/` + role + `/0/error.json",` +
		`"PET_LOG_DIR":` + dir + `/torchelastic/` + role + `"`
}

func TestUtils(t *testing.T) {
	t.Parallel()
	checkRules(t, []rule{
		{
			name: "python module, fact 50", argv: []string{"utils.python", "-m", "a.b", "--", "x", "y z"}, quiet: true,
			want: map[string]string{
				"app.name": `"torchx_utils_python"`, role0 + ".name": `"python"`, args0: `["-m","a.b","x","y z"]`,
				"request.role_params.python[0].args": `["python","-m","a.b","x","y z"]`,
				role0 + ".env.HYDRA_MAIN_MODULE":     `"a.b"`,
			},
		},
		{
			name: "python without module, fact 50", argv: []string{"utils.python", "-c", "pass"}, quiet: true,
			want: map[string]string{args0: `["-c","pass"]`, role0 + ".env.HYDRA_MAIN_MODULE": `null`},
		},
		{
			name: "python two programs, fact 50", argv: []string{"utils.python", "-m", "a", "--script", "b"}, code: 1,
			stderr: []string{"exactly one of `-m`, `-c` and `--script` needs to be specified"},
		},
		{
			name: "touch, fact 48", argv: []string{"utils.touch", "--file", "f.txt", "--image", "i:1"},
			want: map[string]string{
				"app.name": `"touch"`, role0 + ".name": `"touch"`, role0 + ".image": `"i:1"`, role0 + ".entrypoint": `"touch"`, args0: `["f.txt"]`,
				role0 + ".resource": `{"cpu":1,"gpu":0,"memMB":1024,"capabilities":{},"devices":{},"tags":{}}`,
			},
			stderr: []string{`ignores: image i:1`},
		},
		{name: "touch takes no positional", argv: []string{"utils.touch", "f.txt"}, code: 2, stderr: []string{`"f.txt"`}},
		{
			name: "copy, fact 52 with a program that exists", argv: []string{"utils.copy", "--src", "a", "--dst", "b", "--mounts", "type=bind,src=~/h,dst=/d,readonly=false"},
			want: map[string]string{
				"app.name": `"torchx-utils-copy"`, role0 + ".entrypoint": `"cp"`, args0: `["-R","--","a","b"]`,
				role0 + ".mounts": `[{"kind":"BindMount","src_path":"$HOME/h","dst_path":"/d","read_only":false}]`,
			},
			stderr: []string{`ignores: mounts`},
		},
		{
			name: "binary, fact 51", argv: []string{"utils.binary", "--entrypoint", "echo", "--", "--flag", "a b"}, quiet: true,
			want: map[string]string{role0 + ".image": `"<NONE>"`, "app.name": `"torchx_utils_binary"`, "request.role_params.binary[0].args": `["echo","--flag","a b"]`},
		},
		{
			name: "sh one word, fact 49", argv: []string{"utils.sh", "--", "echo a; echo b"},
			want: map[string]string{args0: `["-c","'echo a; echo b'"]`},
		},
		{
			name: "sh shell line", argv: []string{"utils.sh", "-c", "echo a; echo $1", "--", "x y"},
			want: map[string]string{args0: `["-c","echo a; echo $1","sh","x y"]`},
		},
		{
			name: "sh entrypoint [BUG] of fact 49", argv: []string{"utils.sh", "--entrypoint", "cat", "--", "a b", "$x"},
			want: map[string]string{"request.role_params.sh[0].args": `["cat","a b","$x"]`},
		},
		{
			name: "sh passes options after the command", argv: []string{"utils.sh", "echo", "--cpu", "2"},
			want: map[string]string{args0: `["-c","echo --cpu 2"]`, role0 + ".resource.cpu": `1`},
		},
		{
			name: "zero resources take the defaults, fact 19", argv: []string{"utils.sh", "--cpu", "0", "--memMB", "0", "true"},
			want: map[string]string{role0 + ".resource": `{"cpu":2,"gpu":0,"memMB":1024,"capabilities":{},"devices":{},"tags":{}}`},
		},
		{
			name: "named resource wins, facts 19 and 20", argv: []string{"utils.sh", "-h", "aws_p3.2xlarge", "--cpu", "99", "true"},
			want: map[string]string{role0 + ".resource": `{"cpu":8,"gpu":1,"memMB":59963,"capabilities":{"node.kubernetes.io/instance-type":"p3.2xlarge"},"devices":{},"tags":{}}`},
		},
		{name: "unknown resource, fact 21", argv: []string{"utils.sh", "-h", "gpu.smal", "true"}, code: 1, stderr: []string{"Did you mean `gpu.small`"}},
		{
			name: "built-in component by file, from any folder", argv: []string{"components/utils.star:echo", "--msg", "z"}, quiet: true,
			want: map[string]string{"app.name": `"echo"`, args0: `["z"]`},
		},
		{
			name: "a file on disk wins, fact 38", argv: []string{"components/utils.star:echo"},
			files: map[string]string{"cases/components/utils.star": "def echo():\n    return specs.AppDef(name = \"mine\", roles = [specs.Role(name = \"r\", image = \"\", entrypoint = \"true\")])\n"},
			want:  map[string]string{"app.name": `"mine"`},
		},
		{
			name: "the workspace's own module wins", argv: []string{"utils.echo"}, in: "sub/deeper",
			stderr: []string{`^torchx: utils.echo is components/utils.star:echo of this folder\n`},
			files: map[string]string{
				"cases/components/utils.star":  "def echo():\n    return specs.AppDef(name = \"mine\", roles = [specs.Role(name = \"r\", image = \"\", entrypoint = \"true\")])\n",
				"cases/sub/deeper/placeholder": "",
			},
			want: map[string]string{"app.name": `"mine"`, "request.role_params.r[0].cwd": `"$CASES/sub/deeper"`},
		},
		{name: "unknown function", argv: []string{"utils.ecko"}, code: 1, stderr: []string{`Did you mean (utils\.)?echo`}},
	})
}

func TestCustomComponents(t *testing.T) {
	t.Parallel()
	checkRules(t, []rule{
		{
			name: "own environment, facts 11, 12 and 90", argv: []string{"comps.star:envs"},
			want: map[string]string{"request.role_params.envs[0].env": `{"PATH":"/custom/bin:$CASES/sbin:$CASES",` +
				`"TORCHELASTIC_ERROR_FILE":"/tmp/my_error.json","PET_LOG_DIR":"/tmp/pet","NODE_NAME":"[FIELD_PATH]spec.nodeName",` +
				`"TORCHX_RANK0_HOST":"localhost","EMPTY":"","DOLLAR":"$ $x ${y} envs-` + recordedID + `x envs-` + recordedID + `",` +
				`"TORCHX_JOB_ID":"local://torchx/envs-` + recordedID + `","TORCHX_INTERNAL_SESSION_ID":"` + sessionID + `"}`},
		},
		{
			name: "prepend_cwd with a PATH of the role, fact 90", argv: []string{"comps.star:envs"},
			flags: []string{"-s", "local_cwd", "-cfg", "log_dir=$LOGS,prepend_cwd=True"},
			want:  map[string]string{"request.role_params.envs[0].env.PATH": `"$CASES:/custom/bin:$CASES/sbin"`},
		},
		{
			name: "forced variables come last, fact 61", argv: []string{"utils.echo"}, quiet: true,
			want: map[string]string{"request.role_params.echo[0].env": `{"TORCHX_JOB_ID":"local://torchx/echo-` + recordedID +
				`","TORCHX_INTERNAL_SESSION_ID":"` + sessionID + `","PATH":"$CASES",` + forcedEnv("echo") + `}`},
		},
		{
			name: "policies and min_replicas, facts 2 and 4", argv: []string{"comps.star:policies"},
			want: map[string]string{
				"app.roles[0].retry_policy": `"REPLICA"`, "app.roles[0].min_replicas": `2`, "app.roles[0].max_retries": `5`,
				"app.roles[1].retry_policy": `"APPLICATION"`, "app.roles[1].min_replicas": `0`, "app.roles[2].min_replicas": `5`,
				"request.role_log_dirs.b": `["$LOGS/torchx/policies-` + recordedID + `/b/0","$LOGS/torchx/policies-` + recordedID + `/b/1"]`,
			},
		},
		{
			name: "no docstring, fact 37", argv: []string{"comps.star:nodoc", "-a", "7"},
			want: map[string]string{args0: `["7","x"]`, role0 + ".resource.cpu": `1`},
		},
		{name: "required argument, fact 39", argv: []string{"comps.star:nodoc"}, code: 2, stderr: []string{`missing required .*-a`}},
		{name: "no roles, fact 60", argv: []string{"comps.star:noroles"}, code: 1, stderr: []string{`no roles for app: noroles`}},
		{name: "no replicas, fact 60", argv: []string{"comps.star:zeroreplicas"}, code: 1, stderr: []string{`replicas for role: z`}},
		{name: "no entrypoint, fact 60", argv: []string{"comps.star:noentrypoint"}, code: 1, stderr: []string{`entrypoint for role: z`}},
		{name: "unknown type, fact 35", argv: []string{"comps.star:badtype", "-a", "x"}, code: 1, stderr: []string{`comps\.star:\d+.*argument a.*List\[List\[str]]`}},
		{name: "returns a text", argv: []string{"comps.star:wrongreturn"}, code: 1, stderr: []string{`comps\.star:\d+.*wrongreturn.*string.*AppDef`}},
		{name: "raises", argv: []string{"comps.star:raises"}, code: 1, stderr: []string{`comps\.star:\d+:\d+: .*boom`, `\n    fail\("boom"\)\n`}},
		{name: "empty names", argv: []string{"comps.star:names", "--app="}, code: 1, stderr: []string{`name`}},
		{name: "empty role name", argv: []string{"comps.star:names", "--role="}, code: 1, stderr: []string{`name`}},
		{
			name: "names that are not valid folder names", argv: []string{"comps.star:names", "--role", ".."},
			want: map[string]string{"request.role_log_dirs": `{"..":["$LOGS/torchx/app-` + recordedID + `/%2E./0"]}`},
		},
		{
			name: "too few GPUs, fact 96", argv: []string{"comps.star:gpus"},
			flags:  []string{"-cfg", "log_dir=$LOGS,auto_set_cuda_visible_devices=1"},
			env:    map[string]string{"PATH": "$CASEROOT/two:/usr/bin:/bin"},
			files:  map[string]string{"two/nvidia-smi": "#!/bin/sh\necho GPU 0\necho GPU 1\n"},
			want:   map[string]string{"request.role_params.a[0].env.CUDA_VISIBLE_DEVICES": `null`, "request.role_params.b[2].env.CUDA_VISIBLE_DEVICES": `null`},
			stderr: []string{`warning: .*5 GPUs.* 2\n`},
		},
		{
			name: "sleeper of twoline", argv: []string{"twoline.star:sleeper", "--secs", "3"},
			want: map[string]string{"request.role_params.s[0].args[2]": `"trap 'echo TERM; exit 0' TERM; echo start; i=0; while [ $i -lt 3 ]; do sleep 1; i=$((i+1)); echo tick $i; done"`},
		},
		{
			name: "two of twoline", argv: []string{"twoline.star:two", "-n", "1"},
			want: map[string]string{
				"request.role_params.a[0].args[2]": `"echo out-a-0; echo err-a-0 >&2; printf 'no newline'"`,
				"request.role_params.b[0].args[2]": `"echo out-b; printf 'x\\ry\\n'; exit 2"`,
			},
		},
	})
}

func TestDDP(t *testing.T) {
	t.Parallel()
	line := func(endpoint, nodes, procs, program string) string {
		return `["-c","torchrun --rdzv_backend c10d --rdzv_endpoint ` + endpoint + ` --rdzv_id '${app_id}' --nnodes ` + nodes +
			` --nproc_per_node ` + procs + ` --tee 3 --role '' ` + program + `"]`
	}
	const many = "$${${rank0_env}:=localhost}:$${TORCHX_PORT_C10D:=29500}"
	checkRules(t, []rule{
		{
			name: "module, facts 53 to 58", argv: []string{"dist.ddp", "-m", "a.b.train", "--", "--lr", "0.1"}, quiet: true,
			want: map[string]string{
				"app.name": `"train"`, role0 + ".name": `"train"`, args0: line("localhost:0", "1", "2", "-m a.b.train --lr 0.1"),
				role0 + ".resource.cpu": `2`, role0 + ".port_map": `{"c10d":29500}`, role0 + ".min_replicas": `1`,
				role0 + ".env.TORCHX_TRACKING_RUN_NAME": `"train"`,
			},
		},
		{
			name: "j with a range, facts 54 to 56", argv: []string{"dist.ddp", "-j", "2:4x2", "-m", "m"},
			want: map[string]string{args0: line(many, "2:4", "2", "-m m"), role0 + ".min_replicas": `2`, role0 + ".num_replicas": `4`},
		},
		{
			name: "j with equal ends, fact 55", argv: []string{"dist.ddp", "-j", "1:1x2", "-m", "m"},
			want: map[string]string{args0: line("localhost:0", "1:1", "2", "-m m"), role0 + ".min_replicas": `1`},
		},
		{
			name: "j with nodes", argv: []string{"dist.ddp", "-j", "4x2", "--script", "s.py"},
			want: map[string]string{args0: line(many, "4", "2", "s.py"), role0 + ".min_replicas": `4`},
		},
		{
			name: "j with processes", argv: []string{"dist.ddp", "-j", "3", "--script", "s.py"},
			want: map[string]string{args0: line("localhost:0", "1", "3", "s.py")},
		},
		{name: "j with a reversed range [BUG] of fact 54", argv: []string{"dist.ddp", "-j", "4:2x1", "--script", "s.py"}, code: 1, stderr: []string{`4:2`}},
		{name: "j malformed", argv: []string{"dist.ddp", "-j", "2x2x2", "--script", "s.py"}, code: 1, stderr: []string{`-j.*2x2x2`}},
		{name: "j and nnodes", argv: []string{"dist.ddp", "-j", "2", "--nnodes", "2", "--script", "s.py"}, code: 1, stderr: []string{`-j.*--nnodes`}},
		{name: "script and module, fact 53", argv: []string{"dist.ddp", "--script", "s.py", "-m", "m"}, code: 1, stderr: []string{`exactly one of --script and -m`}},
		{
			name: "nnodes alone", argv: []string{"dist.ddp", "--nnodes", "2", "--script", "s.py"},
			want: map[string]string{args0: line(many, "2", "1", "s.py"), role0 + ".num_replicas": `2`},
		},
		{
			name: "nproc_per_node alone", argv: []string{"dist.ddp", "--nproc_per_node", "3", "--script", "s.py"},
			want: map[string]string{args0: line("localhost:0", "1", "3", "s.py")},
		},
		{
			name: "quoting, fact 56", argv: []string{"dist.ddp", "-j", "1x1", "--script", "d/a b.py", "--", "x y", "$VAR", "*"},
			want: map[string]string{args0: line("localhost:0", "1", "1", "'d/a b.py' 'x y' '$VAR' '*'"), role0 + ".name": `"a b"`},
		},
		{
			name: "names, fact 58", argv: []string{"dist.ddp", "--script", "s.py", "--name", "a/b/c"},
			want: map[string]string{"app.name": `"b/c"`, role0 + ".name": `"s"`, role0 + ".env.TORCHX_TRACKING_EXPERIMENT_NAME": `"a"`},
		},
		{
			name: "debug wins, others are kept, fact 57", argv: []string{"dist.ddp", "--script", "s.py", "--debug", "yes", "--env", "LOGLEVEL=DEBUG,CUDA_LAUNCH_BLOCKING=0"},
			want: map[string]string{role0 + ".env": `{"LOGLEVEL":"DEBUG","CUDA_LAUNCH_BLOCKING":"1","TORCHX_TRACKING_EXPERIMENT_NAME":"default-experiment",` +
				`"TORCHX_TRACKING_RUN_NAME":"s","NCCL_DESYNC_DEBUG":"1","TORCH_DISTRIBUTED_DEBUG":"DETAIL","TORCH_SHOW_CPP_STACKTRACES":"1",` +
				`"TORCHX_JOB_ID":"local://torchx/${app_id}","TORCHX_INTERNAL_SESSION_ID":"` + sessionID + `"}`},
		},
		{
			name: "nodes alone are the first try", argv: []string{"components/dist.star:ddp", "--nnodes", "2"},
			want:   map[string]string{"app.name": `"ddp"`, role0 + ".name": `"ddp"`, role0 + ".entrypoint": `"sh"`, role0 + ".num_replicas": `2`},
			stderr: []string{`^torchx: no --script or -m: only the ranks and the rendezvous are checked\n$`},
		},
		{
			name: "no script, fact 53", argv: []string{"dist.ddp", "-j", "2x1"}, code: 1,
			stderr: []string{`^torchx: error: dist\.ddp: exactly one of --script and -m must be specified \(--self_check checks the rendezvous without a program\)\n$`},
		},
	})
}
