package ui

import "time"

// slowTime is the time after which a command prints what it waits for.
const slowTime = 2 * time.Second

// SayIfSlow prints a line on stderr, once, unless stop is called within two seconds.
func (c *Console) SayIfSlow(format string, args ...any) (stop func()) {
	stopped, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		timer := time.NewTimer(slowTime)
		defer timer.Stop()
		select {
		case <-timer.C:
			c.Say(format, args...)
		case <-stopped:
		}
	}()
	return func() {
		close(stopped)
		<-done
	}
}
