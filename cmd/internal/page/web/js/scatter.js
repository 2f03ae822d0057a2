// Points of trials: an argument or the order of the trials against the metric.
import {go, runPath, s} from "./ui.js"
import {axis} from "./parallel.js"

const width = 300, height = 150

// scatter draws points [{id, label, x, y, good}]; best adds the line of the best value so far.
export function scatter(title, points, {light, log, logMetric, best = "", x = ""}) {
	const across = axis(points.map(p => p.x), log, width), up = axis(points.map(p => p.y), logMetric, height)
	let d = "", edge = null
	if (best) {
		for (const p of points) {
			if (edge !== null && Math[best](edge, p.y) === edge) continue
			d += edge === null ? `M${width - across.at(p.x)} ${up.at(p.y)}` : `H${width - across.at(p.x)}V${up.at(p.y)}`
			edge = p.y
		}
		d += `H${width}`
	}
	const ticks = across.ticks.filter(([, at], i, all) => i === 0 || i === all.length - 1 || i % Math.ceil(all.length / 4) === 0)
	return s("svg.scatter", {viewBox: `-58 -22 ${width + 80} ${height + 48}`, role: "img", label: `${title}: ${points.length} trials`},
		s("text.name", {x: -52, y: -8}, title), s("line", {y1: height, x2: width, y2: height}), s("line", {y2: height}),
		up.ticks.map(([text, y]) => s("text", {x: -6, y: y + 4, "text-anchor": "end"}, text)), ticks.map(([text, at]) => s("text", {x: width - at, y: height + 15, "text-anchor": "middle"}, text)),
		x && s("text", {x: width, y: -8, "text-anchor": "end"}, x), d && s("path.best-line", {d}),
		points.map(p => s("circle.trial", {cx: width - across.at(p.x), cy: up.at(p.y), r: 3.2, "data-id": p.id, onmouseenter: () => light(p.id), onmouseleave: () => light(null), onclick: () => go(runPath(p.id))}, s("title", p.label))))
}
