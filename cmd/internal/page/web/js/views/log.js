// The log of a run: a window of lines that moves over it.
import {add, apiPath, ask, bind, bytes, choose, copy, count, field, get, h, icon, later, note, plural, put, query, search as queryOf, searchBox, slowly, toast, toggle, watch} from "../ui.js"
import {lineNode, textOf} from "../logline.js"

const chunk = 400, most = 2400; // lines of a request, lines in the page

const topOf = node => node.getBoundingClientRect().top

export async function logView(body, run) {
	const view = {replica: query("replica"), stream: query("stream"), attempt: query("attempt", "all"), wrap: query("wrap", "1") !== "0", times: query("times") === "1", find: query("find"), regex: query("regex") === "1"}
	let lines = [], total = 0, size = 0, done = false, follow = true, busy = false, turn = 0, hits = null, hit = -1, pattern = null, behind = false

	const list = h("div.log-lines"), box = h("div.log", {tabIndex: 0, role: "region", label: "Log"}, list)
	const slider = h("input.log-slider", {type: "range", min: 1, max: 1, step: 1, label: "Position in the log", orient: "vertical"})
	const info = h("span.muted.nowrap", {role: "status"}), notices = h("div")
	const matches = h("span.muted.nowrap", {role: "status"})
	const toEnd = h("button.primary.log-end", {hidden: true, onclick: () => end()}, icon("end"), "Follow")

	const selection = () => {
		const [, role, replica] = view.replica.match(/^(.*?)(?:\/(\d+))?$/)
		return {role, replica, stream: view.stream, attempt: view.attempt === "last" ? "" : view.attempt}
	}
	const fetchLines = (window, signal) => get(apiPath(run.id, "/log"), {...selection(), ...window}, signal)
	const first = () => lines[0]?.number ?? 1, last = () => lines.at(-1)?.number ?? 0

	function note_(answer) {
		({total, done} = answer)
		size = answer.bytes
		slider.max = Math.max(1, total)
		list.style.setProperty("--digits", Math.max(4, String(total).length)) // as wide as the last number
		info.textContent = total ? `${plural(total, "line")}, ${bytes(size)}` : ""
		put(notices, answer.notices.map(text => h("p.notice", text)))
		toEnd.hidden = follow || total === 0
		put(toEnd, icon("end"), done ? "End" : "Follow")
		if (!lines.length && !answer.lines.length) put(list, h("div.empty", done ? "Nothing was written." : "Nothing was written yet."))
	}

	const putLines = () => lines.length && put(list, lines.map((line, i) => lineNode(line, lines[i - 1], pattern)))

	function show(answer) {
		lines = answer.lines
		note_(answer)
		putLines()
		list.classList.toggle("one", new Set(lines.map(line => `${line.role}/${line.replica}`)).size < 2 && view.replica.includes("/") || run.status.roles.length === 1 && run.status.roles[0].replicas.length === 1)
		mark()
	}

	async function reset(window, after) {
		const mine = ++turn
		busy = true
		try {
			const answer = await fetchLines(window)
			if (mine !== turn) return
			show(answer)
			after?.()
			sync()
		} catch (error) {
			if (mine !== turn) return
			lines = []
			put(list, h("div.empty", error.message))
		} finally {
			if (mine === turn) busy = false
		}
	}

	const bottom = () => {box.scrollTop = box.scrollHeight;}
	const end = () => {
		follow = true
		note({line: ""})
		return reset({tail: chunk}, bottom)
	}
	const jump = (n, focus = true) => {
		follow = false
		const there = list.querySelector(`.ln[data-n="${n}"]`)
		if (focus) note({line: n})
		if (there) {
			place(there, focus)
			return sync()
		}
		const from = Math.max(1, n - 120)
		return reset({line: from, count: chunk}, () => place(list.querySelector(`.ln[data-n="${n}"]`) ?? list.lastElementChild, focus))
	}
	function place(node, focus) {
		if (!node) return
		box.scrollTop += topOf(node) - topOf(box) - (focus ? box.clientHeight / 3 : 0)
		if (!focus) return
		list.querySelector(".at")?.classList.remove("at")
		node.classList.add("at")
	}

	// extend adds lines above (-1) or below (1).
	async function extend(direction) {
		if (busy || !lines.length || direction < 0 && first() <= 1 || direction > 0 && last() >= total) return
		busy = true
		const mine = turn
		try {
			const from = direction < 0 ? Math.max(1, first() - chunk) : last() + 1
			const answer = await fetchLines({line: from, count: direction < 0 ? first() - from : chunk})
			if (mine !== turn) return
			const fresh = answer.lines.filter(line => direction < 0 ? line.number < first() : line.number > last())
			if (!fresh.length) return
			if (direction < 0) {
				const anchor = list.firstElementChild, before = topOf(anchor)
				list.prepend(...fresh.flatMap((line, i) => lineNode(line, fresh[i - 1], pattern)))
				lines = fresh.concat(lines)
				box.scrollTop += topOf(anchor) - before
				trim(1)
			} else {
				append(fresh)
				if (follow) bottom()
				trim(-1)
			}
			note_(answer)
			mark()
		} finally {
			if (mine === turn) busy = false
		}
		sync()
	}

	function append(fresh) {
		list.append(...fresh.flatMap((line, i) => lineNode(line, fresh[i - 1] ?? lines.at(-1), pattern)))
		lines = lines.concat(fresh)
	}

	function trim(side) {
		const extra = lines.length - most
		if (extra <= 0) return
		if (side > 0) {
			const from = lines[lines.length - extra].number
			lines.length -= extra
			for (let node = list.lastElementChild; node && !(Number(node.dataset.n) < from); node = list.lastElementChild) node.remove();
			return
		}
		lines = lines.slice(extra)
		const anchor = list.querySelector(`.ln[data-n="${first()}"]`), before = topOf(anchor)
		while (list.firstElementChild !== anchor) list.firstElementChild.remove()
		box.scrollTop += topOf(anchor) - before
	}

	function top() {
		const nodes = list.children, edge = topOf(box)
		let low = 0, high = nodes.length - 1
		while (low < high) {
			const mid = (low + high) >> 1
			if (nodes[mid].getBoundingClientRect().bottom > edge + 2) high = mid
			else low = mid + 1
		}
		return Number(nodes[low]?.dataset.n ?? nodes[low + 1]?.dataset.n ?? 1)
	}

	function sync() {
		const {scrollTop, scrollHeight, clientHeight} = box, under = scrollHeight - clientHeight - scrollTop
		if (document.activeElement !== slider || !slider.matches(":active")) slider.value = under < 4 && last() >= total ? total : top()
		slider.setAttribute("aria-valuetext", `line ${slider.value} of ${total}`)
		if (scrollTop < 900) extend(-1)
		if (under < 900) extend(1)
	}
	let lastTop = 0
	box.addEventListener("scroll", () => {
		const under = box.scrollHeight - box.clientHeight - box.scrollTop, up = box.scrollTop < lastTop
		lastTop = box.scrollTop
		if (up && under > 40) follow = false
		else if (under < 6 && last() >= total) follow = true
		toEnd.hidden = follow || total === 0
		requestAnimationFrame(sync)
	}, {passive: true})
	const slide = later(n => n >= total ? end() : jump(n, false), 60)
	slider.addEventListener("input", () => slide(Number(slider.value)))

	// Search: the server counts and numbers the matches, the page marks those that it shows.
	const find = searchBox("Search the log", {value: view.find, spellcheck: "false", oninput: later(() => {
		if (find.value !== view.find) looking = look()
	}, 250),
		onkeydown: event => event.key === "Enter" && (event.preventDefault(), enter(event.shiftKey ? -1 : 1))})
	const regexBox = toggle("Regular expression", view.regex, on => {
		view.regex = on
		look()
	}, h("code", ".*"))
	let searching = null, looking = null

	// enter goes to a match; of what was just typed to the nearest one.
	async function enter(by) {
		if (find.value !== view.find) looking = look()
		await looking
		step(by)
	}

	async function look(again = false) {
		view.find = find.value
		note({find: view.find, regex: view.regex})
		searching?.abort()
		if (!again) hits = null
		pattern = null
		find.removeAttribute("aria-invalid")
		if (view.find === "") {
			matches.textContent = ""
			put(finder, null)
			return repaint()
		}
		const source = view.regex ? view.find : view.find.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), fold = view.find === view.find.toLowerCase()
		try {
			pattern = new RegExp(source, fold ? "gi" : "g")
		} catch {/* RE2 may know what the browser does not: then nothing is marked */}
		if (!again) repaint()
		searching = new AbortController()
		if (!again) matches.textContent = "Searching…"
		try {
			const answer = await get(apiPath(run.id, "/log/search"), {...selection(), regex: (fold ? "(?i)" : "") + source}, searching.signal)
			hits = answer.lines
			matches.total = answer.count
			matches.complete = answer.complete
			if (!again) hit = -1
			drawMatches()
			put(finder, h("button.icon", {label: "Previous match", onclick: () => step(-1)}, icon("up")), h("button.icon", {label: "Next match", onclick: () => step(1)}, icon("down")))
		} catch (error) {
			if (error.name === "AbortError") return
			find.setAttribute("aria-invalid", "true")
			matches.textContent = error.message
		}
	}
	const finder = h("span.row.tight")
	const drawMatches = () => {
		const more = matches.complete ? "" : " so far"
		matches.textContent = hit >= 0 ? `${count(hit + 1)} of ${count(matches.total)}${more}` : plural(matches.total, "matching line") + more
	}
	function step(by) {
		if (!hits?.length) return
		if (hit < 0) {
			const here = follow ? total : top()
			hits.forEach((n, i) => {
				if (hit < 0 || Math.abs(n - here) < Math.abs(hits[hit] - here)) hit = i
			})
		} else hit = (hit + by + hits.length) % hits.length
		drawMatches()
		jump(hits[hit])
	}
	const repaint = () => {
		const keep = box.scrollTop
		putLines()
		box.scrollTop = keep
		mark()
	}
	const mark = () => {
		const n = query("line")
		if (n) list.querySelector(`.ln[data-n="${CSS.escape(n)}"]`)?.classList.add("at")
	}

	const replicas = run.status.roles.flatMap(({role, replicas}) => replicas.map(r => [role, `${role}/${r.replica}`]))
	const who = h("select", {label: "Replicas", onchange: () => change({replica: who.value})}, h("option", {value: ""}, "All replicas"),
		run.status.roles.map(({role, replicas: of}) => h("optgroup", {label: role}, h("option", {value: role, selected: view.replica === role}, `All of ${role} (${of.length})`),
			replicas.length < 4000 && of.map(r => h("option", {value: `${role}/${r.replica}`, selected: view.replica === `${role}/${r.replica}`}, `${role}/${r.replica}`)))))
	const attemptCount = Math.max(0, ...run.status.roles.flatMap(role => role.replicas.map(r => r.attempt)))
	const attempt = attemptCount > 0 && choose("Attempts", [["all", "All attempts"], ["last", "Last attempts"], ...Array.from({length: Math.min(50, attemptCount + 1)}, (_, i) => [String(i), `Attempt ${i}`])], view.attempt, value => change({attempt: value}))
	const stream = choose("Stream", [["", "All output"], ["stdout", "stdout"], ["stderr", "stderr"]], view.stream, value => change({stream: value}))
	const option = (name, label, content) => toggle(label, view[name], on => {
		view[name] = on
		apply()
		note({wrap: view.wrap ? "" : "0", times: view.times})
	}, content)
	const wrap = option("wrap", "Wrap lines", icon("wrap")), times = option("times", "Times", "Times")
	const save = h("a.button.icon", {label: "Download this log", title: "Download", download: ""}, icon("save"))
	const copyAll = h("button.icon", {label: "Copy the lines shown", title: "Copy the selected lines, or all that are loaded", onclick: () => {
		const chosen = String(getSelection())
		copy(chosen || lines.map(textOf).join("\n") + "\n", chosen ? "the selection" : plural(lines.length, "line"))
	}}, icon("copy"))

	function apply() {
		list.classList.toggle("wrap", view.wrap)
		list.classList.toggle("times", view.times)
		save.href = "/api/v1" + apiPath(run.id, "/log/download") + queryOf(selection())
	}
	function change(values) {
		Object.assign(view, values)
		note({replica: view.replica, stream: view.stream, attempt: view.attempt === "all" ? "" : view.attempt, line: ""})
		apply()
		end()
		if (view.find) look()
	}
	const goTo = () => {
		const input = h("input", {name: "to", placeholder: "1200 or 2026-11-22T12:00:00Z, 14:05, 10m", autocomplete: "off"})
		return ask({title: "Go to line or time", yes: "Go", body: field("Line or time", input, `Lines 1 to ${count(total)}. A time of day is in your time zone; 10m is ten minutes ago.`),
			submit: async () => {
				const text = input.value.trim()
				if (/^\d+$/.test(text)) return jump(Math.max(1, Math.min(total, Number(text))))
				const answer = await fetchLines({time: moment(text, run.status.started_at), count: 1})
				if (!answer.lines.length) throw new Error("no line was written at that time or later")
				return jump(answer.lines[0].number)
			}})
	}
	list.addEventListener("click", event => {
		const number = event.target.closest("a.no")
		if (!number) return
		event.preventDefault()
		jump(Number(number.dataset.n))
	})

	add(body, [h("div.toolbar.log-bar", who, attempt, stream, h("div.search.grow", icon("search"), find), regexBox, finder, matches, info,
		h("span.row.tight", h("button", {title: "Go to a line or time (:)", onclick: goTo}, "Go to"), times, wrap, copyAll, save)), notices, h("div.log-frame", box, slider, toEnd)])
	apply()
	const undo = bind("Log", [
		{keys: "/", label: "Search", run: () => find.focus()}, {keys: "n", label: "Next match", run: () => step(1)}, {keys: "N", label: "Previous match", run: () => step(-1)},
		{keys: ":", label: "Go to a line or time", run: goTo}, {keys: "Home", label: "First line", run: () => jump(1, false)}, {keys: "End|G", label: "Last line, and follow", run: () => end()},
		{keys: "w", label: "Wrap lines", run: () => wrap.click()}, {keys: "t", label: "Show times", run: () => times.click()},
	])
	const grow = slowly(async () => {
		if (busy) {
			behind = true
			return void setTimeout(() => behind && grow(), 100)
		}
		behind = false
		try {
			if (!follow) note_({...await fetchLines({tail: 1}), notices: []})
			else if (!lines.length) await end()
			else {
				// One answer, whatever the speed of the log: the lines since the last, or its end.
				const mine = turn, answer = await fetchLines({line: last() + 1, tail: chunk})
				if (mine !== turn) return
				if (!follow) return grow()
				const fresh = answer.lines.filter(line => line.number > last())
				if (fresh[0]?.number > last() + 1) {
					show(answer)
					return bottom()
				}
				append(fresh)
				trim(-1)
				note_(answer)
				bottom()
			}
		} catch (error) {
			if (!error.status) toast(error.message, true)
		}
		if (view.find && hits && total < 2e5) look(true)
	}, 150)
	const stop = watch(`log:${run.id}`, grow), stopRun = run.onchange(kind => kind === "run" && grow())
	await (query("line") ? jump(Number(query("line")) || 1) : end())
	if (view.find) look()
	return () => {
		stop()
		stopRun()
		undo()
		grow.close()
		searching?.abort()
		turn++
	}
}

// moment is what a person types as a time in the form of the API.
export function moment(text, started) {
	const m = text.match(/^(\d{1,2}):(\d\d)(?::(\d\d)(\.\d+)?)?$/)
	if (!m) return text
	const day = started ? new Date(started) : new Date()
	day.setHours(Number(m[1]), Number(m[2]), Number(m[3] ?? 0), Math.round(Number(m[4] ?? 0) * 1000))
	return day.toISOString()
}
