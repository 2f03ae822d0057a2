package onend

import "errors"

// run is not supported: no app has an agent on Windows.
func (p *performer) run(string) error { return errors.ErrUnsupported }
