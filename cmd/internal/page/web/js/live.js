// One stream of server-sent events for the page.
import {apiURL} from "./api.js"

const watchers = new Map(); // topic → callbacks
let source = null, opened = "", timer = null, report = () => {}

export const onstate = callback => {report = callback;}

export function watch(topic, callback) {
	const list = watchers.get(topic) ?? watchers.set(topic, new Set()).get(topic)
	list.add(callback)
	plan()
	return () => {
		list.delete(callback)
		if (list.size === 0) watchers.delete(topic)
		plan()
	}
}

// One connection serves all topics.
function plan() {
	clearTimeout(timer)
	timer = setTimeout(connect, 0)
}

function connect() {
	const topics = [...watchers.keys()].sort()
	const wanted = topics.map(topic => "watch=" + encodeURIComponent(topic)).join("&")
	if (wanted === opened && source?.readyState < EventSource.CLOSED) return
	source?.close()
	source = null
	opened = wanted
	if (!wanted) report("")
	if (!wanted || document.hidden) return
	source = new EventSource(apiURL("/stream?" + wanted))
	const mine = source
	mine.addEventListener("hello", () => {
		report("ok")
		tell("hello", null)
	})
	for (const kind of ["runs", "run", "metrics", "usage", "log"]) {
		mine.addEventListener(kind, event => tell(kind, JSON.parse(event.data || "{}").app_id ?? null))
	}
	mine.onerror = () => {
		if (mine !== source) return
		report(mine.readyState === EventSource.CLOSED ? "lost" : "wait")
		if (mine.readyState === EventSource.CLOSED) timer = setTimeout(connect, 3000)
	}
}

function tell(kind, id) {
	for (const [topic, callbacks] of watchers) {
		const [about, of] = topic.split(/:(.*)/)
		const wanted = kind === "hello" || (kind === "runs" ? about === "runs" : kind === "log" ? about === "log" && of === id : about === "run" && of === id)
		if (wanted) for (const callback of [...callbacks]) callback(kind);
	}
}

// A page that cannot be seen holds no connection.
document.addEventListener("visibilitychange", () => {
	if (document.hidden) {
		source?.close()
		source = null
	} else plan()
})
addEventListener("pagehide", () => source?.close())

export function slowly(run, millis) {
	let busy = false, again = false, closed = false, wait = null
	const call = async () => {
		if (closed) return
		if (busy) return void (again = true)
		busy = true
		try {
			await run()
		} finally {
			wait = setTimeout(() => {
				busy = false
				if (again) {
					again = false
					call()
				}
			}, millis)
		}
	}
	call.close = () => {
		closed = true
		clearTimeout(wait)
	}
	return call
}
