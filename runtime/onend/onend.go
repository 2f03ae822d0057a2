// Package onend does what the user wants at the end of an app: it runs commands and posts to
// URLs. A process of its own, `torchx agent APP/on_end`, does it in the background when the app
// has ended, whether its agent is alive or a later command found it dead:
//
//	agent.NoteEnd ─► end.json ─► agent.RunOnEnd ─► Main ─► progress.jsonl, output.log
//
// Each action begins at most once: its start is recorded before, and one that was interrupted
// is not tried again. Nothing here changes the result of the app.
package onend

import (
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"torchx/runtime/agent"
	"torchx/runtime/consent"
	"torchx/runtime/filelock"
	"torchx/runtime/humanize"
	"torchx/runtime/pattern"
	"torchx/runtime/safefile"
	"torchx/runtime/secrets"
)

const (
	progressFile = "progress.jsonl"
	outputFile   = "output.log"
	maxProgress  = 1 << 20 // bytes of progressFile

	// timeLimit bounds how long a command may run.
	timeLimit = time.Minute
	// maxOutput is how much of the output of a command is kept, in bytes.
	maxOutput = 64 << 10
)

// States of an action.
const (
	started   = "started"
	succeeded = "succeeded"
	failed    = "failed"
)

// Record is a line of progressFile.
type Record struct {
	Time   time.Time `json:"time"`
	Action int       `json:"action"`
	What   string    `json:"what"`  // the action without secrets
	State  string    `json:"state"` // one of the states of an action
	Msg    string    `json:"msg,omitempty"`
}

// String describes the record in a few words.
func (r Record) String() string {
	text := r.What + ": " + r.State
	if r.Msg != "" {
		text += ": " + r.Msg
	}
	return text
}

// Records returns what has run at the end of the app in a folder, oldest first; nothing if
// that cannot be read. A start is left out if its end is known.
func Records(folder string) (records []Record) {
	all := read(filepath.Join(folder, agent.OnEndFolder))
	for i, r := range all {
		if r.State != started || !hasEnd(all[i:], r.Action) {
			records = append(records, r)
		}
	}
	return records
}

func hasEnd(records []Record, action int) bool {
	for _, r := range records {
		if r.Action == action && r.State != started {
			return true
		}
	}
	return false
}

func read(dir string) (records []Record) {
	data, err := safefile.ReadFile(filepath.Join(dir, progressFile), maxProgress)
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(data)) {
		var r Record
		if json.Unmarshal([]byte(line), &r) == nil {
			records = append(records, r)
		}
	}
	return records
}

// Main runs what is left to do in an agent.OnEndFolder and returns the exit code of the process.
func Main(dir string) int {
	return agent.Supervise(func(l *log.Logger) error {
		lock, err := agent.LockOnEnd(dir)
		if errors.Is(err, filelock.ErrHeld) {
			return nil // another process does it
		}
		if err != nil {
			return err
		}
		defer lock.Close()
		e, err := agent.ReadEnd(dir)
		if err != nil {
			return err
		}
		os.Clearenv() // of the command that found the app ended
		for _, kv := range e.Environ {
			if name, value, ok := strings.Cut(string(kv), "="); ok {
				_ = os.Setenv(name, value) // an invalid name is left out
			}
		}
		rules, err := secrets.New(e.Secrets)
		if err != nil {
			rules = &secrets.Rules{}
		}
		p := &performer{dir: dir, end: e, rules: rules.WithVariables(e.Variables), backoff: backoff, limit: timeLimit, log: l}
		if err := p.performAll(); err != nil {
			return err
		}
		agent.EndDone(dir)
		return nil
	})
}

// performer runs the actions of one app.
type performer struct {
	dir     string
	end     *agent.End
	rules   *secrets.Rules
	backoff []time.Duration // before each further try of a POST
	limit   time.Duration   // of a command
	log     *log.Logger
}

func (p *performer) performAll() error {
	begun := map[int]bool{}
	all := read(p.dir)
	for i, r := range all {
		begun[r.Action] = true
		if r.State == started && !hasEnd(all[i:], r.Action) {
			if err := p.record(r.Action, failed, "interrupted; it is not run again"); err != nil {
				return err
			}
		}
	}
	for i, action := range p.end.Actions {
		if begun[i] {
			continue
		}
		if err := p.record(i, started, ""); err != nil {
			return err // otherwise it could run again
		}
		state, msg := succeeded, ""
		if err := p.perform(action); err != nil {
			state, msg = failed, err.Error()
		}
		if err := p.record(i, state, msg); err != nil {
			p.log.Print(err)
		}
	}
	return nil
}

func (p *performer) perform(action string) error {
	if IsURL(action) {
		return p.post(action)
	}
	for file, sum := range p.end.Trusted {
		if now, err := consent.Sum(file); err != nil || now != sum {
			return fmt.Errorf("not run: %s has changed since you trusted it", file)
		}
	}
	return p.run(action)
}

// record appends to progressFile durably.
func (p *performer) record(action int, state, msg string) error {
	r := Record{Time: time.Now().UTC(), Action: action, What: Label(p.end.Actions[action], p.rules), State: state, Msg: p.rules.Text(msg)}
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	f, err := safefile.OpenFile(filepath.Join(p.dir, progressFile),
		os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Sync(), f.Close())
}

// IsURL reports whether an action is a URL instead of a command.
func IsURL(action string) bool {
	scheme, _, ok := strings.Cut(action, "://")
	return ok && !strings.ContainsAny(scheme, " \t\n'\"$/=;|&")
}

// Check returns an error for an action that cannot work. warning is one line about a URL that
// is read by others on its way, "" for none.
func Check(action string) (warning string, err error) {
	if !IsURL(action) {
		if strings.TrimSpace(action) == "" || strings.Contains(action, "\x00") {
			return "", errors.New("the command is empty or has a NUL byte")
		}
		return "", nil
	}
	u, err := url.Parse(action)
	switch {
	case err != nil:
		return "", errors.New("not a valid URL") // err has all of it
	case u.Scheme != "https" && u.Scheme != "http":
		return "", fmt.Errorf("unknown scheme %s: write a command, or a URL with https://", u.Scheme)
	case u.Hostname() == "":
		return "", errors.New("the URL has no host")
	case u.Scheme == "http" && !isLoopback(u.Hostname()):
		return fmt.Sprintf("%s is not encrypted: others can read the summary on its way (use https)", Label(action, &secrets.Rules{})), nil
	}
	return "", nil
}

// maxLabel bounds the text of a command in messages, in runes.
const maxLabel = 60

// urlPath matches a URL with a path inside a command.
var urlPath = pattern.Lazy(`(\bhttps?://[^\s/?'"]+)[/?][^\s'"]+`)

// Label returns an action without secrets: the path and the parameters of a URL often are one.
func Label(action string, rules *secrets.Rules) string {
	if u, err := url.Parse(action); err == nil && IsURL(action) {
		if u.Path != "" || u.RawQuery != "" {
			return u.Scheme + "://" + u.Host + "/…"
		}
		return u.Scheme + "://" + u.Host
	}
	text := []rune(urlPath().ReplaceAllString(strings.Join(strings.Fields(rules.Text(action)), " "), "$1/…"))
	if len(text) > maxLabel {
		text = append(text[:maxLabel-1], '…')
	}
	return string(text)
}

// variables are the facts about the app for a command.
func (p *performer) variables() []string {
	s := &p.end.Status
	code := ""
	if s.ExitCode != nil {
		code = fmt.Sprint(*s.ExitCode)
	}
	return []string{
		"TORCHX_HANDLE=" + s.Handle, "TORCHX_STATE=" + s.State.String(), "TORCHX_EXIT_CODE=" + code,
		"TORCHX_DURATION=" + fmt.Sprint(p.duration().Seconds()),
	}
}

// duration is how long the app ran, 0 if it never started.
func (p *performer) duration() time.Duration {
	s := &p.end.Status
	if s.StartedAt == nil || s.FinishedAt == nil {
		return 0
	}
	return max(0, s.FinishedAt.Sub(*s.StartedAt)).Round(time.Millisecond)
}

func durationText(d time.Duration) string {
	if d > time.Minute {
		d = d.Round(time.Second)
	}
	return humanize.FormatDuration(d)
}
