package sweep

// Watcher follows the metrics of trials for the controller of a sweep, which calls it from one
// goroutine. It exists only if the rules of the sweep need it.
type Watcher interface {
	// Begin starts to follow a trial whose app keeps its data in folder. A trial that was lost
	// begins again with the folder of another app.
	Begin(trial int, folder string)
	// End reads what is left of a trial whose app has ended. It returns the best value of the
	// sweep's metric, nil if it has reported none that is finite, and a verdict on the whole sweep
	// that follows from what was left, nil if none does.
	End(trial int) (*Value, *Verdict)
	// Start begins to judge. After a restart the controller first calls Begin for all trials
	// that have had an app, and End for those that have ended. What they have reported so far was
	// judged before: only --stop-when applies to it, of trials that have not ended.
	Start()
	// Verdicts delivers what follows from the metrics.
	Verdicts() <-chan Verdict
	// Close ends the watcher.
	Close()
}

// Value is a value of a metric.
type Value struct {
	Value float64
	Step  *int64 // nil: it has none
}

// Verdict is what follows from metrics: one trial is stopped, or the whole sweep.
type Verdict struct {
	Trial  int  // the trial to stop, or which met --stop-when
	Done   bool // the goal of the sweep is met: nothing else is needed
	Reason string
}
