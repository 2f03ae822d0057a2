// The table of runs.
import {add, age, alarm, ask, badge, bind, count, duration, field, get, go, h, icon, isFinal, later, note, now, plural, put, readOnly, runPath, search as queryOf, searchBox, slowly, sweepPath, time, watch} from "../ui.js"
import {chooseColumns, defaults, facts, heading, isNumber, moved, parts, valueOf, valueText, width} from "../columns.js"
import {swatch} from "../chart.js"
import {own} from "../plot.js"
import {Pages, Rows} from "../virtual.js"
import {beside} from "./beside.js"
import {groupTable, groupings, most} from "./groups.js"
import {cancelRuns, deleteRuns, rerun, tagRuns} from "../actions.js"

const params = ["search", "state", "tag", "component", "name", "backend", "since", "until", "where", "parent", "sort"]
const several = new Set(["state", "tag", "where"])
const groups = [["All", []], ["Active", ["running", "pending", "submitted"]], ["Succeeded", ["succeeded"]], ["Failed", ["failed"]], ["Cancelled", ["cancelled"]]]
const narrow = matchMedia("(max-width: 760px)")
const headHeight = 34
const rowHeight = () => narrow.matches ? 56 : 44

// A sweep opens as its trials.
const pathOf = run => run.backend === "sweep" ? sweepPath(run.app_id) : runPath(run.app_id)

export function tagChips(tags, pick) {
	return Object.entries(tags ?? {}).map(([key, value]) => {
		const title = value ? `${key}=${value}` : key
		return h(pick ? "button.tag" : "span.tag", {title, onclick: pick && (event => pick(title, event))}, h("span.clip", value ? [h("b", key), " ", value] : key))
	})
}

export async function runsView(page) {
	document.title = "Runs - torchx"
	const url = new URL(location.href), filter = {}
	for (const name of params) filter[name] = several.has(name) ? url.searchParams.getAll(name).flatMap(v => v.split(",")).filter(Boolean) : url.searchParams.get(name) ?? "";
	let group = url.searchParams.get("group") ?? "", chosen = url.searchParams.get("columns")?.split(",").filter(Boolean) ?? null, automatic = null
	const picked = new Map()
	let at = -1, live = false

	const rowsBox = h("div.rows", {role: "rowgroup"})
	const problem = alarm("", true)
	const empty = h("div.empty", {hidden: true})
	const found = h("span.muted.nowrap", {role: "status"})
	const pages = new Pages(100, async (offset, limit, signal) => {
		const {apps, total} = await get("/runs", {...filter, "no-trials": !isFiltered(), values: true, offset, limit}, signal)
		return {items: apps, total}
	}, changed)

	function changed(error) {
		problem.hidden = !error
		problem.textContent = error?.message ?? ""
		const total = pages.total ?? 0
		table.setAttribute("aria-rowcount", total + 1)
		rows.resize(total, rowHeight())
		rowsBox.style.setProperty("--row", `${rowHeight()}px`)
		empty.hidden = total > 0 || Boolean(error)
		if (total === 0 && !error) put(empty, isFiltered() ? ["No run matches. ", h("button", {onclick: clear}, "Clear the filters")] : ["No runs yet. Start one: ", h("code", "torchx run utils.echo --msg hello")])
		at = Math.min(at, total - 1)
		if (!automatic && total > 0) {
			automatic = defaults(loaded(), rowsBox.clientWidth || innerWidth)
			drawHead()
		}
		const options = [["", "No groups"], ...groupings(loaded())]
		if (group && !options.some(([id]) => id === group)) options.push([group, parts(group)[1] ?? group])
		if (grouped.key !== JSON.stringify(options)) put(grouper, options.map(([value, text]) => h("option", {value, selected: value === group}, text)))
		grouped.key = JSON.stringify(options)
		curves.draw()
	}
	const grouped = h("div.view.scrolls", {hidden: true}), grouper = h("select", {label: "Group by", title: "Group by a tag or an argument", onchange: () => groupBy(grouper.value)})
	async function drawGroups() {
		grouped.hidden = !group
		table.hidden = Boolean(group)
		if (!group) return
		const {apps} = await get("/runs", {...filter, "no-trials": !isFiltered(), values: true, limit: most})
		put(grouped, groupTable(apps, group, columns(), (kind, name, value) => {
			groupBy("")
			if (kind === "tag") set({tag: [...filter.tag, value ? `${name}=${value}` : name]})
			else set({where: [...filter.where, `arg(${name})=${value}`]})
		}))
	}
	function groupBy(by) {
		group = grouper.value = by
		note({group})
		drawGroups()
	}
	const loaded = () => [...pages.pages.values()].flat()
	const columns = () => narrow.matches ? ["submitted"] : chosen ?? automatic ?? defaults([], rowsBox.clientWidth || innerWidth)
	function show(ids) {
		chosen = ids
		note({columns: ids?.join(",")})
		drawHead()
	}

	const isFiltered = () => params.some(name => name !== "sort" && filter[name].length)
	const clear = () => set(Object.fromEntries(params.map(name => [name, several.has(name) ? [] : ""])))

	function set(values) {
		Object.assign(filter, values)
		note(Object.fromEntries(params.map(name => [name, filter[name]])))
		at = -1
		automatic = null
		rowsBox.scrollTop = 0
		rows.count = 0
		pages.pages.clear()
		pages.renew(0, 1)
		drawFilters()
		drawGroups()
	}

	const search = searchBox("Search runs", {value: filter.search, oninput: later(event => set({search: event.target.value.trim()}), 180)})
	const chips = h("div.chips", {role: "group", label: "State"})
	const extra = h("div.row")

	function drawFilters() {
		const mine = [...filter.state].sort().join().toLowerCase()
		put(chips, groups.map(([name, states]) => h("button", {"aria-pressed": String([...states].sort().join() === mine), onclick: () => set({state: states})}, name)))
		const shown = []
		for (const name of params) {
			if (["search", "state"].includes(name)) continue
			for (const value of [filter[name]].flat()) {
				if (value) shown.push(h("button.tag.on", {label: `Remove filter ${name} ${value}`, onclick: () => set({[name]: several.has(name) ? filter[name].filter(v => v !== value) : ""})},
					h("span.clip", h("b", name), " ", value), "×"))
			}
		}
		put(extra, shown)
		for (const button of table.querySelectorAll(".head [data-sort]")) {
			const [order, down] = (filter.sort || "submitted").split(":"), on = button.dataset.sort === order, up = on && parts(order)[0] && down !== "desc"
			button.closest("[role=columnheader]").setAttribute("aria-sort", on ? up ? "ascending" : "descending" : "none")
			button.textContent = button.textContent.replace(/ [↓↑]$/, "") + (on ? up ? " ↑" : " ↓" : "")
		}
	}

	const input = (label, name, value, placeholder) => field(label, h("input", {name, value, placeholder, autocomplete: "off"}))
	const moreFilters = () => ask({
		title: "Filter runs", yes: "Apply",
		body: [
			input("Component", "component", filter.component, "dist.ddp or dist.*"), input("Name", "name", filter.name, "train*"),
			input("Tags", "tag", filter.tag.join(", "), "team=vision, baseline"), input("Backend", "backend", filter.backend, "local"),
			input("Submitted since", "since", filter.since, "2d, 3h or 2026-11-22T12:00:00Z"), input("Submitted before", "until", filter.until, "1h"),
			input("Values", "where", filter.where.join(", "), "loss<0.3, max(acc)>0.9, lr=0.1"), input("Sort by", "sort", filter.sort, "started, ended, loss, acc:desc, lr"),
		],
		submit: async form => {
			const values = {}
			for (const {name, value} of form.querySelectorAll("input")) values[name] = several.has(name) ? value.split(",").map(v => v.trim()).filter(Boolean) : value.trim();
			await get("/runs", {...filter, ...values, limit: 1})
			set(values)
		},
	})

	const column = (cls, text, order, props) => h(`div.${cls}`, {role: "columnheader", ...props}, order ? h("button", {"data-sort": order, onclick: () => set({sort: nextOrder(order)})}, text) : h("span.clip", text))

	// nextOrder is that of a click: of values the better end first, then the other one, then none.
	function nextOrder(order) {
		const [stat, name] = parts(order)
		if (!stat) return order === "submitted" ? "" : order
		const both = loaded().some(run => run.metrics?.[name]?.goal === "max") && stat !== "arg" ? [`${order}:desc`, order] : [order, `${order}:desc`]
		return [...both, ""][both.indexOf(filter.sort) + 1]
	}

	let dragged = null
	function headOf(id) {
		const drop = before => before !== id && show(moved(columns(), before, columns().indexOf(id) - columns().indexOf(before)))
		const order = {submitted: "submitted", duration: "duration"}[id] ?? (parts(id)[0] && id)
		return column(`c-${id in facts ? id : "value"}` + (isNumber(id) ? ".num" : ""), heading(id), order, {
			draggable: "true", title: `${heading(id)}: drag to move`, "data-column": id, tabIndex: order ? -1 : 0,
			ondragstart: event => {
				dragged = id
				event.dataTransfer.setData("text/plain", id)
			},
			ondragover: event => dragged && event.preventDefault(), ondrop: event => {
				event.preventDefault()
				drop(dragged)
			},
			onkeydown: event => {
				const by = {ArrowLeft: -1, ArrowRight: 1}[event.key]
				if (!by || !event.altKey) return
				event.preventDefault()
				show(moved(columns(), id, by));
				(head.querySelector(`[data-column="${CSS.escape(id)}"] button`) ?? head.querySelector(`[data-column="${CSS.escape(id)}"]`)).focus()
			},
		})
	}

	function drawHead() {
		const ids = columns()
		put(head, h("div", {role: "columnheader"}, h("span.visually-hidden", "Select")), column("c-state", "State", "state"), column("c-name", "Name"), ids.map(headOf))
		if (narrow.matches) table.style.cssText = ""
		else {
			const sizes = [[34, 0], [118, 0], [180, 2.2], ...ids.map(width)]
			table.style.setProperty("--cols", sizes.map(([least, grow]) => grow ? `minmax(${least}px, ${grow}fr)` : `${least}px`).join(" "))
			table.style.setProperty("--least", `${sizes.reduce((sum, [least]) => sum + least + 12, 40)}px`)
		}
		for (const row of rows.live.values()) row.key = null;
		rows.refresh()
		drawFilters()
	}
	const head = h("div.head", {role: "row"})
	rowsBox.append(head)
	const table = h("div.runs", {role: "table", label: "Runs"}, rowsBox)

	const pickBar = h("div.picked", {hidden: true, role: "region", label: "Selected runs"})
	function drawPicked() {
		pickBar.hidden = picked.size === 0
		const ids = [...picked.keys()], done = () => {
			picked.clear()
			curves.draw()
			drawPicked()
			rows.refresh()
			renew()
		}
		put(pickBar, h("strong", `${picked.size} selected`), h("a.button", {href: "/compare" + queryOf({run: ids})}, "Compare"),
			!readOnly() && [h("button", {onclick: () => tagRuns(ids).then(done)}, "Tag…"),
				h("button", {onclick: () => cancelRuns([...picked.values()]).then(done)}, "Cancel…"),
				h("button.danger", {onclick: () => deleteRuns([...picked.values()]).then(done)}, "Delete…")],
			h("button.quiet", {onclick: done}, "Clear"))
	}
	function pick(run, on) {
		if (on) picked.set(run.app_id, run)
		else picked.delete(run.app_id)
		drawPicked()
		rows.refresh()
		curves.draw()
	}
	const curves = beside(
		most => picked.size ? [...picked.values()].slice(0, 2 * most) : loaded().filter(run => Object.keys(run.metrics ?? {}).length).slice(0, most),
		id => {
			for (const row of rows.live.values()) row.classList.toggle("lit", row.run?.app_id === id);
			curves.light(id)
		})

	const rows = new Rows(rowsBox, {
		height: rowHeight(), inset: headHeight, create: () => h("div.run", {role: "row"}),
		seen: (from, to) => {
			if (!rows?.count) return void put(found)
			pages.need(from, to)
			const [first, last] = rows.range(0)
			put(found, last > first && last - first < rows.count ? `${count(first + 1)}–${count(last)} of ${plural(rows.count, "run")}` : plural(rows.count, "run"))
		},
		fill: fillRow,
	})

	function fillRow(row, index) {
		const run = pages.at(index)
		row.run = run
		row.classList.toggle("at", index === at)
		row.setAttribute("aria-rowindex", index + 2)
		if (!run) {
			row.classList.add("blank")
			row.key = null
			return void put(row, h("div", {role: "cell"}), h("div", {role: "cell"}, "…"))
		}
		const key = [run.app_id, run.state, run.finished_at, run.exit_code, run.note, JSON.stringify([run.tags, run.metrics]), picked.has(run.app_id), curves.isOpen()].join()
		live ||= !isFinal(run.state)
		if (row.key === key) {
			row.ages.textContent = age(run.submitted_at, now())
			row.long.textContent = long(run)
			return
		}
		row.key = key
		row.classList.remove("blank")
		row.ages = time(run.submitted_at, age(run.submitted_at, now())) ?? h("span")
		row.long = h("span", long(run))
		const cell = (cls, ...children) => h(`div.${cls}`, {role: "cell"}, children)
		put(row, h("div", {role: "cell"}, h("label.pick", h("input", {type: "checkbox", label: `Select ${run.app_id}`, checked: picked.has(run.app_id), onchange: event => pick(run, event.target.checked)}))),
			cell("c-state", badge(run.state)),
			cell("name", h("a.clip", {href: pathOf(run), title: run.app_id}, curves.isOpen() && swatch(own(run.app_id)), run.name || run.app_id), h("small.clip", {title: run.note ?? run.app_id}, run.note || run.app_id)),
			columns().map(id => factCells[id]?.(run, row, cell) ?? cell("c-value.clip.num", h("span", {title: String(valueOf(run, id) ?? "")}, valueText(valueOf(run, id))))))
	}
	const factCells = {
		component: (run, row, cell) => cell("c-component.clip.mono", run.component ?? ""),
		tags: (run, row, cell) => cell("c-tags.tags", tagChips(run.tags, (tag, event) => {
			event.stopPropagation()
			if (!filter.tag.includes(tag)) set({tag: [...filter.tag, tag]})
		})),
		backend: (run, row, cell) => cell("c-backend.muted", run.backend), submitted: (run, row, cell) => cell("c-time.num.muted", row.ages),
		duration: (run, row, cell) => cell("c-duration.num", row.long), exit: (run, row, cell) => cell("c-exit.num" + (run.exit_code ? "" : ".muted"), run.exit_code ?? ""),
	}
	const long = run => duration(!isFinal(run.state) && run.started_at ? (now() - Date.parse(run.started_at)) / 1000 : run.duration_s)

	const renew = slowly(async () => {
		live = false
		await Promise.all([pages.renew(...rows.range(0)), drawGroups()])
	}, 400)
	const stop = watch("runs", renew)
	const clockwork = setInterval(() => live && rows.refresh(), 1000)

	const move = by => {
		if (rows.count === 0) return
		at = Math.max(0, Math.min(rows.count - 1, at + by))
		rows.reveal(at)
		rows.refresh()
		rows.live.get(at)?.querySelector("a")?.focus({preventScroll: true})
	}
	const current = () => pages.at(at)
	const undo = bind("Runs", [
		{keys: "j|ArrowDown", label: "Next run", run: () => move(1)},
		{keys: "k|ArrowUp", label: "Previous run", run: () => move(-1)},
		{keys: "Home", label: "First run", run: () => move(-rows.count)},
		{keys: "End", label: "Last run", run: () => move(rows.count)},
		{keys: "Enter|o", label: "Open the run", run: () => current() && go(pathOf(current()))},
		{keys: "l", label: "Open its log", run: () => current() && go(runPath(current().app_id, "log"))},
		{keys: "x", label: "Select the run", run: () => current() && pick(current(), !picked.has(current().app_id))},
		{keys: "/", label: "Search", run: () => search.focus()},
		{keys: "f", label: "Filter", run: moreFilters}, {keys: "c", label: "Choose columns", run: () => pickColumns()}, {keys: "v", label: "Curves beside the table", run: () => {
			curves.toggle()
			rows.refresh()
		}},
		{keys: "r", label: "Run again", run: () => current() && !readOnly() && rerun(current().app_id)},
	])
	rowsBox.addEventListener("pointerover", event => curves.light(event.target.closest(".run")?.run?.app_id ?? null))
	rowsBox.addEventListener("pointerleave", () => curves.light(null))
	rowsBox.addEventListener("click", event => {
		const row = event.target.closest(".run")
		if (!row || event.target.closest("a, button, label") || getSelection()?.toString()) return
		const index = [...rows.live].find(([, r]) => r === row)?.[0], run = pages.at(index)
		if (run) go(pathOf(run))
	})
	const wider = () => {
		rows.resize(rows.count, rowHeight())
		drawHead()
	}
	narrow.addEventListener("change", wider)
	const pickColumns = () => chooseColumns(loaded(), columns(), show)
	const named = () => ["handle", "name", "state", ...columns().map(id => ({component: "component", tags: "tags", backend: "backend", submitted: "submitted_at", duration: "duration_s", exit: "exit_code"})[id] ?? id)].join(",")
	const save = h("a.button.icon", {label: "Download as CSV", title: "Download what is listed as CSV", href: "/api/v1/runs.csv", download: "", onclick: () => {
		save.href = "/api/v1/runs.csv" + queryOf({...filter, "no-trials": !isFiltered(), columns: named()})
	}}, icon("save"))

	add(page, [h("h1.visually-hidden", "Runs"), h("div.toolbar", chips, h("div.search", icon("search"), search),
		h("button", {onclick: moreFilters}, "Filter"), h("button", {onclick: pickColumns}, "Columns"), grouper, curves.button, save, extra, h("span.grow"), found), pickBar, problem, h("div.split", h("div.fill.grow", table, grouped, empty), curves.pane)])
	drawHead()
	rowsBox.style.setProperty("--row", `${rowHeight()}px`)
	await Promise.all([pages.renew(0, 1), drawGroups()])
	return () => {
		stop()
		undo()
		renew.close()
		clearInterval(clockwork)
		curves.close()
		narrow.removeEventListener("change", wider)
		rows.close()
	}
}
