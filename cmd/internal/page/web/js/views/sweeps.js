// The trials of a sweep as a table and as parallel coordinates.
import {add, apiPath, badge, choose, copy, count, duration, failure, get, h, head, note, num, number, plural, put, query, readOnly, runPath, search, slowly, table, watch} from "../ui.js"
import {rerun} from "../actions.js"
import {chart} from "../chart.js"
import {least, rule, share} from "../importance.js"
import {axesOf, fits, parallel} from "../parallel.js"
import {own} from "../plot.js"
import {scatter} from "../scatter.js"

const most = 500; // trials
const known = v => v != null && v !== "NaN"

export async function sweepView(page, id) {
	document.title = `${id} - torchx`
	const top = h("div.row"), best = h("section.card"), plot = h("section.card"), insight = h("section.card"), list = h("section.card")
	let columns = [], trials = [], sort = query("sort"), down = query("down") === "1", metric = query("metric"), goal = null, logs = new Set(), curve = null, shownBest = ""
	const ranges = {}

	async function load() {
		const [sweep, {apps: runs, total}] = await Promise.all([get(apiPath(id, "/status")).catch(error => error.status === 404 ? null : Promise.reject(error)), get("/runs", {parent: id, limit: most})])
		if (!sweep && !runs.length) throw failure(`no run has ${id} as its parent`, 404)
		const compared = runs.length ? await get("/compare", {run: runs.map(run => run.app_id)}) : {runs: [], differences: []}
		const names = [...new Set(compared.runs.flatMap(run => run.metrics.map(m => m.name)))].sort(), args = compared.differences.filter(d => d.part === "arguments")
		if (!names.includes(metric)) metric = names.find(name => name === sweep?.sweep?.metric) ?? names[0] ?? ""
		goal = sweep?.sweep?.metric === metric ? sweep.sweep.goal : compared.runs.flatMap(run => run.metrics).find(m => m.name === metric)?.goal ?? null
		logs = new Set(sweep?.sweep?.log_scaled)
		columns = [...args.map(d => d.name), ...metric ? [metric] : []]
		trials = runs.map(run => {
			const i = compared.runs.findIndex(other => other.app_id === run.app_id), found = compared.runs[i]?.metrics.find(m => m.name === metric)
			return {id: run.app_id, label: run.name ?? run.app_id, run, goal: found?.goal, best: found?.is_best, values: Object.fromEntries([...args.map(d => [d.name, d.values[i]]), [metric, (found?.goal ? found.best : found?.last) ?? null]])}
		}).reverse()
		put(top, h("h1.clip", sweep?.name ?? id), sweep && badge(sweep.state), h("span.muted.grow", `${runs.filter(run => run.state === "SUCCEEDED").length} of ${plural(runs.length, "trial")} succeeded`, total > most && `, the newest ${most} of ${count(total)}`),
			names.length > 1 && choose("Metric", names.map(name => [name, name]), metric, value => {
				if (sort === metric) sort = ""
				metric = value
				note({metric})
				load()
			}),
			sweep && h("a.button", {href: runPath(id)}, "Run page"), runs.length > 1 && h("a.button", {href: "/compare" + search({run: runs.slice(0, 20).map(run => run.app_id)})}, "Compare"))
		if (!sort && metric) {
			sort = metric
			down = goal === "max"
		}
		drawBest()
		draw()
	}

	// The best trial, with what it takes to repeat it.
	function drawBest() {
		const sign = goal === "max" ? -1 : 1, one = goal && trials.filter(t => known(t.values[metric])).sort((a, b) => sign * (a.values[metric] - b.values[metric]))[0]
		best.hidden = !one
		if (!one) return
		const key = JSON.stringify([one.id, metric, one.values, one.run.state]), command = `torchx rerun ${one.id}`
		if (key === shownBest) return curve?.renew()
		shownBest = key
		curve?.close()
		curve = chart({title: metric, load: async (zoom, buckets, signal) => (await get(apiPath(one.id, "/curves"), {name: metric, buckets, from: zoom?.[0], to: zoom?.[1]}, signal)).series.map(c => ({
			id: one.id, label: `${c.role}/${c.replica}`, style: own(one.id), rows: c.buckets,
		})), show: {kind: "number"}})
		put(best, h("header", h("h2", "Best trial"), h("a", {href: runPath(one.id)}, one.id), badge(one.run.state), h("span.grow"), h("code", command), h("button", {onclick: () => copy(command, "the command")}, "Copy"),
			!readOnly() && h("button", {onclick: () => rerun(one.id)}, "Run again")),
			h("div.columns", h("dl.facts", [[`${goal} ${metric}`, number(one.values[metric])], ...columns.slice(0, -1).map(name => [name, one.values[name] ?? "default"])].map(([name, value]) => [h("dt", name), h("dd", h("strong", value))])), curve.card))
	}

	// What the trials together say of their arguments.
	function drawInsight() {
		const args = columns.slice(0, -1), of = trials.filter(t => known(t.values[metric]) && isFinite(t.values[metric]))
		insight.hidden = !metric || of.length < 2
		if (insight.hidden) return
		const sorted = of.toSorted((a, b) => (a.run.finished_at ?? "9").localeCompare(b.run.finished_at ?? "9")), values = of.map(t => Number(t.values[metric]))
		const point = (t, x) => ({id: t.id, x, y: Number(t.values[metric]), label: `${t.label}\n${metric} ${number(t.values[metric])}`})
		const logMetric = Math.min(...values) > 0 && Math.max(...values) / Math.min(...values) >= 50
		const shares = args.map(name => [name, share(of.map(t => t.values[name] ?? "default"), values)]).sort((a, b) => b[1] - a[1])
		put(insight, h("header", h("h2", "Arguments and the metric")),
			h("div.scatters", scatter(`best ${metric} over time`, sorted.map((t, i) => point(t, i + 1)), {light, logMetric, log: false, best: goal ?? "", x: "trials ended"}),
				args.map(name => scatter(name, of.filter(t => t.values[name] != null).map(t => point(t, t.values[name])), {light, log: logs.has(name) || undefined, logMetric}))),
			h("h3", "Importance"), of.length < least ? h("p.muted", `With ${plural(of.length, "trial")} it cannot be told: it takes ${least}.`)
				: [h("div.importance", shares.map(([name, v]) => [h("span", name), h("meter", {min: 0, max: 1, value: v ?? 0, label: `Importance of ${name}`}), h("span.num", v === null ? "not known" : `${Math.round(v * 100)}%`)])), h("p.muted", `By ${rule}.`)])
	}

	const setRange = (name, range) => {
		if (range) ranges[name] = range
		else delete ranges[name]
		draw()
	}

	function draw() {
		if (plot.querySelector(".dragged")) return
		const focused = document.activeElement?.getAttribute("data-axis")
		drawInsight()
		const axes = axesOf(columns, trials, logs), inside = trials.filter(t => fits(t, axes, ranges))
		const value = t => sort === "Trial" ? t.id : sort === "Duration" ? t.run.duration_s : t.values[sort]
		const order = (a, b) => {
			const x = value(a), y = value(b)
			if (!known(x) || !known(y)) return known(y) - known(x)
			return (isNaN(x) || isNaN(y) ? String(x).localeCompare(String(y)) : x - y) * (down ? -1 : 1)
		}
		put(plot, h("header", h("h2", "Parallel coordinates"), Object.keys(ranges).length > 0 && [h("span.muted", `${count(inside.length)} of ${count(trials.length)} trials`), h("button", {onclick: () => {
			for (const name of Object.keys(ranges)) delete ranges[name];
			draw()
		}}, "Clear ranges")]), columns.length > 1 && trials.length > 1 ? parallel(columns, trials, {light, goal, axes, ranges, setRange}) : h("div.empty", "There are lines to draw when trials differ."))
		if (focused) plot.querySelector(`[data-axis="${CSS.escape(focused)}"]`)?.focus({preventScroll: true})
		const sorter = (name, cls = ".num") => h("th" + cls, {scope: "col", "aria-sort": sort !== name ? "none" : down ? "descending" : "ascending"}, h("button", {onclick: () => {
			down = sort === name && !down
			sort = name
			note({sort, down})
			draw()
		}}, name, sort === name && (down ? " ↓" : " ↑")))
		put(list, h("header", h("h2", "Trials")), table("Trials", [sorter("Trial", ""), "State", ...columns.map(c => sorter(c)), sorter("Duration")], (sort ? inside.toSorted(order) : inside).map(t => h("tr", {"data-id": t.id, onmouseenter: () => light(t.id), onmouseleave: () => light(null)},
			head(h("a", {href: runPath(t.id)}, t.id), t.best && " ★"), h("td", badge(t.run.state)), columns.map(c => num(c === metric ? number(t.values[c]) : t.values[c] ?? "")), num(duration(t.run.duration_s))))))
	}

	function light(trial) {
		for (const node of page.querySelectorAll("[data-id]")) node.classList.toggle("lit", node.dataset.id === trial);
	}

	add(page, [h("div.view.scrolls", top, best, plot, insight, list)])
	await load()
	const renew = slowly(load, 1500), stop = watch("runs", renew)
	return () => {
		stop()
		renew.close()
		curve?.close()
	}
}
