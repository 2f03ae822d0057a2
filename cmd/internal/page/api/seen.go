package api

import (
	"encoding/json"
	"sync"

	"torchx/runtime/spec"
)

// seen is the last status that was observed.
type seen struct {
	mu   sync.Mutex
	last string
}

func newSeen() *seen { return &seen{} }

func (s *seen) set(status *spec.Status) {
	data, err := json.Marshal(status)
	if err != nil {
		return // it shows no change
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = string(data)
}

func (s *seen) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last
}
