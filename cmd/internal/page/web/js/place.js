// Where the page is: addresses of views, and what the query string says of them.
import {apiURL, assign, search} from "./api.js"

let show = () => {}

export function start(render) {
	show = render
	addEventListener("popstate", () => show(new URL(location.href)))
	document.addEventListener("click", event => {
		const link = event.target.closest?.("a[href]")
		if (!link || event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
		const url = new URL(link.href, location.href)
		if (url.origin !== location.origin || link.hasAttribute("download") || link.target || url.pathname.startsWith("/api/") || link.getAttribute("href").startsWith("#")) return
		event.preventDefault()
		go(url.pathname + url.search)
	})
	for (const kind of ["click", "auxclick", "contextmenu"]) document.addEventListener(kind, sign);
	show(new URL(location.href))
}

// sign adds the key to a link of the API when it is used, so that it is not shown before.
function sign(event) {
	const link = event.target.closest?.("a[href^='/api/v1/']")
	if (link) link.href = apiURL(link.getAttribute("href").slice(7))
}

export function go(address) {
	if (address !== location.pathname + location.search) history.pushState(null, "", address)
	show(new URL(location.href))
}

export function note(values, push = false) {
	const url = new URL(location.href)
	assign(url.searchParams, values)
	if (url.href !== location.href) history[push ? "pushState" : "replaceState"](history.state, "", url)
}

export const query = (name, other = "") => new URL(location.href).searchParams.get(name) ?? other

export const runPath = (id, tab, replica) => apiPath(id) + search({tab, replica})

export const sweepPath = id => `/sweeps/${encodeURIComponent(id)}`

export const apiPath = (id, rest = "") => `/runs/${encodeURIComponent(id)}${rest}`

export function later(run, millis) {
	let timer
	return (...args) => {
		clearTimeout(timer)
		timer = setTimeout(() => run(...args), millis)
	}
}
