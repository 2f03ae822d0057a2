// Parallel coordinates: an axis for each column, a line for each trial, and ranges that leave trials out.
import {go, number, region, runPath, s} from "./ui.js"
import {linearTicks, logTicks, scale, short} from "./scale.js"

const height = 260, left = 110

// axis maps values to places from size (the least) to 0; log: a logarithmic one, by default if values differ much.
export function axis(values, log, size = height) {
	const known = values.filter(v => v != null && v !== "NaN"), numbers = known.map(Number)
	if (known.length && numbers.every(isFinite)) {
		const min = Math.min(...numbers), max = Math.max(...numbers)
		log = min > 0 && (log ?? max / min >= 50)
		if (min < max) {
			const at = scale(min, max, size, 0, log), some = [...new Set(numbers)]
			return {at: v => at(Number(v)), ticks: [...new Set([min, ...(some.length < 7 ? some : (log ? logTicks : linearTicks)(min, max, 5)).filter(t => [min, max].every(end => Math.abs(at(t) - at(end)) > 16)), max])]
				.map(t => [short(t % 1 ? Number(t.toPrecision(3)) : t), at(t)])}
		}
	}
	const words = [...new Set(known.map(String))].sort()
	const at = v => words.length < 2 ? size / 2 : size - words.indexOf(String(v)) / (words.length - 1) * size
	return {at, ticks: words.slice(0, 24).map(word => [word.length > 14 ? word.slice(0, 13) + "…" : word, at(word)])}
}

// fits reports whether a trial is in all ranges: {column: [top, bottom]} in pixels of the axes.
export const fits = (trial, axes, ranges) => Object.entries(ranges).every(([name, [top, bottom]]) => {
	const v = trial.values[name], y = v == null || v === "NaN" ? NaN : axes[name]?.at(v)
	return y >= top - 1 && y <= bottom + 1
})

export const axesOf = (columns, trials, logs) => Object.fromEntries(columns.map(name => [name, axis(trials.map(t => t.values[name]), logs.has(name) || undefined)]))

// brush is an axis on which dragging, or the arrow keys, choose a range.
function brush(name, range, set) {
	const at = event => Math.max(0, Math.min(height, (event.clientY - box.getBoundingClientRect().top) * (height + 12) / box.getBoundingClientRect().height - 6))
	let from = null
	const shade = s("rect.range", range ? {x: -9, width: 18, y: range[0], height: range[1] - range[0]} : {x: -9, width: 18, height: 0})
	const box = s("rect.brush", {
		x: -12, y: -6, width: 24, height: height + 12, tabindex: 0, role: "slider", label: `Range of ${name}: drag, or arrow keys; Escape clears`,
		"aria-valuenow": Math.round(range ? height - range[1] : 0), "aria-valuetext": range ? `${Math.round(100 - range[1] / height * 100)} to ${Math.round(100 - range[0] / height * 100)} percent of the axis` : "all", "data-axis": name,
		onpointerdown: event => {
			from = at(event)
			box.classList.add("dragged")
			box.setPointerCapture(event.pointerId)
		},
		onpointermove: event => {
			if (from === null) return
			shade.setAttribute("y", Math.min(from, at(event)))
			shade.setAttribute("height", Math.abs(at(event) - from))
		},
		onpointerup: event => {
			const to = at(event), start = from
			from = null
			box.classList.remove("dragged")
			set(Math.abs(to - start) < 4 ? null : [Math.min(start, to), Math.max(start, to)])
		},
		onpointercancel: () => {
			from = null
			box.classList.remove("dragged")
		},
		onkeydown: event => {
			const by = {ArrowUp: -height / 10, ArrowDown: height / 10}[event.key], [top, bottom] = range ?? [0, height]
			if (event.key === "Escape") set(null)
			else if (by && event.shiftKey) set([top, Math.max(top + 4, Math.min(height, bottom + by))])
			else if (by) set([Math.min(bottom - 4, Math.max(0, top + by)), bottom])
			else return
			event.preventDefault()
			event.stopPropagation()
		},
	})
	return [shade, box]
}

export function parallel(columns, trials, {light, goal, axes: byName, ranges, setRange}) {
	const gap = Math.max(150, Math.min(420, (innerWidth - 260) / (columns.length - 1)))
	const axes = columns.map(name => byName[name]), metric = columns.at(-1)
	const many = trials.length, faint = Math.min(0.35, 12 / many)
	const lines = trials.map(t => {
		let d = "", open = false
		columns.forEach((name, x) => {
			const v = t.values[name]
			if (v == null || v === "NaN") open = false
			else {
				d += `${open ? "L" : "M"}${x * gap} ${axes[x].at(v).toFixed(1)}`
				open = true
			}
		})
		const v = Number(t.values[metric] ?? NaN), y = axes.at(-1).at(v) / height, good = !isFinite(v) ? 0.5 : goal === "max" ? 1 - y : y
		const line = s("path.trial", {d, "data-id": t.id, onmouseenter: () => light(t.id), onmouseleave: () => light(null), onclick: () => go(runPath(t.id))},
			s("title", [t.label, ...columns.map(name => `${name} ${name === metric ? number(t.values[name]) : t.values[name] ?? "not set"}`)].join("\n")))
		line.style.setProperty("--good", `${Math.round(good * 100)}%`)
		if (!fits(t, byName, ranges)) line.classList.add("out")
		line.style.opacity = faint + (0.95 - faint) * good ** (2 + many / 60)
		return [good, line]
	}).sort((a, b) => a[0] - b[0]).map(([, line]) => line)
	const width = (columns.length - 1) * gap + left + 90
	return region("Parallel coordinates", s("svg.parallel", {viewBox: `${-left} -28 ${width} ${height + 44}`, width, height: height + 44, role: "group", label: `${many} trials over ${columns.join(", ")}; the table below has the same values`},
		lines, columns.map((name, x) => s("g.axis", {transform: `translate(${x * gap} 0)`}, s("line", {y1: 0, y2: height}), brush(name, ranges[name], range => setRange(name, range)), s("text.name", {y: -12, "text-anchor": "middle"}, name.length > 20 ? name.slice(0, 19) + "…" : name),
			axes[x].ticks.map(([text, y]) => x ? [s("rect.plate", {x: 3, y: y - 9, width: text.length * 7 + 8, height: 18, rx: 4}), s("text", {x: 7, y: y + 4}, text)] : s("text", {x: -7, y: y + 4, "text-anchor": "end"}, text))))))
}
