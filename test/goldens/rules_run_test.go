package goldens

import "testing"

func TestMacros(t *testing.T) {
	t.Parallel()
	const id = "echo-" + recordedID
	var rules []rule
	for in, out := range map[string]string{
		"$app_id ${app_id}": id + " " + id, "$$app_id $$$app_id $$$$": "$app_id $" + id + " $$",
		"$ ${ ${ app_id } $1": "$ ${ ${ app_id } $1", "$replica_idx ${APP_ID} $é": "$replica_idx ${APP_ID} $é",
		"$$${rank0_env} $${${rank0_env}}": "$TORCHX_RANK0_HOST ${TORCHX_RANK0_HOST}",
		"${img_root}/x ${replica_id}":     "$CASES/x 0", "$app_idé": id + "é", "<&>": "<&>",
	} {
		rules = append(rules, rule{
			name: in, argv: []string{"utils.echo", "--msg", in}, quiet: true,
			want: map[string]string{"app.roles[0].args": `["` + in + `"]`, "request.role_params.echo[0].args": `["echo","` + out + `"]`},
		})
	}
	checkRules(t, rules)
}

func TestRunFlags(t *testing.T) {
	t.Parallel()
	const env0 = "app.roles[0].env"
	own := `"TORCHX_JOB_ID":"local://torchx/${app_id}","TORCHX_INTERNAL_SESSION_ID":"` + sessionID + `"`
	checkRules(t, []rule{
		{
			name: "env", flags: []string{"--env", "A=1", "--env", "B=x=y,z", "--env", "C="}, argv: []string{"utils.echo"}, quiet: true,
			want: map[string]string{env0: `{"A":"1","B":"x=y,z","C":"",` + own + `}`},
		},
		{
			name: "env wins over the component and knows macros", flags: []string{"--env", "LOGLEVEL=${replica_id}"}, argv: []string{"utils.sh", "true"},
			want: map[string]string{env0: `{"LOGLEVEL":"${replica_id}",` + own + `}`, "request.role_params.sh[0].env.LOGLEVEL": `"0"`},
		},
		{name: "env PATH", flags: []string{"--env", "PATH=/p"}, argv: []string{"utils.echo"}, want: map[string]string{"request.role_params.echo[0].env.PATH": `"/p:$CASES"`}},
		{name: "env from the shell that has no such variable", flags: []string{"--env", "NOT_SET_ANYWHERE"}, argv: []string{"utils.echo"}, stderr: []string{"NOT_SET_ANYWHERE is not set here"}},
		{name: "twice", flags: []string{"-s", "local", "--backend", "local"}, argv: []string{"utils.echo"}, code: 2, stderr: []string{`more than once`}},
		{
			name: "tracking, fact 61", flags: []string{"--parent_run_id", "cli"}, argv: []string{"utils.echo"},
			env:  map[string]string{"TORCHX_TRACKERS": "b,a", "TORCHX_TRACKER_A_CONFIG": "/x"},
			want: map[string]string{env0: `{` + own + `,"TORCHX_PARENT_RUN_ID":"cli","TORCHX_TRACKERS":"b,a","TORCHX_TRACKER_A_CONFIG":"/x"}`},
		},
		{
			name: "TORCHX_IMAGE", flags: []string{}, argv: []string{"utils.echo"}, env: map[string]string{"TORCHX_IMAGE": "my:1"}, quiet: true,
			want: map[string]string{"app.roles[0].image": `"my:1"`},
		},
		{name: "TORCHX_ variables are not options [BUG] of fact 64", flags: []string{}, argv: []string{"utils.echo"}, env: map[string]string{"TORCHX_CACHE_SIZE": "5"}, quiet: true},
		{
			name: "logs in the bundle without log_dir", flags: []string{}, argv: []string{"utils.echo"}, quiet: true,
			want: map[string]string{
				"cfg.log_dir": `null`, "request.log_dir": `"$HOME/.torchx/apps/echo-` + recordedID + `"`,
				"request.role_log_dirs.echo": `["$HOME/.torchx/apps/echo-` + recordedID + `/replicas/echo/0/0"]`,
			},
		},
		{
			name: "local_dir", flags: []string{"-s", "local_dir"}, argv: []string{"utils.echo", "--image", "$HOME", "--msg", "${img_root}"}, quiet: true,
			want: map[string]string{
				"cfg.image_type": `"dir"`, "request.role_params.echo[0].cwd": `"$HOME"`,
				"request.role_params.echo[0].args": `["echo","$HOME"]`, "request.role_params.echo[0].env.PATH": `"$HOME"`,
			},
		},
		{name: "local_dir without a folder", flags: []string{"-s", "local_dir"}, argv: []string{"utils.echo", "--image", "nowhere"}, code: 1, stderr: []string{`nowhere.*absolute`}},
		{name: "unknown backend", flags: []string{"-s", "locl"}, argv: []string{"utils.echo"}, code: 2, stderr: []string{`locl.*known ones are local.*Did you mean local\?`}},
		{name: "strict", flags: []string{"--strict"}, argv: []string{"comps.star:nullresource"}, code: 1, stderr: []string{`nullres`}},
		{name: "workspace", flags: []string{"--workspace", "$CASES"}, argv: []string{"utils.echo"}, stderr: []string{`ignores: workspace\n`}},
	})
}

func TestCfg(t *testing.T) {
	t.Parallel()
	cfg := func(text string) []string { return []string{"-s", "local_cwd", "-cfg", text} }
	echo := []string{"utils.echo"}
	checkRules(t, []rule{
		{
			name: "quotes, fact 24", flags: cfg(`log_dir="/a,b=c;d",prepend_cwd=YES`), argv: echo, quiet: true,
			want: map[string]string{"cfg.log_dir": `"/a,b=c;d"`, "cfg.prepend_cwd": `true`, "request.log_dir": `"/a,b=c;d/torchx/echo-` + recordedID + `"`},
		},
		{
			name: "single quotes and semicolon, fact 24", flags: cfg(`log_dir='/x y';prepend_cwd=off`), argv: echo, quiet: true,
			want: map[string]string{"cfg.log_dir": `"/x y"`, "cfg.prepend_cwd": `false`},
		},
		{name: "camel case, fact 27", flags: cfg("prependCwd=1,logDir=/x"), argv: echo, quiet: true, want: map[string]string{"cfg.prepend_cwd": `true`, "cfg.log_dir": `"/x"`}},
		{name: "none, fact 28", flags: cfg("log_dir=None"), argv: echo, quiet: true, want: map[string]string{"cfg.log_dir": `null`}},
		{name: "unknown key, fact 26", flags: cfg("pre_cwd=1"), argv: echo, stderr: []string{`warning: .*pre_cwd.* Did you mean prepend_cwd\?\n$`}},
		{name: "bad bool, fact 25", flags: cfg("prepend_cwd=maybe"), argv: echo, code: 1, stderr: []string{`prepend_cwd.*"maybe"`}},
		{name: "bad choice", flags: cfg("image_type=docker"), argv: echo, code: 1, stderr: []string{`image_type.*"docker".*cwd, dir`}},
		{name: "no value, fact 24", flags: cfg("log_dir="), argv: echo, code: 1, stderr: []string{`log_dir`}},
		{name: "stray word [BUG] of fact 24", flags: cfg("prepend_cwd=true,log_dir"), argv: echo, code: 1, stderr: []string{`log_dir`}},
		{
			name: "relative log_dir", flags: cfg("log_dir=rel"), argv: echo,
			want: map[string]string{"request.role_log_dirs.echo": `["$CASES/rel/torchx/echo-` + recordedID + `/echo/0"]`},
		},
	})
}

func TestConfigFiles(t *testing.T) {
	t.Parallel()
	project := func(text string) map[string]string { return map[string]string{"cases/.torchxconfig": text} }
	echo := []string{"utils.echo"}
	bare := []string{"-s", "local_cwd"}
	checkRules(t, []rule{
		{
			name: "alias section", flags: []string{}, argv: echo, files: project("[local_cwd]\nlog_dir = /q\nprepend_cwd = on\n"), stderr: []string{`not trusted yet: \[local_cwd\] log_dir = /q .*, \[local_cwd\] prepend_cwd = on `},
			want: map[string]string{"cfg.log_dir": `"/q"`, "cfg.prepend_cwd": `true`},
		},
		{
			name: "home over project, fact 84", flags: bare, argv: echo,
			files: map[string]string{"cases/.torchxconfig": "[local]\nlog_dir=/project\nprepend_cwd=1\n", "home/.torchxconfig": "[local]\nlog_dir=/home\n"},
			want:  map[string]string{"cfg.log_dir": `"/home"`, "cfg.prepend_cwd": `true`},
		},
		{
			name: "flags over files", flags: []string{"-s", "local_cwd", "-cfg", "prepend_cwd=no"}, argv: echo, files: project("[local_cwd]\nprepend_cwd=on\nlog_dir=/q\n"),
			want: map[string]string{"cfg.log_dir": `"/q"`, "cfg.prepend_cwd": `false`},
		},
		{
			name: "empty TORCHXCONFIG disables files", flags: bare, argv: echo, files: project("[local]\nlog_dir=/q\n"), env: map[string]string{"TORCHXCONFIG": ""},
			want: map[string]string{"cfg.log_dir": `null`},
		},
		{name: "TORCHXCONFIG must exist", flags: bare, argv: echo, env: map[string]string{"TORCHXCONFIG": "$CASES/none"}, code: 1, stderr: []string{`TORCHXCONFIG=`}},
		{name: "no inline comments, fact 85", flags: bare, argv: echo, files: project("[local_cwd]\nlog_dir=/q ; c\n"), want: map[string]string{"cfg.log_dir": `"/q ; c"`}},
		{name: "percent [BUG] of fact 85", flags: bare, argv: echo, files: project("[local_cwd]\nlog_dir=/q%%a%b\n"), want: map[string]string{"cfg.log_dir": `"/q%a%b"`}},
		{name: "placeholder [BUG] of fact 85", flags: bare, argv: echo, files: project("[local_cwd]\nlog_dir=#FIXME:(str) x\n"), code: 1, stderr: []string{`torchxconfig:2.*log_dir`}},
		{name: "case counts, fact 84", flags: bare, argv: echo, files: project("[local_cwd]\nLOG_DIR=/q\n"), stderr: []string{`unknown option LOG_DIR`}, want: map[string]string{"cfg.log_dir": `null`}},
		{name: "bad bool", flags: bare, argv: echo, files: project("[local_cwd]\nprepend_cwd=maybe\n"), code: 1, stderr: []string{`torchxconfig:2.*prepend_cwd.*"maybe"`}},
		{
			name: "component section, fact 40", flags: bare, argv: []string{"comps.star:types", "-s", "cli"}, files: project("[component:comps.star:types]\ni=4\nl=a, b\nd=x=1\nb=yes\noi=None\ns=file\n"),
			want: map[string]string{args0: `["4","1.5","True","'cli'","['a', 'b']","None","{'x': '1'}","None","None","None"]`},
		},
		{
			name: "component section of the same component by file", flags: bare, argv: []string{"components/utils.star:echo"}, files: project("[component:utils.echo]\nmsg = c\n"),
			want: map[string]string{args0: `["c"]`},
		},
		{
			name: "run section, fact 69", flags: []string{}, files: project("[cli:run]\ncomponent=utils.echo\nscheduler=local_dir\n[component:utils.echo]\nimage=$HOME\n"),
			want: map[string]string{"app.name": `"echo"`, "cfg.image_type": `"dir"`},
		},
		{
			name: "trackers, fact 62", flags: bare, argv: echo, files: project("[torchx:tracker]\nz=\na=\n[tracker:a]\nconfig=/a b\n"),
			want: map[string]string{"app.roles[0].env": `{"TORCHX_JOB_ID":"local://torchx/${app_id}","TORCHX_INTERNAL_SESSION_ID":"` + sessionID +
				`","TORCHX_TRACKERS":"z,a","TORCHX_TRACKER_A_CONFIG":"/a b"}`},
		},
	})
}

func TestComponentArguments(t *testing.T) {
	t.Parallel()
	checkRules(t, []rule{
		{name: "repeated, fact 42", argv: []string{"utils.echo", "--msg", "a", "--msg=b"}, code: 2, stderr: []string{`repeated.*--msg`}},
		{name: "dash value, fact 44", argv: []string{"utils.echo", "--msg", "-x"}, code: 2, stderr: []string{`--msg=-x`}},
		{name: "dash value with =, fact 44", argv: []string{"utils.echo", "--msg=-x"}, want: map[string]string{args0: `["-x"]`}},
		{name: "dashes in names", argv: []string{"utils.echo", "--num-replicas", "2"}, want: map[string]string{role0 + ".num_replicas": `2`}},
		{name: "dashes before the component", argv: []string{"--", "utils.echo", "--msg", "hi"}, want: map[string]string{args0: `["hi"]`}},
		{name: "not a whole number", argv: []string{"utils.echo", "--num_replicas", "1.5"}, code: 2, stderr: []string{`--num_replicas.*"1.5"`}},
		{name: "not a bool [BUG] of fact 41", argv: []string{"comps.star:types", "-i", "1", "-b", "maybe"}, code: 2, stderr: []string{`-b.*"maybe"`}},
		{name: "unknown option", argv: []string{"utils.echo", "--mgs", "x"}, code: 2, stderr: []string{`--mgs.*Did you mean --msg\?`}},
		{name: "empty list and map, fact 41", argv: []string{"comps.star:types", "-i", "1", "--l=", "--d=", "--di=a=1"}, want: map[string]string{args0: `["1","1.5","False","'str'","None","None","None","{'a': 1}","None","None"]`}},
		{name: "two colons [BUG] of fact 34", argv: []string{"comps.star:simple:x"}, code: 1, stderr: []string{`comps.star:simple:x`}},
		{name: "Python file", argv: []string{"comps.py:simple"}, code: 1, stderr: []string{`comps\.star:simple`}},
		{name: "no such file, fact 36", argv: []string{"none/utils.star:echo"}, code: 1, stderr: []string{`none/utils\.star.* does not exist`}},
		{name: "private", argv: []string{"comps.star:_app"}, code: 1, stderr: []string{`_app.*private`}},
	})
}
