package secrets

import (
	"strings"
	"testing"
)

func rules(t *testing.T, patterns ...string) *Rules {
	t.Helper()
	r, err := New(patterns)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestName(t *testing.T) {
	t.Parallel()
	r := rules(t, "CORP_*", "*license*", "A*B*C", "LR")
	for _, name := range []string{
		"HF_TOKEN", "TOKEN", "token", "github-token", "authToken", "AUTHTOKEN", "TOKEN_2", "ACCESS_TOKENS",
		"SECRET", "CLIENT_SECRET", "clientSecret", "DJANGO_SECRET_KEY", "SECRETS", "KUBE.SECRET.x",
		"PASSWORD", "PGPASSWORD", "db_password", "DB_PASSWD", "MYSQL_PWD", "SSHPASS", "GPG_PASSPHRASE",
		"WANDB_API_KEY", "OPENAI_APIKEY", "apiKey", "x-api-key", "API_KEYS", "PRIVATE_KEY", "SSH_PRIVATE_KEY",
		"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_ANYTHING", "AZURE_ACCOUNT_KEY",
		"CREDENTIAL", "GOOGLE_APPLICATION_CREDENTIALS", "SLACK_WEBHOOK_URL", "Authorization", "--password",
		"--pw", "pw", "pwd", "--pwd", "db-pwd", "passphrase", "pat", "GITHUB_PAT", "bearer", "cookie", "SENTRY_DSN", "dsn", "conn_str", "connStr", "CONNECTION_STRING",
		"corp_x", "MyLicenseText", "axbyc", "ABC", "lr",
	} {
		if !r.Name(name) {
			t.Errorf("%s: got not secret, want secret", name)
		}
	}
	for _, name := range []string{
		"", "_", "TOKENIZERS_PARALLELISM", "TOKENIZER", "MAX_TOKENS", "KEYBOARD", "KEY", "MONKEY", "PRIMARY_KEY", "SORT_KEYS",
		"PWD", "OLDPWD", "PATTERN", "path", "string", "cookiecutter", "pwm", "PATH", "AWS", "AWS_REGION", "aws_default_region", "AWS_PROFILE", "AWSOME_MODEL", "SECRETARY", "PASS_RATE",
		"PASSWORD_FILE", "AWS_WEB_IDENTITY_TOKEN_FILE", "HF_TOKEN_PATH", "image_secret", "imagePullSecrets", "secretKeyRef",
		"secretName", "LD_LIBRARY_PATH", "BYPASS", "corp", "xcorp_y", "ab", "acb", "LRX", "AXBYCZ",
	} {
		if r.Name(name) {
			t.Errorf("%s: got secret, want not secret", name)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", "*", "**", "A B", "A=B", "A\n"} {
		if _, err := New([]string{"OK", bad}); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: got %v, want an error in one line", bad, err)
		}
	}
}

// sample assembles a token, so that this file does not contain one.
func sample(prefix string, n int) string { return prefix + strings.Repeat("Ab1", n) }

func TestText(t *testing.T) {
	t.Parallel()
	pem := "-----BEGIN RSA " + "PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----"
	r := rules(t)
	for in, want := range map[string]string{
		"":                                                     "",
		"plain text, lr=0.1 a=b":                               "plain text, lr=0.1 a=b",
		sample("ghp_", 12):                                     Hidden,
		"x " + sample("hf_", 11) + ".":                         "x " + Hidden + ".",
		"AKIA" + "IOSFODNN7EXAMPLE":                            Hidden,
		"AKIAIOSFODNN7EXAMPLELONGER":                           "AKIAIOSFODNN7EXAMPLELONGER",
		sample("glpat-", 8):                                    Hidden,
		sample("npm_", 12):                                     Hidden,
		sample("pypi-", 20):                                    Hidden,
		sample("dckr_pat_", 8):                                 Hidden,
		sample("github_pat_", 8):                               Hidden,
		"ASIA" + "IOSFODNN7EXAMPLE":                            Hidden,
		sample("sk-", 8):                                       Hidden,
		sample("sk-ant-", 8) + " end":                          Hidden + " end",
		sample("task-", 9):                                     sample("task-", 9),
		"sk-learn-is-a-fine-library-ok":                        "sk-learn-is-a-fine-library-ok",
		sample("xoxb-", 6):                                     Hidden,
		sample("AIza", 12)[:39]:                                Hidden,
		"eyJhbGciOiJI" + ".eyJzdWIiOiIx" + ".abc_-":            Hidden,
		"a\n" + pem + "\nb":                                    "a\n" + Hidden + "\nb",
		"-----BEGIN " + "PRIVATE KEY-----\nMII":                Hidden,
		"-----BEGIN PUBLIC KEY-----":                           "-----BEGIN PUBLIC KEY-----",
		"postgres://me:pass" + "word@db:5432/x":                "postgres://me:" + Hidden + "@db:5432/x",
		"https://:pw@h, http://a:p@ss@h":                       "https://:" + Hidden + "@h, http://a:" + Hidden + "@h",
		"https://host:8080/a@b local://torchx/x":               "https://host:8080/a@b local://torchx/x",
		"Authorization: Bearer " + sample("", 8):               "Authorization: Bearer " + Hidden,
		"basic training of the models":                         "basic training of the models",
		"HF_TOKEN=abc,LR=1":                                    "HF_TOKEN=" + Hidden + ",LR=1",
		"LR=1,HF_TOKEN=abc;B=2":                                "LR=1,HF_TOKEN=" + Hidden + ";B=2",
		"PASSWORD=a,b x":                                       "PASSWORD=" + Hidden + " x",
		"--env=DB_PASSWORD=x":                                  "--env=DB_PASSWORD=" + Hidden,
		`export API_KEY="a b" && run`:                          "export API_KEY=" + Hidden + " && run",
		"API_KEY='a b'; x":                                     "API_KEY=" + Hidden + "; x",
		"https://h/?a=1&token=z&b=2":                           "https://h/?a=1&token=" + Hidden + "&b=2",
		`invalid entry "MY_SECRET=x": no`:                      `invalid entry "MY_SECRET=` + Hidden + `": no`,
		"TOKEN=":                                               "TOKEN=",
		"HF_TOKEN:a;B:1":                                       "HF_TOKEN:" + Hidden + ";B:1",
		`entry "x" of "A:1;HF_TOKEN:a b"`:                      `entry "x" of "A:1;HF_TOKEN:` + Hidden + ` b"`,
		"image my-secret:1.2, {\"HF_TOKEN\": \"a b\"}":         "image my-secret:1.2, {\"HF_TOKEN\": " + Hidden,
		"$TORCHX_SECRETS: invalid":                             "$TORCHX_SECRETS: invalid",
		"PASSWORD=a,b:c d":                                     "PASSWORD=" + Hidden + " d",
		`PASSWORD="a b`:                                        "PASSWORD=" + Hidden,
		"x.star:c --lr 1 --password 'a b' -- --token x y":      "x.star:c --lr 1 --password " + Hidden + " -- --token " + Hidden + " y",
		"--token --verbose --api-key -1 --lr 2":                "--token --verbose --api-key " + Hidden + " --lr 2",
		`'c --password "a': no closing quote`:                  `'c --password ` + Hidden,
		"c: --token needs a value (see --token x)":             "c: --token needs a value (see --token " + Hidden,
		"repeated argument --token (see torchx run c --help)":  "repeated argument --token (see torchx run c --help)",
		`c: --api_token: "a \"b" is not an int, in "1,a"`:      `c: --api_token: "` + Hidden + `" is not an int, in "` + Hidden + `"`,
		`x:3: api_token: "a" is not an int`:                    `x:3: api_token: "` + Hidden + `" is not an int`,
		`got unexpected token: "def"`:                          `got unexpected token: "def"`,
		`c: --lr: "a" is not an int`:                           `c: --lr: "a" is not an int`,
		"MAX_TOKENS=5 TOKENIZERS_PARALLELISM=false PATH_KEY=x": "MAX_TOKENS=5 TOKENIZERS_PARALLELISM=false PATH_KEY=x",
	} {
		if got := r.Text(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestArgs(t *testing.T) {
	t.Parallel()
	r := rules(t)
	for in, want := range map[string]string{
		"--lr|0.1|x":                      "--lr|0.1|x",
		"--password|hunter2|rest":         "--password|******|rest",
		"--password=hunter 2|rest":        "--password=******|rest",
		"--password|--verbose|x":          "--password|--verbose|x",
		"--token|-1|x":                    "--token|******|x",
		"--token||x":                      "--token||x",
		"-token|x":                        "-token|******",
		"token|x":                         "token|x",
		"--env|HF_TOKEN=a b|--env|LR=1":   "--env|HF_TOKEN=******|--env|LR=1",
		"--env|A=1,HF_TOKEN=x,B=2":        "--env|A=1,HF_TOKEN=******,B=2",
		"--env|HF_TOKEN=x,B=2":            "--env|HF_TOKEN=******,B=2",
		"-c|export TOKEN=x; train":        "-c|export TOKEN=******; train",
		"-c|train --token x --lr 1":       "-c|train --token ****** --lr 1",
		"--db_password|a|--api-key|b|--x": "--db_password|******|--api-key|******|--x",
	} {
		got := strings.Join(r.Args(strings.Split(in, "|")), "|")
		if got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}

func TestValue(t *testing.T) {
	t.Parallel()
	r := rules(t)
	for _, c := range [][3]string{
		{"HF_TOKEN", "x", Hidden},
		{"HF_TOKEN", "", ""},
		{"LR", "0.1", "0.1"},
		{"REPO", "https://u:p@h/", "https://u:" + Hidden + "@h/"},
	} {
		if got := r.Value(c[0], c[1]); got != c[2] {
			t.Errorf("%s=%s: got %s, want %s", c[0], c[1], got, c[2])
		}
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	r := rules(t)
	for in, want := range map[string]string{
		`{"b": 1, "a": [1, 2.50, true, null, "<x>"]}`:                                                   `{"b":1,"a":[1,2.50,true,null,"<x>"]}`,
		`{"env": {"HF_TOKEN": "x", "LR": "1"}}`:                                                         `{"env":{"HF_TOKEN":"******","LR":"1"}}`,
		`{"password": 7, "token": null, "x": {}}`:                                                       `{"password":"******","token":null,"x":{}}`,
		`{"token": "", "secret": true}`:                                                                 `{"token":"","secret":true}`,
		`{"api_keys": ["a", 1, {"k": ["b"]}, []]}`:                                                      `{"api_keys":["******","******",{"k":["******"]},[]]}`,
		`[{"name": "HF_TOKEN", "value": "x"}, {"name": "LR", "value": "1"}, {"name": 3, "value": "y"}]`: `[{"name":"HF_TOKEN","value":"******"},{"name":"LR","value":"1"},{"name":3,"value":"y"}]`,
		`{"args": ["--token", "x", "--token", 5, "--lr", "1"]}`:                                         `{"args":["--token","******","--token","******","--lr","1"]}`,
		`"https://u:p@h"`:      `"https://u:******@h"`,
		`12345678901234567890`: `12345678901234567890`,
	} {
		got, err := r.JSON([]byte(in))
		if err != nil || string(got) != want {
			t.Errorf("%s: got %s, %v, want %s", in, got, err, want)
		}
	}
	for _, bad := range []string{"", "{", `{"a":}`, "[1,", "1 2", `{"a": [}]}`} {
		if got, err := r.JSON([]byte(bad)); err == nil {
			t.Errorf("%q: got %s, want an error", bad, got)
		}
	}
}

// FuzzText checks that hiding is stable: hidden text does not change when hidden again.
func FuzzText(f *testing.F) {
	f.Add("HF_TOKEN=abc,LR=1 https://u:p@h")
	f.Add(`API_KEY="a b" PASSWORD='`)
	f.Add(`c: --token: "a" --api-key x --password 'b HF_TOKEN:a;B:1 PASSWORD: "x`)
	f.Fuzz(func(t *testing.T, s string) {
		r := &Rules{}
		once := r.Text(s)
		if twice := r.Text(once); twice != once {
			t.Errorf("%q: first %q, then %q", s, once, twice)
		}
	})
}
