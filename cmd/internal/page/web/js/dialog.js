// Questions, forms and short messages.
import {alarm, h, icon, openBox} from "./dom.js"

let toasts

export function toast(message, bad = false) {
	toasts ??= document.body.appendChild(h("div.toasts", {role: "status", "aria-live": "polite"}))
	const note = h("div.toast" + (bad ? ".bad" : ""), h("span.grow", message),
		h("button.quiet.icon", {label: "Close message", onclick: () => note.remove()}, icon("close")))
	toasts.append(note)
	if (!bad) setTimeout(() => note.remove(), 6000)
}

// ask opens a form and resolves to what submit returned.
export function ask({title, body, yes, danger = false, wide = false, submit}) {
	return new Promise(resolve => {
		let result = null
		const problem = alarm("", true)
		const button = h("button.primary" + (danger ? ".danger" : ""), {type: "submit"}, yes)
		const form = h("form", {
			novalidate: true,
			onsubmit: async event => {
				event.preventDefault()
				button.disabled = true
				problem.hidden = true
				try {
					result = await submit(form) ?? true
					box.close()
				} catch (error) {
					problem.textContent = error.message
					problem.hidden = false
				}
				button.disabled = false
			},
		}, h("h2", {id: "ask-title"}, title), body, problem,
		h("footer", h("button", {type: "button", onclick: () => box.close()}, yes ? "Cancel" : "Close"), yes && button))
		const box = h("dialog" + (wide ? ".wide" : ""), {
			"aria-labelledby": "ask-title",
			onclose: () => {
				box.remove()
				resolve(result)
			},
		}, form)
		openBox(box);
		(form.querySelector("input, select, textarea") ?? (danger ? form.querySelector("footer button") : button)).focus()
	})
}

export function menu(anchor, items) {
	const box = h("dialog.menu", {label: anchor.getAttribute("aria-label") ?? anchor.textContent, onclose: () => box.remove(), onclick: event => event.target === box && box.close()},
		items.filter(Boolean).map(([label, run, kind]) => h("button" + (kind ? "." + kind : ""), {
			onclick: () => {
				box.close()
				run()
			},
		}, label)))
	openBox(box)
	const at = anchor.getBoundingClientRect()
	move(box, at.left, Math.min(at.bottom + 4, innerHeight - box.offsetHeight - 8))
}

// move puts a box at a place within the window.
function move(box, x, y) {
	box.style.left = `${Math.max(8, Math.min(x, innerWidth - box.offsetWidth - 8))}px`
	box.style.top = `${Math.max(8, y)}px`
}

let tip

export function hint(text, x, y) {
	tip ??= document.body.appendChild(h("div.tip", {role: "tooltip", hidden: true}))
	tip.hidden = !text
	if (!text) return
	tip.textContent = text
	move(tip, x + 14, y + 18 + tip.offsetHeight > innerHeight ? y - tip.offsetHeight - 10 : y + 18)
}

export async function copy(text, what) {
	try {
		await navigator.clipboard.writeText(text)
		toast(`Copied ${what}`)
	} catch {
		toast("the browser denies use of the clipboard", true)
	}
}
