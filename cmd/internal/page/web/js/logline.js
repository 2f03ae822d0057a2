// A line of a log as an element: number, time, replica, colored text.
import {clock, h, visible} from "./ui.js"
import {collapse, contrast, parse, plain, readable, rgb} from "./ansi.js"
import {isDark} from "./plot.js"

export function lineNode(line, before, pattern) {
	const {text, versions} = line.line.includes("\r") ? collapse(line.line) : {text: line.line, versions: 1}
	const body = h("span.tx", spans(text, pattern))
	if (versions > 1) {
		const more = h("button.quiet.more", {title: "Show what this line replaced", onclick: () => {
			body.replaceChildren(...line.line.split("\r").filter(v => plain(v) !== "").map(v => h("div", spans(v, pattern))))
		}}, `↻ ${versions}`)
		body.append(more)
	}
	if (line.cut) body.append(h("span.cut", ` … ${line.cut} bytes left out`))
	const at = line.time ? new Date(line.time) : null
	const node = h("div.ln" + (line.stream === "stderr" ? ".err" : ""), {"data-n": line.number},
		h("a.no", {href: `#L${line.number}`, tabIndex: -1, "data-n": line.number, label: `Line ${line.number}`}, String(line.number)),
		at && h("time.ts", {datetime: line.time, title: line.time}, clock(at, true)),
		h("span.who", {title: `attempt ${line.attempt}, ${line.stream}`}, `${line.role}/${line.replica}`, line.attempt > 0 && h("i", `#${line.attempt}`)), body)
	const starts = before && before.role === line.role && before.replica === line.replica && before.attempt !== line.attempt
	return starts ? [h("div.sep", {role: "separator"}, h("span", `${line.role}/${line.replica}: attempt ${line.attempt}`)), node] : [node]
}

export function spans(text, pattern) {
	const parts = parse(text), nodes = []
	const hits = pattern ? ranges(parts.map(part => part.text).join(""), pattern) : []
	let offset = 0, hit = 0
	for (const {text: all, style} of parts) {
		const end = offset + all.length
		let from = offset
		while (from < end) {
			while (hit < hits.length && hits[hit][1] <= from) hit++
			const next = hits[hit], inside = next && next[0] <= from, to = Math.min(end, next ? (inside ? next[1] : next[0]) : end)
			nodes.push(span(all.slice(from - offset, to - offset), style, inside))
			from = to
		}
		offset = end
	}
	return nodes
}

function ranges(text, pattern) {
	const found = []
	pattern.lastIndex = 0
	for (let m; found.length < 1000 && (m = pattern.exec(text));) {
		if (m[0] === "") pattern.lastIndex++
		else found.push([m.index, m.index + m[0].length])
	}
	return found
}

function span(text, style, marked) {
	if (marked) return h("mark", text)
	if (!style) return document.createTextNode(text)
	const classes = ["bold", "dim", "italic", "underline", "strike"].filter(name => style[name]).map(name => "a-" + name)
	let {fg, bg} = style
	if (style.inverse) {
		[fg, bg] = [bg ?? "bg", fg ?? "fg"]
		if (fg === "bg") classes.push("a-inverse")
	}
	const node = h("span", text)
	if (Number.isInteger(bg) && bg < 16) classes.push("bg" + bg)
	else if (Array.isArray(bg) || Number.isInteger(bg)) paint(node, Array.isArray(bg) ? bg : rgb(bg), fg)
	if (bg === undefined || bg === "fg") {
		if (Number.isInteger(fg) && fg < 16) classes.push("fg" + fg)
		else if (Array.isArray(fg) || Number.isInteger(fg)) node.style.color = css(readable(Array.isArray(fg) ? fg : rgb(fg), isDark() ? [21, 23, 27] : [255, 255, 255]))
	}
	if (classes.length) node.className = classes.join(" ")
	return node
}

function paint(node, background, fg) {
	const wanted = Array.isArray(fg) ? fg : Number.isInteger(fg) && fg >= 16 ? rgb(fg) : null
	const ink = wanted ?? (contrast([0, 0, 0], background) > contrast([255, 255, 255], background) ? [0, 0, 0] : [255, 255, 255])
	node.style.backgroundColor = css(background)
	node.style.color = css(readable(ink, background))
}

const css = color => `rgb(${color.join(" ")})`

export const textOf = line => visible(plain(collapse(line.line).text))
