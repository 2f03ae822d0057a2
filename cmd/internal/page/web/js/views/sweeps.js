// The trials of a sweep as a table and as parallel coordinates.
import {add, apiPath, badge, choose, count, duration, failure, get, h, head, note, num, number, plural, put, query, runPath, search, slowly, table, watch} from "../ui.js"
import {parallel} from "../parallel.js"

const most = 500; // trials
const known = v => v != null && v !== "NaN"

export async function sweepView(page, id) {
	document.title = `${id} - torchx`
	const top = h("div.row"), plot = h("section.card"), list = h("section.card")
	let columns = [], trials = [], sort = query("sort"), down = query("down") === "1", metric = query("metric")

	async function load() {
		const [sweep, {apps: runs, total}] = await Promise.all([get(apiPath(id, "/status")).catch(error => error.status === 404 ? null : Promise.reject(error)), get("/runs", {parent: id, limit: most})])
		if (!sweep && !runs.length) throw failure(`no run has ${id} as its parent`, 404)
		const compared = runs.length ? await get("/compare", {run: runs.map(run => run.app_id)}) : {runs: [], differences: []}
		const names = [...new Set(compared.runs.flatMap(run => run.metrics.map(m => m.name)))].sort(), args = compared.differences.filter(d => d.part === "arguments")
		if (!names.includes(metric)) metric = names.find(name => name === sweep?.sweep?.metric) ?? names[0] ?? ""
		columns = [...args.map(d => d.name), ...metric ? [metric] : []]
		trials = runs.map(run => {
			const i = compared.runs.findIndex(other => other.app_id === run.app_id), found = compared.runs[i]?.metrics.find(m => m.name === metric)
			return {id: run.app_id, label: run.name ?? run.app_id, run, goal: found?.goal, best: found?.is_best, values: Object.fromEntries([...args.map(d => [d.name, d.values[i]]), [metric, (found?.goal ? found.best : found?.last) ?? null]])}
		}).reverse()
		put(top, h("h1.clip", sweep?.name ?? id), sweep && badge(sweep.state), h("span.muted.grow", `${runs.filter(run => run.state === "SUCCEEDED").length} of ${plural(runs.length, "trial")} succeeded`, total > most && `, the newest ${most} of ${count(total)}`),
			names.length > 1 && choose("Metric", names.map(name => [name, name]), metric, value => {
				metric = value
				note({metric})
				load()
			}),
			sweep && h("a.button", {href: runPath(id)}, "Run page"), runs.length > 1 && h("a.button", {href: "/compare" + search({run: runs.slice(0, 20).map(run => run.app_id)})}, "Compare"))
		draw()
	}

	function draw() {
		const value = t => sort === "Trial" ? t.id : sort === "Duration" ? t.run.duration_s : t.values[sort]
		const order = (a, b) => {
			const x = value(a), y = value(b)
			if (!known(x) || !known(y)) return known(y) - known(x)
			return (isNaN(x) || isNaN(y) ? String(x).localeCompare(String(y)) : x - y) * (down ? -1 : 1)
		}
		put(plot, h("header", h("h2", "Parallel coordinates")), columns.length > 1 && trials.length > 1 ? parallel(columns, trials, light, trials.find(t => t.goal)?.goal) : h("div.empty", "There are lines to draw when trials differ."))
		const sorter = (name, cls = ".num") => h("th" + cls, {scope: "col", "aria-sort": sort !== name ? "none" : down ? "descending" : "ascending"}, h("button", {onclick: () => {
			down = sort === name && !down
			sort = name
			note({sort, down})
			draw()
		}}, name, sort === name && (down ? " ↓" : " ↑")))
		put(list, h("header", h("h2", "Trials")), table("Trials", [sorter("Trial", ""), "State", ...columns.map(c => sorter(c)), sorter("Duration")], (sort ? trials.toSorted(order) : trials).map(t => h("tr", {"data-id": t.id, onmouseenter: () => light(t.id), onmouseleave: () => light(null)},
			head(h("a", {href: runPath(t.id)}, t.id), t.best && " ★"), h("td", badge(t.run.state)), columns.map(c => num(c === metric ? number(t.values[c]) : t.values[c] ?? "")), num(duration(t.run.duration_s))))))
	}

	function light(trial) {
		for (const node of page.querySelectorAll("[data-id]")) node.classList.toggle("lit", node.dataset.id === trial);
	}

	add(page, [h("div.view.scrolls", top, plot, list)])
	await load()
	const renew = slowly(load, 1500), stop = watch("runs", renew)
	return () => {
		stop()
		renew.close()
	}
}
