// The client starts here: the frame of the page, and which view an address opens.
import {alarm, bind, go, h, help, hint, menu, onstate, put, session, start, toast} from "./ui.js"
import {compareView} from "./views/compare.js"
import {pruneView} from "./views/prune.js"
import {runView} from "./views/run.js"
import {runsView} from "./views/runs.js"
import {sweepView} from "./views/sweeps.js"

const main = document.getElementById("main")
let close = null, turn = 0

function frame() {
	const bar = document.querySelector(".bar"), link = bar.querySelector(".link-state"), theme = document.getElementById("theme"), keys = document.getElementById("help")
	document.body.classList.add("app")
	const words = {ok: "Live", wait: "Connecting", lost: "Offline"}
	onstate(state => {
		link.dataset.state = state
		put(link, h("span", words[state]))
		link.title = state === "ok" ? "Changes appear by themselves" : "The page shows what it knew last"
	})
	theme.addEventListener("click", () => menu(theme, [["Light", () => setTheme("light")], ["Dark", () => setTheme("dark")], ["As the system", () => setTheme("")]]))
	keys.addEventListener("click", help)
	bind("Everywhere", [
		{keys: "?", label: "Show the keys", run: help},
		{keys: "u", label: "Back to the runs", run: () => location.pathname === "/" || go("/")},
		{keys: "g r", label: "Go to runs", run: () => go("/")},
		{keys: "g s", label: "Go to sweeps", run: () => go("/?backend=sweep")},
		{keys: "g c", label: "Go to compare", run: () => go("/compare")},
	])
	return bar
}

function setTheme(theme) {
	const {dataset} = document.documentElement
	if (theme) dataset.theme = theme
	else delete dataset.theme
	try {
		localStorage.theme = theme
	} catch {/* a browser without storage forgets the choice */}
	dispatchEvent(new Event("theme"))
}

const bar = frame()

function view({pathname}) {
	const [, room, id] = pathname.match(/^\/([^/]*)\/?(.*)$/)
	const name = decodeURIComponent(id ?? "")
	if (room === "runs" && name) return page => runView(page, name)
	if (room === "sweeps" && name) return page => sweepView(page, name)
	if (room === "compare") return compareView
	if (room === "prune") return pruneView
	return runsView
}

let last = ""
start(async url => {
	const mine = ++turn
	hint("")
	for (const box of document.querySelectorAll("dialog[open]")) box.close();
	for (const a of bar.querySelectorAll("nav a")) {
		const [path, search] = a.getAttribute("href").split("?"), sweeps = url.pathname.startsWith("/sweeps") || url.searchParams.get("backend") === "sweep"
		const here = search ? sweeps : path === "/" ? !sweeps && /^\/(runs.*)?$/.test(url.pathname) : url.pathname === path
		if (here) a.setAttribute("aria-current", "page")
		else a.removeAttribute("aria-current")
	}
	const moved = last !== "" && last !== url.pathname
	last = url.pathname
	try {
		await session()
		const page = h("div.fill")
		const opened = await view(url)(page)
		if (mine !== turn) return opened?.()
		close?.()
		close = opened
		put(main, page)
		if (moved) main.focus({preventScroll: true})
	} catch (error) {
		if (mine !== turn) return
		close?.()
		close = null
		put(main, h("div.view", h("h1", {401: "No access", 404: "Not found"}[error.status] ?? "This did not work"), alarm(error.message),
			h("p", h("a", {href: "/"}, "All runs"))))
		if (!error.message || !("status" in error)) console.error(error)
	}
})

addEventListener("unhandledrejection", event => {
	if (event.reason?.name === "AbortError") return event.preventDefault()
	if (event.reason && "status" in event.reason) {
		event.preventDefault()
		toast(event.reason.message, true)
	}
})
