package manual

import (
	"context"
	"strings"

	"torchx/cmd/internal/ui"
	"torchx/runtime/history"
)

// recentApps is the number of apps whose values are offered.
const recentApps = 1000

// recent calls visit for recent apps, newest first.
func (c *completer) recent(ctx context.Context, visit func(a *history.App)) {
	db := c.PeekHistory(ctx)
	if db == nil {
		return
	}
	_ = db.Walk(ctx, history.Filter{Limit: recentApps}, func(a *history.App) error { // offers what could be read
		visit(a)
		return nil
	})
}

// recordedValues offers a value of recent apps.
func (c *completer) recordedValues(ctx context.Context, value func(a *history.App) string) {
	c.recent(ctx, func(a *history.App) {
		if text := value(a); text != "" {
			c.add(text, "")
		}
	})
}

// tags offers the keys of tags, then their values.
func (c *completer) tags(ctx context.Context, typed string) {
	key, _, hasValue := strings.Cut(typed, "=")
	c.recent(ctx, func(a *history.App) {
		for _, k := range ui.Keys(a.Tags) {
			value := a.Tags[k]
			switch {
			case hasValue && k == key:
				c.add(k+"="+value, "")
			case !hasValue && value == "":
				c.add(k, "")
			case !hasValue:
				c.add(k+"=", "")
			}
		}
	})
}
