// What `torchx prune` would remove.
import {add, age, alarm, badge, bytes, copy, field, get, h, head, later, note, now, num, plural, put, query, quote, runPath, table, time} from "../ui.js"

const fields = [["older-than", "Older than", "30d"], ["keep", "Keep the newest", "100"], ["max-size", "Until the size is at most", "10G"], ["state", "State", "succeeded"]]
const most = 1000; // rows

export async function pruneView(page) {
	document.title = "Prune - torchx"
	const inputs = fields.map(([name, , placeholder]) => h("input", {name, placeholder, value: query(name), autocomplete: "off", oninput: later(draw, 300)}))
	const result = h("section.card", {"aria-live": "polite"})
	let asking
	async function draw() {
		asking?.abort()
		const mine = asking = new AbortController(), values = Object.fromEntries(inputs.map(input => [input.name, input.value.trim()])), given = Object.entries(values).filter(([, v]) => v)
		note(values)
		if (!given.length) return void put(result, h("div.empty", "Name a condition to see which runs it would remove."))
		const command = ["torchx prune", ...given.map(([k, v]) => `--${k} ${quote(v)}`)].join(" ")
		put(result, h("p.muted", "Looking…"))
		const answer = await get("/prune", {...values, limit: most}, mine.signal).catch(error => ({error}))
		if (mine !== asking) return
		if (answer.error) return void put(result, alarm(answer.error.message))
		put(result, h("header", h("h2.grow", `${plural(answer.count, "run")}, ${answer.count > most ? "more than " : ""}${bytes(answer.bytes)}`), h("code", command), h("button", {onclick: () => copy(command, "the command")}, "Copy")),
			h("p.muted", "The command removes them, with their logs and outputs.", answer.count > most && ` The first ${most} are shown.`),
			table("Runs", ["Run", "State", "#Submitted", "#Size"], answer.apps.map(run => h("tr", head(h("a", {href: runPath(run.app_id)}, run.app_id)), h("td", badge(run.state)),
				num(time(run.submitted_at, age(run.submitted_at, now()))), num(bytes(run.bytes))))))
	}
	add(page, [h("div.view.scrolls", h("h1", "Preview of prune"), h("div.form-grid", fields.map(([, label], i) => field(label, inputs[i]))), result)])
	await draw()
}
