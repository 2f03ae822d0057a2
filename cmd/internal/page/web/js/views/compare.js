// Several runs side by side: what differs, and their curves.
import {add, ask, badge, bytes, duration, get, h, head, note, number, put, region, runPath} from "../ui.js"
import {panel} from "../panel.js"

export async function compareView(page) {
	document.title = "Compare - torchx"
	let ids = new URL(location.href).searchParams.getAll("run"), charts = null
	const table = region("Comparison"), curves = h("div.compare-curves")
	const same = h("span.muted")

	async function draw() {
		charts?.close()
		charts = null
		put(curves)
		note({run: ids})
		if (!ids.length) return void put(table, h("div.empty", "Add runs to compare, or select them on the page of runs (", h("kbd", "x"), ")."))
		const {runs, differences} = await get("/compare", {run: ids})
		const row = (name, cells) => h("tr", head(name), cells.map(cell => h("td", cell)))
		const part = name => h("tr.part", h("th", {colspan: runs.length + 1, scope: "colgroup"}, name))
		const metrics = [...new Set(runs.flatMap(run => run.metrics.map(key)))].sort()
		const parts = [...new Set(differences.map(d => d.part))]
		same.textContent = runs.length > 1 && !differences.length ? "Arguments, options and code are the same." : ""
		put(table, h("table.grid", null,
			h("thead", h("tr", h("th", {scope: "col"}, "Run"), runs.map(run => h("th", {scope: "col"}, h("a", {href: runPath(run.app_id)}, run.app_id),
				h("button.quiet", {label: `Leave out ${run.app_id}`, title: "Leave out", onclick: () => {
					ids = runs.map(r => r.app_id).filter(id => id !== run.app_id)
					draw()
				}}, "×"))))),
			h("tbody", null,
				row("State", runs.map(run => badge(run.state))), row("Duration", runs.map(run => duration(run.duration_seconds))), row("Restarts", runs.map(run => run.num_restarts)),
				row("Memory", runs.map(run => bytes(run.max_rss_bytes))), row("CPU time", runs.map(run => duration(run.cpu_seconds))),
				parts.map(name => [part(name), differences.filter(d => d.part === name).map(d => row(d.name, d.values.map(v => v === null ? h("span.muted", "not set") : h("code", v))))]),
				metrics.length > 0 && [part("metrics: last and best"), metrics.map(name => row(name, runs.map(run => {
					const m = run.metrics.find(of => key(of) === name)
					return m && h(m.is_best ? "strong.best" : "span", null, number(m.last), m.goal && m.best !== m.last && h("span.muted", ` best ${number(m.best)}`), m.is_best && " ★")
				})))])))
		charts = panel(curves, runs.map(run => ({id: run.app_id, label: runs.some(r => r !== run && r.name === run.name) ? run.app_id : run.name ?? run.app_id, started: run.started_at})))
		await charts.renew()
	}

	const addRun = () => {
		const id = h("input", {name: "run", label: "Run", list: "ids"}), list = h("datalist", {id: "ids"}), old = ids
		get("/runs", {limit: 200}).then(({apps}) => put(list, apps.map(run => h("option", {value: run.app_id}, run.note))))
		return ask({title: "Add a run", yes: "Add", body: h("label.field", h("span", "ID"), id, list), submit: () => {
			ids = [...new Set([...old, id.value])]
			return draw().catch(async err => {
				ids = old
				await draw()
				throw err
			})
		}})
	}
	add(page, [h("div.toolbar", h("h1", "Compare"), same, h("span.grow"), h("button", {onclick: addRun}, "Add a run…")), h("div.scrolls.grow", h("div.view.compare", table), curves)])
	await draw()
	return () => charts?.close()
}

const key = m => `${m.name} ${m.role}/${m.replica}`
