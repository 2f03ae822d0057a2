package machine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// queryTimeout bounds a query of what GPUs do. It is not killable while the driver hangs in the
// kernel.
const queryTimeout = 5 * time.Second

// GPUProcess is a process that uses a GPU.
type GPUProcess struct {
	PID    int
	GPU    string // UUID
	Memory *int64 // bytes; nil if the driver does not say
}

// GPULoad is what a GPU does.
type GPULoad struct {
	GPU

	Percent *float64 // of the time in use; nil if the driver does not say
	Memory  *int64   // bytes in use
}

// queryPID is the process of the query that runs, 0 for none.
var queryPID atomic.Int64

// QueryPID returns the process of a running query, 0 if there is none. It is not part of any app,
// and a hanging driver may keep it alive.
func QueryPID() int { return int(queryPID.Load()) }

// GPUProcesses returns the processes that compute on GPUs. At most one query may run at a time.
func GPUProcesses(ctx context.Context) ([]GPUProcess, error) {
	rows, err := query(ctx, 3, "--query-compute-apps=pid,gpu_uuid,used_gpu_memory")
	var all []GPUProcess
	for _, row := range rows {
		if pid, err := strconv.Atoi(row[0]); err == nil && pid > 0 {
			all = append(all, GPUProcess{PID: pid, GPU: row[1], Memory: mebibytes(row[2])})
		}
	}
	return all, err
}

// GPULoads returns what the GPUs of this machine do. At most one query may run at a time.
func GPULoads(ctx context.Context) ([]GPULoad, error) {
	rows, err := query(ctx, 4, "--query-gpu=index,uuid,utilization.gpu,memory.used")
	var all []GPULoad
	for _, row := range rows {
		l := GPULoad{GPU: GPU{ID: row[0], UUID: row[1]}, Memory: mebibytes(row[3])}
		if p, err := strconv.ParseFloat(row[2], 64); err == nil && p >= 0 && p <= 100 {
			l.Percent = &p
		}
		all = append(all, l)
	}
	return all, err
}

// mebibytes parses an amount in MiB; nil if it is not a number, such as "[N/A]".
func mebibytes(text string) *int64 {
	n, err := strconv.ParseInt(text, 10, 40)
	if err != nil || n < 0 {
		return nil
	}
	n <<= 20
	return &n
}

// query returns the rows of a query of nvidia-smi that have the right number of columns. The
// program runs in its own session, so that all of its processes can be killed.
func query(ctx context.Context, columns int, what string) ([][]string, error) {
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "nvidia-smi", what, "--format=csv,noheader,nounits")
	var out bytes.Buffer
	cmd.Stdout, cmd.WaitDelay = &out, smiDelay
	isolate(cmd)
	err := cmd.Start()
	if err == nil {
		queryPID.Store(int64(cmd.Process.Pid))
		err = cmd.Wait()
		queryPID.Store(0)
	}
	if exit := new(exec.ExitError); ctx.Err() != nil || errors.As(err, &exit) ||
		cmd.Process == nil {
		return nil, fmt.Errorf("query GPUs: %w", errors.Join(err, ctx.Err()))
	}
	// Another error may be that the reaper of an agent has waited for the process: the output is
	// complete.
	var rows [][]string
	for text := range strings.Lines(out.String()) {
		row := strings.Split(text, ",")
		for i := range row {
			row[i] = strings.TrimSpace(row[i])
		}
		if len(row) == columns {
			rows = append(rows, row)
		}
	}
	return rows, nil
}
