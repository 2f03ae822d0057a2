package docker

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"torchx/runtime/safefile"

	"github.com/docker/docker/client"
)

// Environment variables that select the engine, as in the docker command.
const (
	hostVariable    = "DOCKER_HOST"
	contextVariable = "DOCKER_CONTEXT"
	configVariable  = "DOCKER_CONFIG"
	certVariable    = "DOCKER_CERT_PATH"
	verifyVariable  = "DOCKER_TLS_VERIFY"
)

// defaultContext is the name by which docker refers to no context.
const defaultContext = "default"

// localEngine is the prefix of addresses that count as engines on this machine, although
// a socket may be forwarded to another one.
const localEngine = "unix://"

// endpoint is the address of an engine.
type endpoint struct {
	Host   string // such as unix:///var/run/docker.sock
	Certs  string // folder of ca.pem, cert.pem and key.pem; "": no TLS
	Verify bool   // check the engine's certificate
	Source string // what selected it: "DOCKER_HOST", "context x", "default"
}

// findEndpoint returns the endpoint that the docker command would use: by DOCKER_HOST,
// DOCKER_CONTEXT, the current context of its configuration, or the default socket.
func findEndpoint(getenv func(string) string) (endpoint, error) {
	if host := getenv(hostVariable); host != "" {
		return endpoint{host, getenv(certVariable), getenv(verifyVariable) != "", hostVariable}, nil
	}
	dir := configDir(getenv)
	name, why := getenv(contextVariable), contextVariable
	if name == "" {
		var err error
		if name, err = currentContext(dir); err != nil {
			return endpoint{}, err
		}
		why = "`docker context use`"
	}
	if name == "" {
		name = defaultContext
	}
	return readContext(dir, name, why)
}

// configDir returns the folder of the docker command's configuration.
func configDir(getenv func(string) string) string {
	if dir := getenv(configVariable); dir != "" {
		return dir
	}
	return filepath.Join(getenv("HOME"), ".docker")
}

func currentContext(dir string) (string, error) {
	var config struct {
		CurrentContext string `json:"currentContext"`
	}
	err := readJSON(filepath.Join(dir, "config.json"), &config)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return "", nil
	}
	return config.CurrentContext, err
}

// readContext reads what `docker context create` wrote.
func readContext(dir, name, why string) (endpoint, error) {
	if name == defaultContext {
		return endpoint{Host: client.DefaultDockerHost, Source: defaultContext}, nil
	}
	sum := sha256.Sum256([]byte(name))
	id := hex.EncodeToString(sum[:]) // the name of its folder
	var meta struct {
		Endpoints map[string]struct {
			Host          string
			SkipTLSVerify bool
		}
	}
	err := readJSON(filepath.Join(dir, "contexts", "meta", id, "meta.json"), &meta)
	if errors.Is(err, fs.ErrNotExist) {
		return endpoint{}, fmt.Errorf("docker context %q (from %s) does not exist: see `docker context ls`", name, why)
	}
	if err != nil {
		return endpoint{}, err
	}
	docker := meta.Endpoints["docker"]
	if docker.Host == "" {
		return endpoint{}, fmt.Errorf("docker context %q has no Docker endpoint", name)
	}
	e := endpoint{Host: docker.Host, Verify: !docker.SkipTLSVerify, Source: "context " + name}
	certs := filepath.Join(dir, "contexts", "tls", id, "docker")
	if _, err := os.Stat(certs); err == nil {
		e.Certs = certs
	}
	return e, nil
}

// maxContext is the maximum size of the Docker client's configuration files, in bytes.
const maxContext = 16 << 20

func readJSON(path string, v any) error {
	data, err := safefile.ReadInput(path, maxContext)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}

// environ returns variables by which findEndpoint returns the same endpoint.
func (e endpoint) environ() []string {
	env := []string{hostVariable + "=" + e.Host}
	if e.Certs != "" {
		env = append(env, certVariable+"="+e.Certs)
	}
	if e.Verify {
		env = append(env, verifyVariable+"=1")
	}
	return env
}

// lookup returns a getenv for a list of variables. The last one with a name wins.
func lookup(environ []string) func(string) string {
	return func(name string) string {
		for i := len(environ) - 1; i >= 0; i-- {
			if v, ok := strings.CutPrefix(environ[i], name+"="); ok {
				return v
			}
		}
		return ""
	}
}

// open returns a client, which does not contact the engine yet.
func (e endpoint) open() (*client.Client, error) {
	options := []client.Opt{client.WithVersionFromEnv(), client.WithAPIVersionNegotiation()}
	if e.isSSH() {
		over, err := e.overSSH()
		if err != nil {
			return nil, fmt.Errorf("engine %s (from %s): %w", e.Host, e.Source, err)
		}
		options = append(options, over...)
	} else {
		options = append(options, client.WithHost(e.Host))
	}
	if e.Certs != "" {
		file := func(name string) string { return filepath.Join(e.Certs, name) }
		ca := file("ca.pem")
		if _, err := os.Stat(ca); err != nil {
			ca = ""
		}
		options = append(options, client.WithTLSClientConfig(ca, file("cert.pem"), file("key.pem")))
	}
	c, err := client.NewClientWithOpts(options...)
	if err != nil {
		return nil, fmt.Errorf("engine %s (from %s): %w", e.Host, e.Source, err)
	}
	return c, nil
}
