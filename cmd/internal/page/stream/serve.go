package stream

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// beat is the time between two signs of life, by which gone clients are found.
const beat = 25 * time.Second

// greeting is how long a client waits for feeds that are slow to settle: those of a remote backend.
const greeting = time.Second

// data is the text of an event.
type data struct {
	AppID string `json:"app_id,omitempty"`
}

// Serve sends events to a client until it goes.
func (h *Hub) Serve(w http.ResponseWriter, r *http.Request, feeds []Feed) {
	client, leave, ok := h.Subscribe(feeds)
	if !ok {
		w.Header().Set("Retry-After", "60")
		http.Error(w, `{"error":"too many pages are open"}`, http.StatusServiceUnavailable)
		return
	}
	defer leave()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // of a proxy
	out := http.NewResponseController(w)
	send := func(text string) error {
		if _, err := fmt.Fprint(w, text); err != nil {
			return err
		}
		return out.Flush()
	}
	settled := client.Settled
	select {
	case <-settled:
		settled = nil
	case <-time.After(greeting):
	case <-r.Context().Done():
		return
	}
	hello := message(Event{Kind: "hello"})
	if send("retry: 2000\n"+hello) != nil {
		return
	}
	tick := time.NewTicker(beat)
	defer tick.Stop()
	for {
		text := ""
		select {
		case <-client.Ready:
			for _, e := range client.Take() {
				text += message(e)
			}
		case <-settled:
			settled, text = nil, hello // it may have missed a change since the first
		case <-tick.C:
			text = ": alive\n\n"
		case <-r.Context().Done():
			return
		case <-h.ctx.Done():
			return
		}
		if text != "" && send(text) != nil {
			return
		}
	}
}

func message(e Event) string {
	text, err := json.Marshal(data{e.AppID})
	if err != nil {
		text = []byte("{}") // a string always encodes
	}
	return "event: " + e.Kind + "\ndata: " + string(text) + "\n\n"
}
