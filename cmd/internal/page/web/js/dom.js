// Elements of the page.

const SVG = "http://www.w3.org/2000/svg"

export function h(tag, props, ...children) {
	return fill(document.createElement(tag.split(".", 1)[0]), tag, props, children)
}

export function s(tag, props, ...children) {
	return fill(document.createElementNS(SVG, tag.split(".", 1)[0]), tag, props, children)
}

const properties = new Set(["value", "checked", "indeterminate", "disabled", "hidden", "selected", "open", "tabIndex", "htmlFor"])

function fill(node, tag, props, children) {
	const classes = tag.split(".").slice(1)
	if (classes.length) node.setAttribute("class", classes.join(" "))
	if (typeof props !== "object" || props instanceof Node || Array.isArray(props)) {
		children.unshift(props)
		props = null
	}
	for (const [key, value] of Object.entries(props ?? {})) {
		if (value == null || value === false && !properties.has(key)) continue
		if (key.startsWith("on")) node.addEventListener(key.slice(2), value)
		else if (properties.has(key)) node[key] = value
		else node.setAttribute(key === "label" && tag !== "optgroup" ? "aria-label" : key, value === true ? "" : value)
	}
	add(node, children)
	return node
}

export function add(node, children) {
	for (const child of children) {
		if (child == null || child === false || child === "") continue
		if (Array.isArray(child)) add(node, child)
		else node.append(child)
	}
}

export function put(node, ...children) {
	node.replaceChildren()
	add(node, children)
	return node
}

export const alarm = (text, hidden) => h("p.notice.bad", {role: "alert", hidden}, text)

export const searchBox = (label, props) => h("input", {type: "search", placeholder: label, label, ...props})

export const icon = name => s("svg.glyph", {"aria-hidden": "true"}, s("use", {href: "#i-" + name}))

export function time(text, short) {
	if (!text) return null
	return h("time", {datetime: text, title: full(new Date(text))}, short)
}

const zoned = new Intl.DateTimeFormat("en-GB", {
	weekday: "short", year: "numeric", month: "short", day: "2-digit", hour: "2-digit", minute: "2-digit", second: "2-digit",
	fractionalSecondDigits: 3, timeZoneName: "short",
})

export function full(date) {
	return isNaN(date) ? "" : `${zoned.format(date)}\n${date.toISOString()}`
}

export const region = (label, ...children) => h("div.scroll-x", {tabIndex: 0, role: "region", label}, children)

export function table(label, heads, rows) {
	return region(label, h("table.grid", h("thead", h("tr", heads.map(head => head instanceof Node ? head : h(head[0] === "#" ? "th.num" : "th", {scope: "col"}, head.replace(/^#/, ""))))), h("tbody", rows)))
}

export const head = (...children) => h("th", {scope: "row"}, children)

export const num = (...children) => h("td.num", children)

export function choose(label, options, value, onchange) {
	const list = h("select", {label, onchange: () => onchange(list.value)}, options.map(([v, text]) => h("option", {value: v, selected: v === value}, text)))
	return list
}

export function toggle(label, on, run, ...content) {
	const button = h("button", {label, title: label, "aria-pressed": String(on), onclick: () => {
		on = !on
		button.setAttribute("aria-pressed", String(on))
		run(on)
	}}, content.length ? content : label)
	return button
}

export const field = (label, input, small) => h("label.field", h("span", label), input, small && h("small", small))

export function openBox(box) {
	document.body.append(box)
	box.showModal()
}
