// Where the page is: addresses of views, and what the query string says of them.

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
	show(new URL(location.href))
}

export function go(address) {
	if (address !== location.pathname + location.search) history.pushState(null, "", address)
	show(new URL(location.href))
}

export function note(values, push = false) {
	const url = new URL(location.href)
	for (const [key, value] of Object.entries(values)) {
		url.searchParams.delete(key)
		for (const v of Array.isArray(value) ? value : [value]) {
			if (v != null && v !== "" && v !== false) url.searchParams.append(key, v === true ? "1" : v)
		}
	}
	if (url.href !== location.href) history[push ? "pushState" : "replaceState"](history.state, "", url)
}

export const query = (name, other = "") => new URL(location.href).searchParams.get(name) ?? other

export const runPath = (id, tab) => `/runs/${encodeURIComponent(id)}${tab ? "?tab=" + tab : ""}`

export const sweepPath = id => `/sweeps/${encodeURIComponent(id)}`

export const apiPath = (id, rest = "") => `/runs/${encodeURIComponent(id)}${rest}`

export function later(run, millis) {
	let timer
	return (...args) => {
		clearTimeout(timer)
		timer = setTimeout(() => run(...args), millis)
	}
}
