// A chart: a plot with its title, legend, values under the pointer, and the same as a table.
import {clock, count, day, duration, h, head, hint, icon, num, number, put, table as tableOf, toggle} from "./ui.js"
import {Plot} from "./plot.js"
import {short} from "./scale.js"

const shown = 12; // names in a legend and values beside the pointer

export function chart({title, load, show, unit, onzoom, onzero, onlight}) {
	const canvas = h("canvas", {tabIndex: 0, role: "img", label: `Plot of ${title}`})
	const legend = h("ul.legend")
	const table = h("div")
	const now = h("p.visually-hidden", {"aria-live": "polite"})
	const problem = h("p.muted.plot-empty", "Loading…")
	const reset = h("button.quiet", {hidden: true, onclick: () => plot.select(null)}, "Reset zoom")
	const zero = toggle(`Start ${title} at zero`, Boolean(show.zero), on => {
		plot.set(plot.series, {zero: on})
		onzero?.(on)
	}, icon("zero"))
	const big = toggle(`Enlarge ${title}`, false, on => card.classList.toggle("big", on), icon("grow"))
	const card = h("section.card.chart", {label: title},
		h("header", h("h2.grow.clip", {title}, title), reset, zero, big), h("div.canvas", canvas, problem), legend, now,
		h("details", h("summary", "Values as a table"), table))
	const value = v => v === null ? "NaN" : unit ? unit(v) : number(v)
	const one = ([, , , last, min, max, n]) => n > 1 && min !== max ? `${value(last)} (${value(min)} to ${value(max)}, ${count(n)} points)` : value(last)

	const plot = new Plot(canvas, {
		...show, unit: unit ?? short,
		onzoom: range => {
			reset.hidden = !range
			onzoom?.(range)
			renew()
		},
		onhover: (x, event) => {
			onlight?.(x === null || !event ? null : plot.under(x, event.offsetY))
			if (x === null) return hint("")
			const found = plot.values(x), lines = found.slice(0, shown).map(({label, row}) => `${label}: ${one(row)}`)
			if (found.length > shown) lines.push(`and ${found.length - shown} more`)
			const head = position(plot.options.kind, found[0]?.row[1] ?? x)
			if (event) hint([head, ...lines].join("\n"), event.clientX, event.clientY)
			else now.textContent = [head, ...lines].join(", ")
		},
	})

	let turn = 0, seen = false, stale = true, control = null
	async function renew() {
		stale = true
		if (!seen) return
		stale = false
		const mine = ++turn
		control?.abort()
		control = new AbortController()
		try {
			const series = await load(plot.zoom, Math.max(64, Math.min(2000, Math.round(canvas.clientWidth))), control.signal)
			if (mine === turn) draw(series)
		} catch (error) {
			if (error.name === "AbortError" || mine !== turn) return
			problem.textContent = error.message
			problem.hidden = false
		}
	}

	function draw(series) {
		problem.hidden = series.some(one => one.rows.length)
		problem.textContent = "No values yet"
		plot.set(series)
		const totals = series.map(total)
		canvas.setAttribute("aria-label", describe(title, totals, value))
		put(legend, series.length > 1 && series.slice(0, shown).map(({label, style}) => h("li", swatch(style), h("span", label))),
			series.length > shown && h("li.muted", `and ${series.length - shown} more`))
		put(table, tableOf(`Values of ${title}`, ["Series", "#Last", "#Min", "#Max", "#Points"], totals.map(t => h("tr", head(t.label), [t.last, t.min, t.max].map(v => num(t.count > 0 && value(v))), num(count(t.count))))))
	}

	const sight = new IntersectionObserver(entries => {
		seen = entries.at(-1).isIntersecting
		if (seen && stale) renew()
	}, {rootMargin: "200px"})
	sight.observe(card)
	return {
		card, renew, plot,
		look: next => plot.set(plot.series, next),
		close: () => {
			sight.disconnect()
			control?.abort()
			plot.close()
			hint("")
		},
	}
}

function position(kind, x) {
	if (kind === "elapsed") return `after ${duration(x)}`
	if (kind === "clock") return `${day(new Date(x * 1000))} ${clock(new Date(x * 1000), true)}`
	return `step ${number(x, 12)}`
}

export function swatch({color, dash}) {
	const line = h("span.swatch", {"aria-hidden": "true"})
	line.style.borderTopColor = color
	if (dash.length) line.style.borderTopStyle = dash[0] > 4 ? "dashed" : "dotted"
	return line
}

function total({label, rows}) {
	let min = null, max = null, n = 0
	for (const row of rows) {
		n += row[6]
		if (row[4] !== null && (min === null || row[4] < min)) min = row[4]
		if (row[5] !== null && (max === null || row[5] > max)) max = row[5]
	}
	return {label, min, max, last: rows.at(-1)?.[3] ?? null, count: n}
}

function describe(title, totals, value) {
	const parts = totals.filter(t => t.count).slice(0, shown).map(t => `${t.label}: last ${value(t.last)}, from ${value(t.min)} to ${value(t.max)}, ${t.count} points`)
	return `Plot of ${title}. ${parts.join(". ") || "No values yet"}. Arrow keys move through the values, plus and minus zoom.`
}
