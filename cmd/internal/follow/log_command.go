package follow

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/backend"
	"torchx/runtime/failpoint"
	"torchx/runtime/logview"
	"torchx/runtime/runner"
	"torchx/runtime/spec"
)

// logOptions are the flags of `log`.
type logOptions struct {
	stream       string
	regex        string
	since, until string
	line         string  // N[:M]
	last         *string // -n; nil if it is not given
	attempt      *string
	style        struct{ timestamps, json bool }
	follow       bool
	failed       bool
	new          bool
}

// NewLog returns the command `log`.
func NewLog(f *program.Factory) *cli.Command {
	o := logOptions{}
	var last, attempt string
	return &cli.Command{
		Name:    "log",
		Aliases: []string{"logs"},
		Usage:   "print an app's output",
		UsageText: "HANDLE[/ROLE[/ID,...]] [options]\n" +
			"torchx log -\n" +
			"torchx log -f -\n" +
			"torchx log -n 20 echo\n" +
			"torchx log echo/echo/0 --since 10m --regex 'hello|error'",
		Description: "Print the output of replicas in the order in which it was written, each line with its role and replica. If one " +
			"replica is named, lines have no prefix. --new prints only lines added since the previous `log --new`, for each " +
			"replica; stdout, stderr and combined are tracked separately. " +
			program.HandleHelp,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "tail", Aliases: []string{"t", "f", "follow"}, Usage: "follow the output until the app ends", Destination: &o.follow},
			&cli.StringFlag{Name: "n", Aliases: []string{"lines"}, Usage: "only the last `N` lines of each replica", Destination: &last},
			&cli.BoolFlag{Name: "new", Usage: "only lines added since the previous log --new", Destination: &o.new},
			&cli.BoolFlag{Name: "failed", Usage: "only replicas that failed, in the order in which they failed", Destination: &o.failed},
			&cli.StringFlag{Name: "regex", Usage: "only lines that match `RE` (RE2 syntax)", Destination: &o.regex},
			&cli.StringFlag{Name: "streams", Aliases: []string{"stream"}, Usage: "`STREAM` to print: combined (default), stdout or stderr", Destination: &o.stream},
			&cli.StringFlag{Name: "since", Usage: "only lines written at `TIME` or later: RFC 3339, unix seconds or an age (10m, 2h, 3d)", Destination: &o.since},
			&cli.StringFlag{Name: "until", Usage: "only lines written before `TIME`; with -t stop there", Destination: &o.until},
			&cli.StringFlag{Name: "line", Usage: "only lines `N[:M]` of each stream, counted from 1; M is included", Destination: &o.line},
			&cli.StringFlag{Name: "attempt", Usage: "`K`-th attempt of each replica, counted from 0 (default: the last)", Destination: &attempt},
			&cli.BoolFlag{Name: "timestamps", Usage: "print the time before each line", Destination: &o.style.timestamps},
			&cli.BoolFlag{Name: "json", Usage: "print one JSON object a line: time, role, replica, attempt, stream, line", Destination: &o.style.json},
		},
		Action: func(c *cli.Context) error {
			target, err := program.OneArgument(c, "HANDLE")
			if err != nil {
				return err
			}
			if c.IsSet("attempt") {
				o.attempt = &attempt
			}
			if c.IsSet("n") {
				o.last = &last
			}
			return log(c.Context, f, target, o)
		},
	}
}

func log(ctx context.Context, f *program.Factory, text string, o logOptions) error {
	q, err := o.request(failpoint.Now())
	if err != nil {
		return err
	}
	r, err := f.Runner(ctx)
	if err != nil {
		return err
	}
	if q.Target, err = resolveLog(ctx, r, text); err != nil {
		return err
	}
	// A single replica's lines need no prefix, and what it writes without a newline
	// (a progress bar, a prompt) is printed immediately.
	single := len(q.Target.IDs) == 1
	q.Prefix = !single
	q.Read.Partial = q.Read.Follow && single && q.Regex == nil
	waiting, stop := *r, func() {}
	waiting.Waiting = func(s *spec.Status) {
		SayWaiting(f.Console, s)
		if !q.Read.Follow { // otherwise Print announces the reasons
			stop = AnnounceWaiting(f.Console, r, q.Target.Ref)
		}
	}
	defer func() { stop() }()
	p := LogPrinter{Console: f.Console, Runner: &waiting, Out: f.Out, Color: f.OutStyle.Color}
	var stats logview.Stats
	if o.failed {
		stats, err = printFailed(ctx, f, p, q)
	} else {
		stats, err = p.Print(ctx, q)
	}
	if q.Read.Follow && err != nil && program.Interrupted(ctx, err) {
		return interruptedLog(ctx, f, r, q.Target.Ref)
	}
	if err != nil {
		return err
	}
	if o.style.json { // otherwise notices are printed in place of the missing lines
		for _, n := range stats.Notices {
			f.Warn("%s", n)
		}
	}
	if !stats.Shown && len(stats.Notices) > 0 {
		return program.QuietError(program.ExitError)
	}
	return nil
}

// interruptedLog says whether the app of an interrupted log goes on.
func interruptedLog(
	ctx context.Context, f *program.Factory, r *runner.Runner, ref runner.Ref,
) error {
	if s := r.LastStatus(context.WithoutCancel(ctx), ref); s == nil || s.State.Terminal() {
		return program.ErrInterrupted
	}
	f.Line("", fmt.Sprintf("interrupted: %s has not ended", ref.Handle()))
	return program.QuietError(spec.ExitCancelled)
}

// resolveLog returns the replicas that HANDLE[/ROLE[/ID,...]] names.
func resolveLog(ctx context.Context, r *runner.Runner, text string) (t LogTarget, err error) {
	t.Ref, t.Role, t.IDs, err = r.ResolveLog(ctx, text)
	return t, err
}

// maxExplained is how many logs that cannot be read are explained: a lost node has many.
const maxExplained = 3

// printFailed prints the logs of the failed replicas of a target, one after the other, in the
// order in which they failed.
func printFailed(
	ctx context.Context, f *program.Factory, p LogPrinter, q LogRequest,
) (logview.Stats, error) {
	var all logview.Stats
	seen, err := p.Runner.See(ctx, q.Target.Ref)
	if err != nil {
		return all, err
	}
	q.Seen = &seen
	if err := p.Runner.CheckReplicas(ctx, q.Target.Ref, seen.Status, q.Target.Role, q.Target.IDs); err != nil {
		return all, err
	}
	failed := failedReplicas(seen.Status, q.Target)
	if len(failed) == 0 {
		f.Say("no replica of %s has failed", q.Target)
	}
	unread := 0
	for _, r := range failed {
		q.Target.Role, q.Target.IDs = r.Role, []int{r.ID}
		stats, err := p.Print(ctx, q)
		if err != nil {
			if ctx.Err() != nil || program.IsBrokenPipe(err) || len(failed) == 1 {
				return all, err
			}
			if unread++; unread <= maxExplained { // the other logs may be readable
				f.Explain(err)
			}
		}
		all.Shown = all.Shown || stats.Shown
		all.Bytes += stats.Bytes
		all.Notices = append(all.Notices, stats.Notices...)
	}
	if unread > maxExplained {
		f.Warn("the logs of %d more failed replicas cannot be read", unread-maxExplained)
	}
	if unread > 0 {
		return all, program.QuietError(program.ExitError)
	}
	return all, nil
}

// failedReplicas returns the failed replicas of a target in the order in which they failed.
func failedReplicas(s *spec.Status, target LogTarget) []spec.ReplicaStatus {
	return slices.DeleteFunc(s.FailedReplicas(), func(r spec.ReplicaStatus) bool {
		return target.Role != "" && target.Role != r.Role || len(target.IDs) > 0 &&
			!slices.Contains(target.IDs, r.ID)
	})
}

// request returns the lines that the flags select.
func (o logOptions) request(now time.Time) (q LogRequest, err error) {
	if o.failed && o.follow {
		return q, program.Usagef("log", "--failed and --tail cannot be used together: failed replicas are known only at the end")
	}
	if o.new && (o.since != "" || o.until != "" || o.line != "" || o.last != nil || o.attempt != nil) {
		return q, program.Usagef("log", "--new cannot be used with --since, --until, --line, -n or --attempt: it continues after the previous --new")
	}
	q.New, q.Timestamps, q.JSON = o.new, o.style.timestamps, o.style.json
	q.Read = backend.LogOptions{Stream: backend.Stream(o.stream), Follow: o.follow, Tail: -1}
	if o.stream != "" && !slices.Contains(backend.Streams, q.Read.Stream) {
		return q, program.Usagef("log", "unknown stream %s: it is one of combined, stdout, stderr",
			ui.QuoteWord(o.stream))
	}
	if o.regex != "" {
		if q.Regex, err = regexp.Compile(o.regex); err != nil {
			return q, program.Usagef("log", "--regex: %s",
				strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		}
	}
	if q.Read.Since, err = logTime("--since", o.since, now); err != nil {
		return q, err
	}
	if q.Read.Until, err = logTime("--until", o.until, now); err != nil {
		return q, err
	}
	if o.last != nil {
		if q.Read.Tail, err = program.Count("log", "-n", *o.last); err != nil {
			return q, err
		}
	}
	if o.attempt != nil {
		k, err := program.Count("log", "--attempt", *o.attempt)
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

// parseLines parses N or N:M; an empty text and an empty M set no limit.
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
