// The page of a run: what it is and does on top, the rest in tabs.
import {add, age, alarm, apiPath, badge, bind, copy, duration, get, go, h, icon, isFinal, menu, now, put, query, readOnly, runPath, slowly, sweepPath, time, visible, watch} from "../ui.js"
import {cancelRuns, deleteRuns, noteRun, rerun, tagRuns} from "../actions.js"
import {tagChips} from "./runs.js"
import {overview} from "./overview.js"
import {logView} from "./log.js"
import {curvesView} from "./curves.js"
import {appView, eventsView, outputsView} from "./facts.js"

const tabs = [["", "Overview", overview], ["log", "Log", logView], ["curves", "Curves", curvesView], ["events", "Events", eventsView], ["outputs", "Outputs", outputsView], ["app", "App", appView]]
const last = handle => handle.split("/").pop();

export async function runView(page, id) {
	let status = await get(apiPath(id, "/status"))
	id = status.app_id
	const tab = tabs.find(([name]) => name === query("tab")) ?? tabs[0]
	document.title = `${status.name ?? id} - torchx`
	const top = h("header.run-head"), body = h("div.fill.grow"), took = h("span"), listeners = new Set()
	const run = {
		id, get status() {return status;},
		onchange: callback => {
			listeners.add(callback)
			return () => listeners.delete(callback)
		},
	}

	const tick = () => {
		if (!status.started_at) return
		const end = status.finished_at ? Date.parse(status.finished_at) : now()
		took.textContent = `${isFinal(status.state) ? "ran" : "running"} for ${duration((end - Date.parse(status.started_at)) / 1000)}`
	}

	function draw() {
		const {first_failure: failure, exit_code: code, rerun_of: of, parent_run_id: parent, num_restarts: restarts} = status, live = !isFinal(status.state), write = !readOnly()
		const more = h("button.icon", {label: "More actions", title: "More actions", onclick: () => menu(more, [
			["Copy handle", () => copy(status.handle, "the handle")],
			["Compare…", () => go(`/compare?run=${encodeURIComponent(id)}`)],
			...write ? [["Edit tags…", () => tagRuns([id], status.tags).then(renew)], ["Edit note…", () => noteRun(id, status.note).then(renew)],
				["Delete…", () => deleteRuns([status]).then(done => done && go("/")), "danger"]] : [],
		])}, icon("more"))
		put(top,
			h("div.row", h("h1.clip", {title: id}, status.name ?? id), badge(status.state), h("span.grow"),
				status.sweep && h("a.button", {href: sweepPath(id)}, "Trials"),
				write && live && h("button.danger", {onclick: () => cancelRuns([status]).then(renew)}, icon("stop"), "Cancel"),
				write && h("button", {onclick: () => rerun(id)}, icon("again"), "Run again"), more),
			h("div.row.muted.run-line",
				h("button.quiet.mono.id", {title: "Copy the handle", onclick: () => copy(status.handle, "the handle")}, h("span.clip", id), icon("copy")),
				status.submitted_at && h("span", "submitted ", time(status.submitted_at, age(status.submitted_at, now()))), took,
				restarts > 0 && h("span", `${restarts} restart${restarts === 1 ? "" : "s"}`), code !== null && h("span", `exit code ${code}`),
				of && h("span", "rerun of ", h("a", {href: runPath(last(of))}, last(of))),
				parent && h("span", "part of ", h("a", {href: sweepPath(last(parent))}, last(parent))), tagChips(status.tags)),
			status.note && h("p.note", status.note),
			failure ? failureBox(failure) : status.msg && status.state !== "SUCCEEDED" && h("p.notice" + (status.state === "FAILED" ? ".bad" : ""), status.msg),
			status.left_running.length > 0 && h("p.notice", `Still running: ${status.left_running.join(", ")}. All other roles have succeeded.`))
		tick()
	}

	function failureBox({role, replica, attempt, signal, exit_code: code, msg}) {
		const name = `${role}/${replica}`, structured = status.structured_error_msg, text = structured && (structured.message?.message ?? structured.message ?? structured)
		return h("section.notice.bad.failure", {label: "Failure"},
			h("div.row", h("strong", `${name} failed first`), [signal ?? (code !== null && `exit code ${code}`), attempt > 0 && `attempt ${attempt}`, msg].filter(Boolean).join(", "), h("span.grow"),
				tab[0] !== "log" && h("a.button", {href: runPath(id, "log", name)}, "Its log")),
			!tab[0] && (text || status.last_lines.length > 0) && h("pre.code.wrap", {tabIndex: 0, label: "Error"}, text ? typeof text === "string" ? text : JSON.stringify(text, null, 2) : status.last_lines.map(visible).join("\n")))
	}

	const nav = h("nav.tabs", {label: "Parts of the run"}, tabs.map(([name, text]) => h("a", {href: runPath(id, name), "aria-current": name === tab[0] ? "page" : null}, text)))
	draw()
	add(page, [top, nav, body])
	const renew = slowly(async () => {
		try {
			status = await get(apiPath(id, "/status"))
		} catch (error) {
			if (error.status === 404) put(top, h("h1", id), alarm("This run was deleted."))
			if (error.status !== undefined) return
			throw error
		}
		draw()
		for (const callback of listeners) callback("run");
	}, 300)
	const stop = watch(`run:${id}`, kind => {
		if (kind === "run" || kind === "hello") renew()
		else for (const callback of listeners) callback(kind);
	})
	const ticking = setInterval(tick, 1000)
	const undo = bind("Run", [
		...tabs.map(([name, text], i) => ({keys: String(i + 1), label: text, run: () => go(runPath(id, name))})),
		...readOnly() ? [] : [{keys: "r", label: "Run again", run: () => rerun(id)}],
	])
	const close = await tab[2](body, run)
	return () => {
		stop()
		undo()
		clearInterval(ticking)
		renew.close()
		close?.()
	}
}
