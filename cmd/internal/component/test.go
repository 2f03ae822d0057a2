package component

import (
	"context"
	"errors"
	"os/exec"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/program"
	"torchx/starlark/interp"
	"torchx/starlark/starfiles"
	"torchx/starlark/startest"
)

// testOptions are the flags of `component test`.
type testOptions struct {
	startest.Options
	verbose, json bool
	profile       string // file for the coverage
}

func newTest(f *program.Factory) *cli.Command {
	o := testOptions{}
	return &cli.Command{
		Name:  "test",
		Usage: "run the tests of components",
		UsageText: "[-run RE] [-v] [-json] [-update] [-cover] [PATH...]\n" +
			"torchx component new train\n" +
			"torchx component test\n" +
			"torchx component test -v -run test_resources/named components\n" +
			"torchx component test -update components/train_test.star\n" +
			"torchx component test -cover -coverprofile cover.out",
		Description: "Run the functions test_NAME(t) of *_test.star files and print what `go test` prints. Each file is evaluated once, " +
			"then its tests run in parallel. t has eq, ne, true, false, contains, lacks, matches, fails, error, fatal, log, skip, " +
			"run (a subtest), app (a component with command-line arguments), plan (what a backend would get, without one), golden " +
			"(compare with testdata/NAME.json) and setenv. An endless loop, too much memory or a crash fails only that test. The " +
			"exit code is 1 if a test failed.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "run", Usage: "only tests that match `RE`; a slash separates subtests", Destination: &o.Run},
			&cli.StringFlag{Name: "skip", Usage: "no tests that match `RE`", Destination: &o.Skip},
			&cli.BoolFlag{Name: "v", Aliases: []string{"verbose"}, Usage: "print all tests and their log", Destination: &o.verbose},
			&cli.BoolFlag{Name: "json", Usage: "print events as `go test -json` does, one a line", Destination: &o.json},
			&cli.BoolFlag{Name: "update", Usage: "write the golden files instead of comparing with them", Destination: &o.Update},
			&cli.BoolFlag{Name: "cover", Usage: "print the coverage of components", Destination: &o.Cover},
			&cli.StringFlag{Name: "coverprofile", Usage: "write the coverage to `FILE`, for `go tool cover -html=FILE`", Destination: &o.profile},
			&cli.BoolFlag{Name: "failfast", Usage: "start no further tests after a failure", Destination: &o.FailFast},
			&cli.IntFlag{Name: "parallel", Aliases: []string{"p"}, Usage: "run `N` tests in parallel (default: one for each processor)", Destination: &o.Parallel},
			&cli.DurationFlag{Name: "timeout", Usage: "the longest that one test may take, such as 10s", Value: interp.DefaultTimeout, Destination: &o.Timeout},
		},
		Action: func(c *cli.Context) error {
			if c.IsSet("parallel") && o.Parallel < 1 {
				return program.Usagef("component test",
					"-parallel must be at least 1, not %d", o.Parallel)
			}
			return runTest(c.Context, f, c.Args().Slice(), o)
		},
	}
}

func (o *testOptions) check() error {
	for flag, pattern := range map[string]string{"run": o.Run, "skip": o.Skip} {
		if err := startest.CheckPattern(flag, pattern); err != nil {
			return program.Usagef("component test", "%v", err)
		}
	}
	if o.Timeout <= 0 {
		return program.Usagef("component test", "-timeout must be more than 0, not %s", o.Timeout)
	}
	o.Cover = o.Cover || o.profile != ""
	return nil
}

func runTest(ctx context.Context, f *program.Factory, paths []string, o testOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	files, err := starfiles.Tests(f.Env.Dir, paths)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		f.Say("no *_test.star files in %s", pathsText(paths))
		return nil
	}
	if _, err := f.RootResources(); err != nil {
		return err
	}
	p := newTestPrinter(f, o, files)
	coverage, err := startest.Supervise(ctx, testJob(o, files), func(ctx context.Context) *exec.Cmd { return startTestWorker(ctx, f) }, p.add)
	err = errors.Join(p.end(), err)
	if err == nil && o.Cover {
		err = reportCoverage(f, coverage, paths, o)
	}
	if err == nil && p.failed {
		err = program.QuietError(program.ExitError)
	}
	return err
}

func testJob(o testOptions, files []string) startest.Job {
	job := startest.Job{Options: o.Options}
	for _, f := range files {
		job.Tasks = append(job.Tasks, startest.Task{File: f})
	}
	return job
}
