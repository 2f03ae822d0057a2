// The page of a run: what it is and does on top, the rest in tabs.
import { add, h, icon, put, time } from "../dom.js";
import { get, readOnly } from "../api.js";
import { copy, menu } from "../dialog.js";
import { age, duration } from "../format.js";
import { bind } from "../keys.js";
import { slowly, watch } from "../live.js";
import { apiPath, go, query, runPath } from "../place.js";
import { now } from "../session.js";
import { badge, isFinal } from "../state.js";
import { cancelRuns, deleteRuns, noteRun, rerun, tagRuns } from "../actions.js";
import { tagChips } from "./runs.js";
import { overview } from "./overview.js";
import { logView } from "./log.js";
import { curvesView } from "./curves.js";
import { appView, eventsView, outputsView } from "./facts.js";

const tabs = [["", "Overview", overview], ["log", "Log", logView], ["curves", "Curves", curvesView], ["events", "Events", eventsView], ["outputs", "Outputs", outputsView], ["app", "App", appView]];

// runView shows a run; the tab is in the address.
export async function runView(page, id) {
	let status = await get(apiPath(id, "/status"));
	id = status.app_id;
	const tab = tabs.find(([name]) => name === query("tab")) ?? tabs[0];
	document.title = `${status.name ?? id} - torchx`;
	const head = h("header.run-head"), body = h("div.fill.grow");
	const listeners = new Set();
	const run = {
		id, get status() { return status; },
		// onchange calls back with the kind of each change, and returns how to stop.
		onchange: (callback) => {
			listeners.add(callback);
			return () => listeners.delete(callback);
		},
	};

	function draw() {
		const failure = status.first_failure, live = !isFinal(status.state);
		const began = status.started_at && Date.parse(status.started_at), ended = status.finished_at ? Date.parse(status.finished_at) : now();
		const more = h("button.icon", { label: "More actions", title: "More actions", onclick: () => menu(more, [
			["Copy handle", () => copy(status.handle, "the handle")],
			["Compare…", () => go(`/compare?run=${encodeURIComponent(id)}`)],
			!readOnly() && ["Edit tags…", () => tagRuns([id], status.tags).then(renew)], !readOnly() && ["Edit note…", () => noteRun(id, status.note).then(renew)],
			!readOnly() && ["Delete…", () => deleteRuns([status]).then((done) => done && go("/")), "danger"],
		]) }, icon("more"));
		put(head,
			h("div.row", h("h1.clip", { title: id }, status.name ?? id), badge(status.state), h("span.grow"),
				!readOnly() && [live && h("button.danger", { onclick: () => cancelRuns([status]).then(renew) }, icon("stop"), "Cancel"), h("button", { onclick: () => rerun(id) }, icon("again"), "Run again")], more),
			h("div.row.muted.run-line", null,
				h("button.quiet.mono.id", { title: "Copy the handle", onclick: () => copy(status.handle, "the handle") }, h("span.clip", id), icon("copy")),
				status.submitted_at && h("span", "submitted ", time(status.submitted_at, age(status.submitted_at, now()))),
				began && h("span", live ? "running for " : "ran for ", duration((ended - began) / 1000)),
				status.num_restarts > 0 && h("span", `${status.num_restarts} restart${status.num_restarts === 1 ? "" : "s"}`),
				status.exit_code !== null && h("span", `exit code ${status.exit_code}`),
				status.rerun_of && h("span", "rerun of ", h("a", { href: runPath(status.rerun_of.split("/").pop()) }, status.rerun_of.split("/").pop())),
				status.parent_run_id && h("span", "part of ", h("a", { href: `/sweeps/${encodeURIComponent(status.parent_run_id.split("/").pop())}` }, status.parent_run_id.split("/").pop())),
				tagChips(status.tags)),
			status.note && h("p.note", status.note),
			failure ? failureBox(failure) : status.msg && status.state !== "SUCCEEDED" && h("p.notice" + (status.state === "FAILED" ? ".bad" : ""), null, status.msg),
			status.left_running?.length > 0 && h("p.notice", `Still running: ${status.left_running.join(", ")}. All other roles have succeeded.`));
	}

	function failureBox(failure) {
		const structured = status.structured_error_msg, text = structured && (structured.message?.message ?? structured.message ?? structured);
		return h("section.notice.bad.failure", { label: "Failure" },
			h("div.row", h("strong", `${failure.role}/${failure.replica} failed first`),
				h("span", [failure.signal ?? (failure.exit_code !== null && `exit code ${failure.exit_code}`), failure.attempt > 0 && `attempt ${failure.attempt}`].filter(Boolean).join(", ")), h("span.grow"),
				h("a.button", { href: `${runPath(id, "log")}&replica=${encodeURIComponent(`${failure.role}/${failure.replica}`)}` }, "Its log")),
			(failure.msg || status.msg) && h("p", failure.msg ?? status.msg),
			text && h("pre.code.wrap", { tabIndex: 0 }, typeof text === "string" ? text : JSON.stringify(text, null, 2)));
	}

	const nav = h("nav.tabs", { label: "Parts of the run" }, tabs.map(([name, label]) => h("a", { href: runPath(id, name), "aria-current": name === tab[0] ? "page" : null }, label)));
	draw();
	add(page, [head, nav, body]);
	const renew = slowly(async () => {
		try {
			status = await get(apiPath(id, "/status"));
		} catch (error) {
			if (error.status === 404) put(head, h("h1", id), h("p.notice.bad", { role: "alert" }, "This run was deleted."));
			if (error.status) return;
			throw error;
		}
		draw();
		for (const callback of listeners) callback("run");
	}, 300);
	const stop = watch(`run:${id}`, (kind) => {
		if (kind === "run" || kind === "hello") renew();
		else for (const callback of listeners) callback(kind);
	});
	const ticking = setInterval(() => !isFinal(status.state) && !head.contains(document.activeElement) && draw(), 1000);
	const undo = bind("Run", [
		...tabs.map(([name, label], i) => ({ keys: String(i + 1), label, run: () => go(runPath(id, name)) })),
		{ keys: "u", label: "Back to the runs", run: () => go("/") },
		...readOnly() ? [] : [{ keys: "r", label: "Run again", run: () => rerun(id) }],
	]);
	const close = await tab[2](body, run);
	return () => {
		stop();
		undo();
		clearInterval(ticking);
		renew.close();
		close?.();
	};
}
