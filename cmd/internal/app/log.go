package app

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/follow"
	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/backend"
)

type logOptions struct {
	target       string // HANDLE[/ROLE[/IDS]]
	regex        string
	stream       string
	since, until string
	last         string // -n
	line         string // N[:M]
	attempt      string
	timestamps   bool
	json         bool
	follow       bool
	failed       bool
	fresh        bool // --new
	setAttempt   bool
	setLast      bool
}

func NewLog(t *program.Factory) *cli.Command {
	o := logOptions{}
	return &cli.Command{
		Name:      "log",
		Aliases:   []string{"logs"},
		Usage:     "print the output of an app's replicas",
		UsageText: "HANDLE[/ROLE[/ID,...]] [options]\ntorchx log -t -\ntorchx log echo-f3k1/trainer/0,1 --since 10m --regex 'loss|error'\ntorchx log - -n 20",
		Description: "Print what replicas wrote, in the order it was written, each line with its role and replica; " +
			"without them when one replica is named. With --new print only what came since the last look with it, for each replica; " +
			"stdout, stderr and combined are looked at apart. " + program.HandleHelp,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "tail", Aliases: []string{"t", "f", "follow"}, Usage: "go on until the app has ended", Destination: &o.follow},
			&cli.StringFlag{Name: "n", Aliases: []string{"lines"}, Usage: "only the last `N` lines of each replica", Destination: &o.last},
			&cli.BoolFlag{Name: "new", Usage: "only what came since the last look with --new", Destination: &o.fresh},
			&cli.BoolFlag{Name: "failed", Usage: "only replicas that failed, the first to fail first", Destination: &o.failed},
			&cli.StringFlag{Name: "regex", Usage: "only lines in which `RE` (RE2) matches", Destination: &o.regex},
			&cli.StringFlag{Name: "streams", Aliases: []string{"stream"}, Usage: "one `OF` combined (default), stdout, stderr", Destination: &o.stream},
			&cli.StringFlag{Name: "since", Usage: "only lines of `TIME` or later: RFC 3339, unix seconds or an age (10m, 2h, 3d)", Destination: &o.since},
			&cli.StringFlag{Name: "until", Usage: "only lines before `TIME`; with -t the end", Destination: &o.until},
			&cli.StringFlag{Name: "line", Usage: "from line `N[:M]` on, up to M, of each stream; the first is 1", Destination: &o.line},
			&cli.StringFlag{Name: "attempt", Usage: "attempt `K` of each replica, from 0 (default: the last)", Destination: &o.attempt},
			&cli.BoolFlag{Name: "timestamps", Usage: "the time before each line", Destination: &o.timestamps},
			&cli.BoolFlag{Name: "json", Usage: "an object a line: time, role, replica, attempt, stream, line", Destination: &o.json},
		},
		Action: func(c *cli.Context) (err error) {
			if o.target, err = program.OneArgument(c, "HANDLE"); err != nil {
				return err
			}
			o.setAttempt, o.setLast = c.IsSet("attempt"), c.IsSet("n")
			return log(c.Context, t, o)
		},
	}
}

func (o logOptions) query(now time.Time) (q follow.LogQuery, err error) {
	if o.failed && o.follow {
		return q, program.Usagef("log", "--failed and --tail cannot be used together: which replicas fail is known at the end")
	}
	if o.fresh && (o.since != "" || o.until != "" || o.line != "" || o.setLast || o.setAttempt) {
		return q, program.Usagef("log", "--new cannot be used with --since, --until, --line, -n or --attempt: it goes on where it was left")
	}
	q.Fresh = o.fresh
	q.Read = backend.LogOptions{Stream: backend.Stream(o.stream), Follow: o.follow, Tail: -1}
	if o.stream != "" && !slices.Contains(backend.Streams, q.Read.Stream) {
		return q, program.Usagef("log", "unknown stream %s: it is one of combined, stdout, stderr", ui.QuoteWord(o.stream))
	}
	if o.regex != "" {
		if q.Regex, err = regexp.Compile(o.regex); err != nil {
			return q, program.Usagef("log", "--regex: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		}
	}
	if q.Read.Since, err = logTime("--since", o.since, now); err != nil {
		return q, err
	}
	if q.Read.Until, err = logTime("--until", o.until, now); err != nil {
		return q, err
	}
	if o.setLast {
		if q.Read.Tail, err = program.Count("log", "-n", o.last); err != nil {
			return q, err
		}
	}
	if o.setAttempt {
		k, err := program.Count("log", "--attempt", o.attempt)
		if err != nil {
			return q, err
		}
		attempt := int(k)
		q.Read.Attempt = &attempt
	}
	q.Read.FromLine, q.Read.ToLine, err = parseLines(o.line)
	return q, err
}

func logTime(flag, text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	at, err := ui.ParseTime(text, now)
	if err != nil {
		return at, program.Usagef("log", "%s: %v", flag, err)
	}
	return at, nil
}

// parseLines reads N or N:M; an empty text and an empty M are no bounds.
func parseLines(text string) (from, to int64, err error) {
	if text == "" {
		return 0, 0, nil
	}
	first, last, ranged := strings.Cut(text, ":")
	from, err = strconv.ParseInt(first, 10, 64)
	if err == nil && ranged && last != "" {
		to, err = strconv.ParseInt(last, 10, 64)
	}
	if err != nil || from < 1 || last != "" && to < from {
		return 0, 0, program.Usagef("log", "--line must be N or N:M with 1 <= N <= M, not %s", ui.QuoteWord(text))
	}
	return from, to, nil
}
