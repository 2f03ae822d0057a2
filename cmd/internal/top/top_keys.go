package top

import (
	"context"
	"math"
)

// key handles a key that does not end the screen.
func (v *topScreen) key(ctx context.Context, k byte) {
	v.notice = ""
	move := v.movement(k)
	switch {
	case v.log != nil:
		if v.log.key(k, move) {
			v.log = nil
		}
	case v.question != nil:
		if k == 'y' || k == 'Y' {
			v.notice = v.cancel(ctx, v.question.app)
		}
		v.question = nil
	case v.filter.typing:
		v.filter.key(k)
	case move != 0:
		v.selected.move(v.rows(), move, v.page())
	default:
		v.command(ctx, k)
	}
}

// movement returns by how many rows a key moves, 0 if it does not. Arrow keys send ESC [ A and so on.
func (v *topScreen) movement(k byte) int {
	const escape = 27
	switch {
	case v.filter.typing:
		return 0
	case k == 'k':
		return -1
	case k == 'j':
		return 1
	case k != escape:
		return 0
	}
	switch v.screen.Sequence() {
	case "[A", "OA":
		return -1
	case "[B", "OB":
		return 1
	case "[5~":
		return -v.page()
	case "[6~":
		return v.page()
	case "[H", "OH", "[1~", "[7~":
		return -math.MaxInt32
	case "[F", "OF", "[4~", "[8~":
		return math.MaxInt32
	}
	return 0
}

// command does what a key of the last line says.
func (v *topScreen) command(ctx context.Context, k byte) {
	if k == '/' {
		v.filter.typing = true
		return
	}
	for _, o := range TopOrders {
		if o[0] == k {
			v.order = o
		}
	}
	rows := v.rows()
	if len(rows) == 0 {
		return
	}
	r := rows[v.selected.at]
	switch k {
	case '\r', '\n', 'l':
		v.log = &logPage{title: r.name(), read: v.reader(r)}
		v.log.refresh(ctx)
	case 'a':
		v.leave = r.app.Handle()
	case 'x':
		if v.question = &r; r.app.State.Terminal() {
			v.question, v.notice = nil, r.app.Handle()+" has already ended"
		}
	}
}
