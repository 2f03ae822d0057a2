package machine

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// VisibleVariable is the environment variable that tells CUDA programs which GPUs they may use.
const VisibleVariable = "CUDA_VISIBLE_DEVICES"

// smiTimeout bounds the detection of GPUs: a hanging driver must not hang torchx.
const (
	smiTimeout = 10 * time.Second
	// smiDelay bounds the wait for its output after that: a wrapper script's child may keep
	// the pipe open.
	smiDelay = time.Second
)

// GPU is a device that can be assigned to a replica.
type GPU struct {
	ID   string `json:"id"`             // its name in VisibleVariable: the number, or the UUID of a MIG instance
	UUID string `json:"uuid,omitempty"` // "" if unknown
}

// ListGPUs returns the non-empty lines of `nvidia-smi -L`. It fails if the program is missing or
// fails.
func ListGPUs(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, smiTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "nvidia-smi", "-L")
	cmd.WaitDelay = smiDelay
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("count GPUs: %w", err)
	}
	var lines []string
	for line := range strings.Lines(string(out)) {
		if strings.TrimSpace(line) != "" {
			lines = append(lines, strings.TrimRight(line, "\r\n"))
		}
	}
	return lines, nil
}

// GPUs returns the devices of this machine in the order of their numbers. Errors: those of
// ListGPUs.
func GPUs(ctx context.Context) ([]GPU, error) {
	lines, err := ListGPUs(ctx)
	if err != nil {
		return nil, err
	}
	return ParseGPUs(lines), nil
}

// ParseGPUs parses lines such as
//
//	GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-5d5b...)
//	  MIG 3g.20gb     Device  0: (UUID: MIG-c6d4...)
//
// A GPU that is split into MIG instances can be used only through them: they replace it.
func ParseGPUs(lines []string) []GPU {
	var gpus []GPU
	whole := false // the last device is a whole GPU
	for _, line := range lines {
		text := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(text, "GPU "):
			number, _, ok := strings.Cut(strings.TrimPrefix(text, "GPU "), ":")
			if ok {
				gpus, whole = append(gpus, GPU{ID: strings.TrimSpace(number), UUID: uuidIn(text)}), true
			}
		case strings.HasPrefix(text, "MIG ") && uuidIn(text) != "" && len(gpus) > 0:
			if whole {
				gpus, whole = gpus[:len(gpus)-1], false
			}
			gpus = append(gpus, GPU{ID: uuidIn(text), UUID: uuidIn(text)})
		}
	}
	return gpus
}

func uuidIn(text string) string {
	_, rest, _ := strings.Cut(text, "(UUID:")
	uuid, _, _ := strings.Cut(rest, ")")
	return strings.TrimSpace(uuid)
}

// Visible returns the GPUs that a value of VisibleVariable selects, in its order. As in CUDA, an
// entry is a number or the start of a UUID, the first entry that matches no device ends the list,
// and an empty value selects none (CUDA C++ Programming Guide, "CUDA Environment Variables").
func Visible(gpus []GPU, value string) []GPU {
	var left []GPU
	for entry := range strings.SplitSeq(value, ",") {
		g, ok := find(gpus, strings.TrimSpace(entry))
		if !ok {
			break
		}
		left = append(left, g)
	}
	return left
}

// find returns the only GPU that an entry matches.
func find(gpus []GPU, entry string) (found GPU, ok bool) {
	isUUID := strings.HasPrefix(entry, "GPU-") || strings.HasPrefix(entry, "MIG-")
	for _, g := range gpus {
		switch {
		case entry != "" && g.ID == entry:
			return g, true
		case isUUID && strings.HasPrefix(g.UUID, entry):
			if ok {
				return GPU{}, false // ambiguous
			}
			found, ok = g, true
		}
	}
	return found, ok
}
