// The curves of a run.
import { panel } from "../panel.js";
import { slowly } from "../live.js";

// curvesView fills the tab.
export async function curvesView(body, run) {
	const charts = panel(body, [{ id: run.id, label: run.status.name, started: run.status.started_at }]);
	await charts.renew();
	const kinds = new Set(), renew = slowly(async () => {
		if (!kinds.size) return;
		const kind = kinds.size === 1 ? [...kinds][0] : "run";
		kinds.clear();
		await charts.renew(kind);
	}, 800);
	const stop = run.onchange((kind) => {
		kinds.add(kind);
		renew();
	});
	return () => {
		stop();
		renew.close();
		charts.close();
	};
}
