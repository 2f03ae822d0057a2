// Parallel coordinates: an axis for each column, a line for each trial.
import {go, number, region, runPath, s} from "./ui.js"
import {linearTicks, logTicks, scale, short} from "./scale.js"

const height = 260, left = 110

export function axis(values) {
	const known = values.filter(v => v != null && v !== "NaN"), numbers = known.map(Number)
	if (known.length && numbers.every(isFinite)) {
		const min = Math.min(...numbers), max = Math.max(...numbers), log = min > 0 && max / min >= 50
		if (min < max) {
			const at = scale(min, max, height, 0, log), some = [...new Set(numbers)]
			return {at: v => at(Number(v)), ticks: [...new Set([min, ...(some.length < 7 ? some : (log ? logTicks : linearTicks)(min, max, 5)).filter(t => [min, max].every(end => Math.abs(at(t) - at(end)) > 16)), max])]
				.map(t => [short(t % 1 ? Number(t.toPrecision(3)) : t), at(t)])}
		}
	}
	const words = [...new Set(known.map(String))].sort()
	const at = v => words.length < 2 ? height / 2 : height - words.indexOf(String(v)) / (words.length - 1) * height
	return {at, ticks: words.slice(0, 24).map(word => [word.length > 14 ? word.slice(0, 13) + "…" : word, at(word)])}
}

export function parallel(columns, trials, light, goal) {
	const gap = Math.max(150, Math.min(420, (innerWidth - 260) / (columns.length - 1)))
	const axes = columns.map(name => axis(trials.map(t => t.values[name]))), metric = columns.at(-1)
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
		line.style.opacity = faint + (0.95 - faint) * good ** (2 + many / 60)
		return [good, line]
	}).sort((a, b) => a[0] - b[0]).map(([, line]) => line)
	const width = (columns.length - 1) * gap + left + 90
	return region("Parallel coordinates", s("svg.parallel", {viewBox: `${-left} -28 ${width} ${height + 44}`, width, height: height + 44, role: "img", label: `${many} trials over ${columns.join(", ")}; the table below has the same values`},
		lines, columns.map((name, x) => s("g.axis", {transform: `translate(${x * gap} 0)`}, s("line", {y1: 0, y2: height}), s("text.name", {y: -12, "text-anchor": "middle"}, name.length > 20 ? name.slice(0, 19) + "…" : name),
			axes[x].ticks.map(([text, y]) => x ? [s("rect.plate", {x: 3, y: y - 9, width: text.length * 7 + 8, height: 18, rx: 4}), s("text", {x: 7, y: y + 4}, text)] : s("text", {x: -7, y: y + 4, "text-anchor": "end"}, text))))))
}
