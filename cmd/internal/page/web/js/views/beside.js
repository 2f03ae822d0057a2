// The curves of runs beside their table: of the selected ones, or of the newest that are shown.
import {h, later, note, put, query, slowly, watch} from "../ui.js"
import {panel} from "../panel.js"

const most = 10; // runs that are not selected
const wide = matchMedia("(min-width: 1700px)")

// beside returns a pane for the runs that choose returns; light is called with the ID of the run under the pointer.
export function beside(choose, light) {
	const pane = h("aside.beside", {label: "Curves of the runs", hidden: true})
	let shown = "", charts = null, stops = []
	const close = () => {
		charts?.close()
		charts = null
		for (const stop of stops) stop();
		stops = []
	}

	async function draw() {
		const runs = pane.hidden ? [] : choose(most), key = runs.map(run => run.app_id).join()
		if (key === shown) return
		shown = key
		close()
		put(pane, runs.length ? null : h("div.empty", "Runs with metrics are drawn here."))
		if (!runs.length) return
		const names = runs.map(run => run.name ?? run.app_id)
		const mine = charts = panel(pane, runs.map((run, i) => ({id: run.app_id, label: names.indexOf(names[i]) === names.lastIndexOf(names[i]) ? names[i] : run.app_id, started: run.started_at})), {metrics: true, light})
		await mine.renew()
		if (mine !== charts) return
		const renew = slowly(() => mine.renew("metrics"), 1000)
		stops = [renew.close, ...runs.filter(run => !run.finished_at).map(run => watch(`run:${run.app_id}`, kind => kind === "metrics" && renew()))]
	}

	function toggle(on = pane.hidden) {
		pane.hidden = !on
		button.setAttribute("aria-pressed", String(on))
		note({curves: on === wide.matches ? "" : on ? "1" : "0"})
		draw()
	}
	const button = h("button", {"aria-pressed": "false", title: "Curves beside the table (v)", onclick: () => toggle()}, "Curves")
	const start = query("curves", wide.matches ? "1" : "0") === "1"
	pane.hidden = !start
	button.setAttribute("aria-pressed", String(start))
	return {pane, button, toggle, draw: later(draw, 150), light: id => charts?.light(id), isOpen: () => !pane.hidden, close}
}
