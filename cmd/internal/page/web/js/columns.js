// Columns of the table of runs: state and name come first, the user chooses the others from facts, arguments and metrics.
import {ask, h, number, searchBox} from "./ui.js"

export const facts = {component: "Component", tags: "Tags", backend: "Backend", submitted: "Submitted", duration: "Duration", exit: "Exit"}
const stats = ["last", "min", "max"]

export const parts = id => id.match(/^(arg|last|min|max)\((.*)\)$/)?.slice(1) ?? [null, id]

export function heading(id) {
	const [stat, name] = parts(id)
	return !stat ? facts[id] ?? id : stat === "min" || stat === "max" ? `${stat} ${name}` : name
}

export function valueOf(run, id) {
	const [stat, name] = parts(id)
	return stat === "arg" ? run.arguments?.[name] : run.metrics?.[name]?.[stat]
}

export const valueText = value => value == null ? "" : typeof value === "number" ? number(value) : isNaN(value) || value === "" ? value : number(Number(value))

const tally = names => {
	const counts = new Map()
	for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
	return [...counts].sort((a, b) => b[1] - a[1])
}

// differing returns the arguments that are not the same in all runs, first those that most have.
export function differing(runs) {
	const names = tally(runs.flatMap(run => Object.keys(run.arguments ?? {}))).filter(([, n]) => n > 1 || runs.length < 4)
	return names.map(([name]) => name).filter(name => !name.startsWith("argument ") && runs.every(run => (run.arguments?.[name] ?? "").length < 40) &&
		new Set(runs.map(run => run.arguments?.[name])).size > 1)
}

// common returns the metrics that most of the runs with metrics have, first those with a goal.
export function common(runs) {
	const all = runs.filter(run => Object.keys(run.metrics ?? {}).length), goal = name => all.some(run => run.metrics[name]?.goal) ? 0 : 1
	return tally(all.flatMap(run => Object.keys(run.metrics))).filter(([, n]) => n * 2 >= all.length).map(([name]) => name).sort((a, b) => goal(a) - goal(b))
}

// defaults returns the columns that say most and fit in a width.
export function defaults(runs, room) {
	const args = differing(runs).slice(0, 4).map(name => `arg(${name})`), metrics = common(runs).slice(0, 2).map(name => `last(${name})`)
	const backends = new Set(runs.map(run => run.backend)).size > 1, fit = new Set()
	room -= 420; // what is always there
	for (const id of ["submitted", "duration", "exit", "component", ...metrics, "tags", ...args, backends && "backend"]) {
		if (!id || room < width(id)[0] + 12) continue
		room -= width(id)[0] + 12
		fit.add(id)
	}
	return ["component", "tags", ...args, ...metrics, "backend", "submitted", "duration", "exit"].filter(id => fit.has(id))
}

export function width(id) {
	return {component: [110, 1.1], tags: [90, 1.6], backend: [88, 0], submitted: [88, 0], duration: [92, 0], exit: [44, 0]}[id] ?? [Math.min(150, Math.max(74, heading(id).length * 8 + 16)), 0.5]
}

export const isNumber = id => !["component", "tags", "backend"].includes(id)

// moved returns the columns with one before another, or at another place.
export function moved(columns, id, by) {
	const from = columns.indexOf(id), to = Math.max(0, Math.min(columns.length - 1, from + by))
	return columns.toSpliced(from, 1).toSpliced(to, 0, id)
}

export function chooseColumns(runs, chosen, submit) {
	const group = (title, ids) => ids.length > 0 && h("fieldset", h("legend", title), ids.map(([id, text]) => h("label.row", {"data-name": text.toLowerCase()}, h("input", {type: "checkbox", value: id, checked: chosen.includes(id)}), text)))
	const args = tally(runs.flatMap(run => Object.keys(run.arguments ?? {}))).map(([name]) => [`arg(${name})`, name])
	const metrics = tally(runs.flatMap(run => Object.keys(run.metrics ?? {}))).flatMap(([name]) => stats.map(stat => [`${stat}(${name})`, `${stat} ${name}`]))
	const boxes = h("div.choices", group("Facts", Object.entries(facts)), group("Arguments", args), group("Metrics", metrics))
	const find = searchBox("Find a column", {oninput: () => {
		for (const label of boxes.querySelectorAll("label")) label.hidden = !label.dataset.name.includes(find.value.toLowerCase());
	}})
	return ask({
		title: "Columns", yes: "Show", wide: true,
		body: [find, boxes, h("p.muted", "Drag a head to move its column, or focus it and press ", h("kbd", "Alt"), " with an arrow key.")],
		submit: () => {
			const on = [...boxes.querySelectorAll("input:checked")].map(box => box.value)
			submit([...chosen.filter(id => on.includes(id)), ...on.filter(id => !chosen.includes(id))])
		},
	})
}
