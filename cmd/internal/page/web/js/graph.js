// Roles and what they wait for, from left to right.
import {region, s} from "./dom.js"
import {runPath} from "./place.js"
import {states} from "./state.js"

const width = 160, height = 50, gapX = 40, gapY = 16

export function layers(roles) {
	const byName = new Map(roles.map(role => [role.name, role])), known = new Map()
	const layer = (name, seen) => {
		if (known.has(name)) return known.get(name)
		if (seen.has(name)) return 0
		seen.add(name)
		const of = byName.get(name).needs.filter(need => byName.has(need)).map(need => layer(need, seen) + 1)
		known.set(name, Math.max(0, ...of))
		return known.get(name)
	}
	return roles.map(role => layer(role.name, new Set()))
}

export function graph(roles, id) {
	const columns = [], column = layers(roles), at = new Map()
	roles.forEach((role, i) => (columns[column[i]] ??= []).push(role))
	const tall = Math.max(...columns.map(c => c.length))
	columns.forEach((list, x) => list.forEach((role, y) => at.set(role.name, [x * (width + gapX), (y + (tall - list.length) / 2) * (height + gapY)])))
	const w = columns.length * (width + gapX) - gapX, full = tall * (height + gapY) - gapY
	const edges = roles.flatMap(role => role.needs.filter(need => at.has(need)).map(need => {
		const [x1, y1] = at.get(need), [x2, y2] = at.get(role.name), from = x1 + width, mid = (from + x2) / 2
		return s("path.edge", {d: `M${from} ${y1 + height / 2}C${mid} ${y1 + height / 2} ${mid} ${y2 + height / 2} ${x2 - 5} ${y2 + height / 2}`, "marker-end": "url(#arrow)"})
	}))
	const words = roles.map(role => role.needs.length ? `${role.name} after ${role.needs.join(", ")}` : `${role.name} at once`).join("; ")
	const svg = s("svg.graph", {viewBox: `-2 -2 ${w + 4} ${full + 4}`, width: w + 4, height: full + 4, role: "group", label: `Order of the roles: ${words}`},
		s("defs", s("marker", {id: "arrow", viewBox: "0 0 8 8", refX: 6, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto"}, s("path.head", {d: "M1 1 7 4 1 7Z"}))), edges,
		roles.map(role => {
			const [x, y] = at.get(role.name), worst = ["FAILED", ...states].find(state => role.counts[state]) ?? "UNKNOWN"
			const text = role.name.length > 19 ? role.name.slice(0, 18) + "…" : role.name
			const done = role.counts.SUCCEEDED ?? 0, n = role.replicas.length
			return s("a", {href: runPath(id, "log", role.name)},
				s("g.node", {transform: `translate(${x} ${y})`}, s("title", role.name), s("rect", {width, height, rx: 9}),
					s(`circle.s-${worst}`, {cx: 16, cy: 18, r: 4.5, fill: "currentColor"}), s("text", {x: 28, y: 22}, text),
					s("text.sub", {x: 28, y: 39}, n === 1 ? worst.toLowerCase() : `${done} of ${n} succeeded`)))
		}))
	return region("Graph of the roles", svg)
}
