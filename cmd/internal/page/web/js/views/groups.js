// Runs in groups by a tag or an argument: how many, and the mean and the best of each metric.
import {count, h, head, num, number, plural, table} from "../ui.js"
import {common, parts} from "../columns.js"

export const most = 1000; // runs

// groupings returns what runs can be grouped by: tag(KEY) and arg(NAME).
export function groupings(runs) {
	const names = (kind, of) => [...new Set(runs.flatMap(run => Object.keys(run[of] ?? {})))].filter(name => !name.startsWith("argument ")).sort().map(name => [`${kind}(${name})`, `${kind === "tag" ? "tag " : ""}${name}`])
	return [...names("tag", "tags"), ...names("arg", "arguments")]
}

const split = by => by.match(/^(tag|arg)\((.*)\)$/)?.slice(1) ?? ["tag", by]

export function groupTable(runs, by, columns, open) {
	const [kind, name] = split(by), groups = new Map()
	for (const run of runs) {
		const value = (kind === "tag" ? run.tags : run.arguments)?.[name]
		groups.set(value, [...groups.get(value) ?? [], run])
	}
	const chosen = columns.filter(id => ["last", "min", "max"].includes(parts(id)[0])), metrics = [...new Set((chosen.length ? chosen : common(runs).slice(0, 2)).map(id => parts(id)[1]))]
	const cells = (of, metric) => {
		const known = of.map(run => run.metrics?.[metric]).filter(Boolean), last = known.map(m => m.last).filter(v => v != null), goal = known[0]?.goal
		const best = goal ? Math[goal](...known.map(m => m[goal]).filter(v => v != null)) : NaN
		return [num(last.length ? number(last.reduce((a, b) => a + b) / last.length) : ""), num(isFinite(best) ? number(best) : "")]
	}
	const order = (a, b) => a === undefined ? 1 : b === undefined ? -1 : isNaN(a) || isNaN(b) ? a.localeCompare(b) : a - b
	return [h("p.muted", `${plural(groups.size, "group")} of ${plural(runs.length, "run")}`, runs.length === most && `, the first ${count(most)}`),
		table(`Runs by ${name}`, [name, "#Runs", "#Succeeded", ...metrics.flatMap(m => [`#mean ${m}`, `#best ${m}`])], [...groups.keys()].sort(order).map(value => {
			const of = groups.get(value)
			return h("tr", head(value === undefined ? h("span.muted", "not set") : h("button.quiet", {title: "Show these runs", onclick: () => open(kind, name, value)}, value === "" ? "(empty)" : value)),
				num(count(of.length)), num(count(of.filter(run => run.state === "SUCCEEDED").length)), metrics.flatMap(metric => cells(of, metric)))
		}))]
}
