// Tabs that list facts: events, outputs, the app.
import {add, apiPath, badge, bytes, clock, copy, count, day, get, h, num, put, slowly, table, time, visible} from "../ui.js"

const most = 2000; // rows of a table
const moment = text => time(text, `${day(new Date(text))} ${clock(new Date(text), true)}`)
const more = (n, command) => n > most && h("p.muted", `The first ${count(most)} are shown. All: `, h("code", command))

function live(body, run, draw) {
	const card = h("section.card")
	add(body, [h("div.view.scrolls", card)])
	const renew = slowly(async () => put(card, await draw().catch(e => h("div.empty", e.message))), 500), stop = run.onchange(kind => kind === "run" && renew())
	renew()
	return () => {
		stop()
		renew.close()
	}
}

export const eventsView = (body, run) => live(body, run, async () => {
	const events = (await get(apiPath(run.id, "/events"))).reverse()
	return [h("header", h("h2", "Events"), h("span.muted", count(events.length))),
		table("Events", ["Time", "What", "State", "#Exit", "Message"], events.slice(0, most).map(e => h("tr", h("td.nowrap.mono", moment(e.time)),
			h("td.nowrap", e.role ? `${e.role}/${e.replica}${e.attempt ? " attempt " + e.attempt : ""}` : e.kind.replace("_", " ")),
			h("td", e.state && badge(e.state)), num(e.signal ?? e.exit_code ?? ""), h("td", visible(e.msg ?? ""))))), more(events.length, `torchx events ${run.id}`)]
})

export const outputsView = (body, run) => live(body, run, async () => {
	const files = await get(apiPath(run.id, "/outputs"))
	if (!files.length) return h("div.empty", "No files. A program writes them to the folder ", h("code", "$TORCHX_OUTPUT"), ".")
	const link = file => h("a", {href: "/api/v1" + apiPath(run.id, "/outputs/" + file.split("/").map(encodeURIComponent).join("/")), download: file.split("/").pop()}, visible(file))
	return [h("header", h("h2", "Outputs"), h("span.muted", `${count(files.length)} files, ${bytes(files.reduce((sum, f) => sum + f.bytes, 0))}`)),
		table("Outputs", ["File", "#Size", "#Changed"], files.slice(0, most).map(f => h("tr",
			h("td.mono", f.kind === "file" ? link(f.file) : [visible(f.file), h("span.muted", ` ${f.kind}${f.target ? " to " + visible(f.target) : ""}`)], f.error && h("p.bad", visible(f.error))),
			num(f.kind === "file" && bytes(f.bytes)), num(moment(f.modified_at))))), more(files.length, `torchx output ${run.id}`)]
})

export async function appView(body, run) {
	const {app, partial, provenance} = await get(apiPath(run.id, "/describe")), text = JSON.stringify(app, null, 2)
	const fold = (name, value, open) => h("details", {open}, h("summary", name), h("pre.code", {tabIndex: 0, label: name}, JSON.stringify(value, null, 2)))
	add(body, [h("div.view.scrolls", h("section.card.stack", h("header", h("h2.grow", "App as submitted"), h("button", {onclick: () => copy(text, "the app")}, "Copy JSON")),
		partial && h("p.notice", "The history does not have this app: its backend reported what is here."),
		app.roles.map((role, i) => fold(`${role.name}: ${role.num_replicas} × ${role.entrypoint}`, role, i === 0)), fold("All of the app", app, false), provenance && fold("Provenance", provenance, false)))])
}
