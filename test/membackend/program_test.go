package membackend

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// Exit codes of a shell for a process ended by a signal: 128 + its number.
const (
	codeKill = 128 + 9
	codeTerm = 128 + 15
)

// process is one running attempt, for its program.
type process struct {
	args  []string // without the program's name
	env   spec.Map[string]
	write func(stream backend.Stream, text string)
	term  <-chan struct{} // closed to request a stop
	kill  <-chan struct{} // closed to kill it
}

// program runs a process and returns its exit code. It must end soon after kill is closed.
type program func(p *process) int

// programs returns the programs by entry point.
func programs() map[string]program {
	return map[string]program{
		"true":     func(*process) int { return 0 },
		"false":    func(*process) int { return 1 },
		"echo":     echo,
		"printf":   printf,
		"printenv": printenv,
		"exit":     exit,
		"fail":     fail,
		"sleep":    sleep,
		"lines":    lines,
		"hang":     hang,
		"die":      die,
	}
}

// Programs lists the entry points:
//
//	true, false         exit with 0 and 1
//	echo WORD…          prints its words and a newline
//	printf TEXT         prints the text without a newline
//	printenv NAME       prints a variable of its role; exits with 1 if it is not set
//	exit CODE           exits with that code
//	fail CODE TEXT      prints the text as printf does and exits with that code
//	sleep SECONDS       exits with 0, or immediately when asked to stop
//	lines N [SECONDS]   prints "line 1" … "line N", odd ones to stdout, even ones
//	                    to stderr, with a pause between them
//	hang                prints "ready" and runs until it is killed
//	die SIGNAL          is ended by a signal: TERM or KILL
func Programs() []string { return slices.Sorted(maps.Keys(programs())) }

func echo(p *process) int {
	p.write(backend.Stdout, strings.Join(p.args, " ")+"\n")
	return 0
}

func printf(p *process) int {
	for line := range strings.SplitAfterSeq(strings.Join(p.args, " "), "\n") {
		if line != "" {
			p.write(backend.Stdout, line)
		}
	}
	return 0
}

func printenv(p *process) int {
	v, ok := p.env.Get(p.arg(0))
	if !ok {
		return 1
	}
	p.write(backend.Stdout, v+"\n")
	return 0
}

func exit(p *process) int {
	code, err := strconv.Atoi(p.arg(0))
	if err != nil {
		return p.usage("exit CODE")
	}
	return code & 0xff
}

func fail(p *process) int {
	code, err := strconv.Atoi(p.arg(0))
	if err != nil {
		return p.usage("fail CODE TEXT")
	}
	p.write(backend.Stdout, p.arg(1))
	return code & 0xff
}

func sleep(p *process) int {
	d, err := strconv.ParseFloat(p.arg(0), 64)
	if err != nil {
		return p.usage("sleep SECONDS")
	}
	return p.pause(seconds(d))
}

func lines(p *process) int {
	n, err := strconv.Atoi(p.arg(0))
	if err != nil {
		return p.usage("lines N [SECONDS]")
	}
	d, _ := strconv.ParseFloat(p.arg(1), 64) // 0 if it is missing
	for i := 1; i <= n; i++ {
		stream := backend.Stdout
		if i%2 == 0 {
			stream = backend.Stderr
		}
		p.write(stream, fmt.Sprintf("line %d\n", i))
		if code := p.pause(seconds(d)); code != 0 {
			return code
		}
	}
	return 0
}

func hang(p *process) int {
	p.write(backend.Stdout, "ready\n")
	<-p.kill
	return codeKill
}

func die(p *process) int {
	switch p.arg(0) {
	case "TERM":
		return codeTerm
	case "KILL":
		return codeKill
	}
	return p.usage("die TERM|KILL")
}

// pause waits and returns 0, or the exit code of a signal that ends the process.
func (p *process) pause(d time.Duration) int {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-p.kill:
		return codeKill
	case <-p.term:
		return codeTerm
	default:
	}
	select {
	case <-p.kill:
		return codeKill
	case <-p.term:
		return codeTerm
	case <-timer.C:
		return 0
	}
}

func (p *process) arg(i int) string {
	if i < len(p.args) {
		return p.args[i]
	}
	return ""
}

func (p *process) usage(text string) int {
	p.write(backend.Stderr, "usage: "+text+"\n")
	return 2
}

// signalName returns the signal of an exit code, "" if no signal ended the process.
func signalName(code int) string {
	switch code {
	case codeKill:
		return "SIGKILL"
	case codeTerm:
		return "SIGTERM"
	}
	return ""
}
