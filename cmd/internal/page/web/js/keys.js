// Keyboard shortcuts.
import {h, openBox} from "./dom.js"

let table = []
let pending = ""

export function bind(group, shortcuts) {
	const added = shortcuts.map(shortcut => ({group, ...shortcut}))
	table.push(...added)
	return () => {table = table.filter(shortcut => !added.includes(shortcut));}
}

const typing = target => target instanceof Element && target.closest("input:not([type=checkbox]):not([type=range]), textarea, select, [contenteditable]")

document.addEventListener("keydown", event => {
	if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return
	if (event.key === "Escape" && typing(event.target)) return event.target.blur()
	if (typing(event.target) || event.target.closest?.("canvas, [role=slider]") && event.key.startsWith("Arrow")) return
	const key = pending ? `${pending} ${event.key}` : event.key
	pending = ""
	const found = table.findLast(shortcut => shortcut.keys.split("|").includes(key))
	if (found) {
		if (key === "Enter" && event.target.closest?.("a, button, summary, [tabindex='0']")) return
		event.preventDefault()
		found.run(event)
	} else if (table.some(shortcut => shortcut.keys.startsWith(key + " "))) {
		pending = key
		setTimeout(() => {pending = "";}, 1200)
	}
})

export function help() {
	const groups = new Map()
	for (const shortcut of table) groups.set(shortcut.group, [...groups.get(shortcut.group) ?? [], shortcut]);
	const box = h("dialog", {"aria-labelledby": "keys-title", onclose: () => box.remove()},
		h("form", {method: "dialog"}, h("h2", {id: "keys-title"}, "Keyboard"),
			[...groups].map(([name, list]) => [h("h3", name), h("dl.keys", list.map(shortcut => [
				h("dt", shortcut.keys.split("|").slice(0, 2).map((key, i) => [i > 0 && " or ", key.split(" ").map(k => [h("kbd", names[k] ?? k), " "])])),
				h("dd", shortcut.label)]))]),
			h("footer", h("button", {value: "close"}, "Close"))))
	openBox(box)
}

const names = {ArrowDown: "↓", ArrowUp: "↑", ArrowLeft: "←", ArrowRight: "→", " ": "Space", Escape: "Esc"}
