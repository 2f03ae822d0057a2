// The curves of a run.
import {slowly} from "../ui.js"
import {panel} from "../panel.js"

export async function curvesView(body, run) {
	const charts = panel(body, [{id: run.id, label: run.status.name, started: run.status.started_at}])
	await charts.renew()
	const kinds = new Set(), renew = slowly(async () => {
		if (!kinds.size) return
		const kind = kinds.size === 1 ? [...kinds][0] : "run"
		kinds.clear()
		await charts.renew(kind)
	}, 800)
	const stop = run.onchange(kind => {
		kinds.add(kind)
		renew()
	})
	return () => {
		stop()
		renew.close()
		charts.close()
	}
}
