package ui

import "time"

// slowTime is after what time a command says what it waits for.
const slowTime = 2 * time.Second

// SayIfSlow prints a line on stderr, once, unless stop is called within two seconds.
func (c *Console) SayIfSlow(format string, args ...any) (stop func()) {
	over, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		timer := time.NewTimer(slowTime)
		defer timer.Stop()
		select {
		case <-timer.C:
			c.Say(format, args...)
		case <-over:
		}
	}()
	return func() {
		close(over)
		<-done
	}
}
