package api

import "context"

// ReadLog returns a window of lines.
func (a *API) ReadLog(_ context.Context, _ string, _ LogQuery) (*Log, error) {
	return &Log{Lines: []LogLine{}, Notices: []string{}}, nil
}
