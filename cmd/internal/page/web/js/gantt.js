// The attempts of all replicas over time, a row each.
import {clock, count, duration, h, hint, isFinal, now, put, runPath, searchBox, title} from "./ui.js"
import {label, timeTicks} from "./scale.js"
import {Rows} from "./virtual.js"

const height = 24

// attempts is a status as rows.
export function attempts(status, at) {
	const rows = new Map(), join = (by, ...parts) => parts.filter(Boolean).join(by)
	const bar = (r, last) => {
		const name = `${r.role}/${r.replica}`, from = Date.parse(r.started_at), to = r.finished_at ? Date.parse(r.finished_at) : isFinal(r.state) ? from : at
		const row = rows.get(name) ?? rows.set(name, {name, state: r.state, bars: []}).get(name)
		const why = [join(": ", r.signal ?? (r.exit_code !== null && `exit code ${r.exit_code}`), r.msg), join(" on ", r.pod, r.node)].map(line => line && "\n" + line).join("")
		if (last) Object.assign(row, {state: r.state, why: r.started_at ? "" : why})
		if (r.started_at) row.bars.push({state: r.state, attempt: r.attempt, from, to, text: `${name}, attempt ${r.attempt}: ${title(r.state).toLowerCase()}\n${clock(new Date(from), true)}, ${duration((to - from) / 1000)}${why}`})
	}
	for (const {replicas} of status.roles) for (const r of replicas) bar(r, true);
	for (const past of status.past_attempts) bar(past);
	const began = Date.parse(status.submitted_at ?? status.started_at), ended = status.finished_at ? Date.parse(status.finished_at) : at
	for (const row of rows.values()) {
		row.bars.sort((a, b) => a.from - b.from)
		const waits = []
		let free = began
		for (const b of row.bars) {
			if (b.from - free > 0) waits.push(wait(row, free, b.from, b.attempt))
			free = b.to
		}
		if (!row.bars.length || !isFinal(row.state) && row.bars.at(-1).to < ended && isFinal(row.bars.at(-1).state)) waits.push(wait(row, free, ended, row.bars.length, row.why))
		row.bars.unshift(...waits)
	}
	return {rows: [...rows.values()], from: began, to: Math.max(ended, began + 1)}
}

const wait = (row, from, to, attempt, why = "") => ({state: "WAIT", attempt, from, to, text: `${row.name} ${attempt ? "waits to start again" : "waits to start"}\n${duration((to - from) / 1000)}${why}`})

export function gantt(id) {
	const box = h("div.gantt-rows"), axis = h("div.gantt-axis", {"aria-hidden": "true"}), info = h("span.muted")
	const find = searchBox("Filter replicas", {placeholder: "Filter: failed, trainer/1", oninput: () => show()})
	const card = h("section.card.gantt", {label: "Timeline"}, h("header", h("h2", "Timeline"), info, h("span.grow"), find),
		h("div.gantt-frame", axis, box))
	let model = null, shown = []

	const rows = new Rows(box, {
		height, create: () => h("div.gantt-row"),
		fill: (row, i) => {
			const {name, bars, state} = shown[i], span = model.to - model.from
			const words = bars.filter(b => b.state !== "WAIT").map(b => `attempt ${b.attempt} ${title(b.state).toLowerCase()} after ${duration((b.to - b.from) / 1000)}`).join("; ")
			const link = h("a.clip", {href: runPath(id, "log", name), label: `${name}: ${words || title(state).toLowerCase()}`}, name)
			put(row, link, h("div.gantt-track", bars.map(b => {
				const bar = h(`div.gantt-bar.b-${b.state}`, {"aria-hidden": "true"})
				bar.style.left = `${(b.from - model.from) / span * 100}%`
				bar.style.width = `max(${b.state === "WAIT" ? 0 : 3}px, ${(b.to - b.from) / span * 100}%)`
				bar.about = b.text
				return bar
			})))
		},
	})

	function show() {
		const words = find.value.toLowerCase().split(/\s+/).filter(Boolean)
		shown = model.rows.filter(row => words.every(word => `${row.name} ${row.state}`.toLowerCase().includes(word)))
		info.textContent = shown.length === model.rows.length ? count(shown.length) : `${count(shown.length)} of ${count(model.rows.length)}`
		box.style.height = `${Math.min(18, Math.max(1, shown.length)) * height}px`
		const seconds = (model.to - model.from) / 1000
		put(axis, timeTicks(0, seconds, Math.max(2, box.clientWidth / 130)).map(t => {
			const tick = h("span", label("elapsed", t, seconds))
			tick.style.left = `${t / seconds * 100}%`
			return tick
		}))
		rows.resize(shown.length)
	}

	box.addEventListener("pointermove", event => hint(event.target.about, event.clientX, event.clientY))
	box.addEventListener("pointerleave", () => hint(""))
	return {
		card,
		draw: status => {
			model = attempts(status, now())
			show()
		},
		close: () => {
			hint("")
			rows.close()
		},
	}
}
