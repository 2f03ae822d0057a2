// Charts of metrics and usage with what they share: axis, scale, smoothing.
import {add, apiPath, bytes, choose, get, h, later, note, number, put, query, searchBox, toggle} from "./ui.js"
import {chart} from "./chart.js"
import {own, stroke} from "./plot.js"

const most = 24; // series of a chart

const usages = [
	["CPU", s => s.mean_cpu_percent, v => `${number(v, 3)}%`], ["Memory", s => s.mean_rss_bytes, bytes],
	["GPU", s => s.mean_gpu_percent, v => `${number(v, 3)}%`], ["GPU memory", s => s.max_gpu_memory_bytes, bytes],
	["Read", s => s.read_bytes, bytes], ["Written", s => s.written_bytes, bytes], ["Threads", s => s.max_threads],
]

// panel draws all curves of runs; options: metrics (without usage), light (called with the run under the pointer).
export function panel(box, runs, options = {}) {
	const look = {x: query("x", "step"), log: query("log") === "1", weight: Number(query("smooth", "0")) / 100 || 0}
	// Quantities begin at zero, metrics do not; other names than these were switched.
	const switched = new Set(new URL(location.href).searchParams.getAll("zero"))
	let charts = [], shown = "", summaries = [], usage = []
	const grid = h("div.charts"), info = h("p.muted", {role: "status"})
	const start = id => Date.parse(runs.find(run => run.id === id)?.started) / 1000 || 0
	const style = () => ({kind: {step: "number", time: "elapsed", clock: "clock"}[look.x], log: look.log, weight: look.weight})

	const wanted = () => replicas.value.split(",").map(v => v.trim()).filter(Boolean)
	const matches = s => {
		const list = wanted()
		return !list.length || list.some(w => w === s.role || w === `${s.role}/${s.replica}`)
	}
	const label = (id, s, lone) => [runs.length > 1 && (runs.find(run => run.id === id)?.label ?? id), (!lone || runs.length === 1) && `${s.role}/${s.replica}`].filter(Boolean).join(" ")

	async function metric(name, zoom, buckets, signal) {
		const time = look.x !== "step", shift = id => look.x === "time" ? start(id) : 0
		const curves = (await Promise.all(runs.map(async ({id}, i) => {
			const mine = summaries[i].filter(s => s.name === name && matches(s)).slice(0, Math.max(1, Math.floor(most / runs.length)))
			if (!mine.length) return []
			const byRole = Map.groupBy ? Map.groupBy(mine, s => s.role) : new Map([[mine[0].role, mine]])
			const answers = await Promise.all([...byRole].map(([role, list]) => get(apiPath(id, "/curves"), {
				name, role, replica: list.map(s => s.replica), x: time ? "time" : "step", buckets,
				from: zoom && zoom[0] + shift(id), to: zoom && zoom[1] + shift(id),
			}, signal)))
			return answers.flatMap(a => a.series).map(c => ({...c, id, lone: mine.length === 1}))
		}))).flat()
		return curves.map((c, i) => ({
			id: c.id, label: label(c.id, c, c.lone), style: runs.length > 1 ? own(c.id) : stroke(i),
			rows: c.buckets.map(b => [b[0] - shift(c.id), b[1] - shift(c.id), ...b.slice(2)]),
		}))
	}

	function used(value) {
		const lines = []
		for (const [i, of] of usage.entries()) {
			const mine = of.filter(r => matches(r) && r.samples.some(s => value(s) !== null)).slice(0, most)
			for (const r of mine) {
				const shift = look.x === "clock" ? 0 : start(runs[i].id)
				lines.push({id: runs[i].id, label: label(runs[i].id, r, false) + (r.attempt ? ` #${r.attempt}` : ""), style: runs.length > 1 ? own(runs[i].id) : stroke(lines.length), rows: r.samples.map(s => {
					const t = Date.parse(s.time) / 1000 - shift, v = value(s)
					return [t, t, v, v, v, v, v === null ? 0 : 1, 0]
				}).filter(row => row[2] !== null)})
			}
		}
		return lines
	}

	function build() {
		const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean), fits = name => words.every(w => name.toLowerCase().includes(w))
		const names = [...new Set(summaries.flat().map(s => s.name))].filter(fits).sort()
		const kinds = usages.filter(([name, value]) => fits(name) && usage.some(of => of.some(r => r.samples.some(s => value(s) !== null))))
		const key = JSON.stringify([names, kinds.map(k => k[0]), replicas.value])
		const series = new Set(summaries.flat().filter(matches).map(s => `${s.role}/${s.replica}`)).size
		info.textContent = names.length + kinds.length === 0 ? words.length ? "No curve matches." : "No numbers yet. A program appends them to $TORCHX_METRICS, or prints them: see torchx help record-metrics."
			: series > most ? `The first ${most} of ${series} replicas are drawn. Name replicas to see others.` : ""
		if (key === shown) return charts.forEach(c => c.renew())
		shown = key
		charts.forEach(c => c.close())
		charts = [
			...names.map(title => chartFrom(title, false, {show: style(), load: (...args) => metric(title, ...args)})),
			...kinds.map(([title, value, unit]) => chartFrom(title, true, {unit, show: {...style(), kind: look.x === "clock" ? "clock" : "elapsed", log: false, weight: 0}, load: async () => used(value)})),
		]
		put(grid, charts.map(c => c.card))
	}

	function chartFrom(title, normal, more) {
		return chart({...more, title, onlight: options.light, show: {...more.show, zero: switched.has(title) !== normal}, onzero: on => {
			if (on === normal) switched.delete(title)
			else switched.add(title)
			note({zero: [...switched]})
		}})
	}

	const again = () => {
		shown = ""
		note({x: look.x === "step" ? "" : look.x, log: look.log, smooth: Math.round(look.weight * 100) || "", metric: filter.value, curve: replicas.value})
		build()
	}
	const axis = choose("Horizontal axis", [["step", "Step"], ["time", "Time since start"], ["clock", "Clock"]], look.x, x => {
		look.x = x
		again()
	})
	const log = toggle("Log scale", look.log, on => {
		look.log = on
		again()
	})
	const smoothing = h("input", {type: "range", min: 0, max: 99, value: String(Math.round(look.weight * 100)), label: "Smoothing", oninput: () => {
		look.weight = Number(smoothing.value) / 100
		amount.textContent = look.weight.toFixed(2)
		for (const c of charts) if (!c.plot.options.fixed) c.look({weight: look.weight});
		remember()
	}})
	const remember = later(() => note({smooth: Math.round(look.weight * 100) || ""}), 300)
	const amount = h("output.num", look.weight.toFixed(2))
	const filter = searchBox("Filter curves", {value: query("metric"), oninput: later(again, 200)})
	const replicas = searchBox("Replicas", {placeholder: "Replicas: trainer/0, eval", value: query("curve"), oninput: later(again, 300)})
	add(box, [h("div.toolbar", filter, replicas, axis, log, h("label.row.tight", h("span.muted", "Smoothing"), smoothing, amount)), h("div.view.scrolls", info, grid)])

	async function renew(kind) {
		const ids = runs.map(run => run.id)
		if (kind !== "usage") summaries = await Promise.all(ids.map(id => get(apiPath(id, "/metrics"))))
		if (kind !== "metrics" && !options.metrics) usage = await Promise.all(ids.map(id => get(apiPath(id, "/usage")).then(u => u.replicas, () => [])))
		build()
	}
	const changed = () => charts.forEach(c => c.renew())
	addEventListener("theme", changed)
	return {
		renew, light: id => charts.forEach(c => c.look({lit: id})), close: () => {
			removeEventListener("theme", changed)
			charts.forEach(c => c.close())
		},
	}
}
