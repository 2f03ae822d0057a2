package program

import (
	"strings"

	"torchx/runtime/backend"
	"torchx/runtime/config"
	"torchx/runtime/consent"
	"torchx/runtime/pattern"
	"torchx/runtime/safefile"
)

var (
	// plainPath matches a workspace that is one folder; others are YAML.
	plainPath = pattern.Lazy(`^(file://)?[\w./-]+$`)
	// loaders matches the setting of a variable by which programs find code to run.
	loaders = pattern.Lazy(`(?m)(^|[\s,;{"'])(` +
		`LD_\w+|DYLD_\w+|GCONV_PATH|OPENSSL_(CONF|MODULES|ENGINES)|NCCL_\w*PLUGIN|PATH|HOME|XDG_CONFIG_HOME|` +
		`BASH_ENV|BASH_FUNC[^=:]*|ZDOTDIR|PYTHON(PATH|HOME|STARTUP|USERBASE)|PERL(5LIB|5OPT|LIB)|RUBY(LIB|OPT)|NODE_(OPTIONS|PATH)|` +
		`(JDK_)?JAVA_(TOOL_)?OPTIONS|_JAVA_OPTIONS|CLASSPATH|LUA_INIT\w*|LUA_C?PATH\w*|R_PROFILE\w*|` +
		`GIT_(SSH\w*|EXTERNAL_DIFF|EXEC_PATH|PAGER|ASKPASS|CONFIG\w*|PROXY_COMMAND|EDITOR))["']?\s*[=:]`)
)

// harmlessFiles reports whether the files of variables that s names are inside of folder, copy
// nothing from the environment and set no variable by which programs find code.
func (s *Setting) harmlessFiles(folder string) bool {
	copies := false
	s.Files = nil
	for _, name := range backend.SplitCSV(strings.ReplaceAll(s.Text, "\n", ",")) {
		path := absoluteIn(folder, name)
		if !consent.Inside(folder, path) {
			copies = true
			continue
		}
		file, err := safefile.OpenInput(path)
		if err != nil {
			continue // the run reports it
		}
		s.Files = append(s.Files, path)
		all, _ := config.ReadEnvFile(file, name, func(string) (string, bool) { copies = true; return "", false })
		file.Close()
		for _, v := range all {
			copies = copies || loaders().MatchString(v.Name+"=")
		}
	}
	return !copies
}
