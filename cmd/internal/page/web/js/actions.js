// What changes runs.
import {apiPath, ask, field as labelled, get, go, h, isFinal, plural, quote, runPath, send, toast} from "./ui.js"

const names = runs => h("ul.stack.mono", runs.slice(0, 8).map(run => h("li.clip", run.app_id)), runs.length > 8 && h("li.muted", `and ${runs.length - 8} more`))

async function each(ids, act) {
	const failed = []
	for (const id of ids) {
		try {
			for (const line of (await act(id))?.messages ?? []) toast(line);
		} catch (error) {
			failed.push(error.message)
		}
	}
	if (failed.length) throw new Error(failed.length === 1 ? failed[0] : `${failed.length} of ${ids.length} failed: ${failed[0]}`)
}

export function cancelRuns(runs) {
	const open = runs.filter(run => !isFinal(run.state))
	if (!open.length) return Promise.resolve(toast("All of these runs have ended"))
	const force = h("input", {type: "checkbox", name: "force"})
	return ask({
		title: open.length === 1 ? "Cancel this run?" : `Cancel ${plural(open.length, "run")}?`, yes: open.length === 1 ? "Cancel run" : "Cancel runs", danger: true,
		body: [names(open), h("p.muted", "Its processes get SIGTERM and time to stop. Logs, metrics and outputs stay."),
			h("label.row", force, "Kill at once, without time to stop")],
		submit: () => each(open.map(run => run.app_id), id => send("POST", apiPath(id, "/cancel"), {force: force.checked})),
	})
}

export function deleteRuns(runs) {
	const open = runs.filter(run => !isFinal(run.state)).length
	return ask({
		title: runs.length === 1 ? "Delete this run?" : `Delete ${plural(runs.length, "run")}?`, yes: "Delete", danger: true,
		body: [names(runs), h("p", "The record, logs, metrics and outputs are lost. This cannot be undone."),
			open > 0 && h("p.notice.bad", `${plural(open, "run")} ${open === 1 ? "has" : "have"} not ended and will be ended first.`)],
		submit: () => each(runs.map(run => run.app_id), id => send("POST", apiPath(id, "/delete"), {force: open > 0})),
	})
}

export function tagRuns(ids, tags = {}) {
	const old = Object.entries(tags).map(([key, value]) => value ? `${key}=${value}` : key)
	const set = h("input", {name: "set", placeholder: "team=vision, baseline", autocomplete: "off"})
	const keep = old.map(text => h("label.row", h("input", {type: "checkbox", checked: true, value: text.split("=")[0]}), h("span.tag", h("span.clip", text))))
	return ask({
		title: ids.length === 1 ? "Tags" : `Tag ${plural(ids.length, "run")}`, yes: "Save",
		body: [keep.length > 0 && h("div.row", keep), labelled("Add", set, "KEY or KEY=VALUE, separated by commas")],
		submit: () => {
			const added = {}
			for (const part of set.value.split(",").map(p => p.trim()).filter(Boolean)) {
				const [key, value = ""] = part.split(/=(.*)/)
				added[key] = value
			}
			const remove = keep.map(label => label.firstChild).filter(box => !box.checked && !(box.value in added)).map(box => box.value)
			return each(ids, id => send("POST", apiPath(id, "/tag"), {set: added, remove}))
		},
	})
}

export function noteRun(id, text) {
	const box = h("textarea", {name: "note", value: text ?? "", label: "Note"})
	return ask({title: "Note", yes: "Save", body: [box, /\*{6}/.test(text) && h("p.muted", "A ****** that stays keeps its secret.")], submit: () => send("POST", apiPath(id, "/note"), {note: box.value.trim()})})
}

export async function rerun(id) {
	let form = {definition: null, values: {}}
	try {
		form = await get(apiPath(id, "/form"))
	} catch (error) {
		if (error.status !== 404) toast(error.message, true)
	}
	const {definition: component, values} = form, preview = h("code")
	const fields = (component?.params ?? []).map(param => argument(param, values))
	const changed = variadic => fields.flatMap(f => f.param.variadic === variadic ? f.changed() : [])
	const show = () => {preview.textContent = ["torchx rerun", ...changed(false).map(quote), id, ...changed(true).map(quote)].join(" ");}
	show()
	const answer = await ask({
		title: `Run ${id} again`, yes: "Run", wide: true,
		body: h("div.stack", {oninput: show}, h("p.muted", component ? `${component.name}: ${component.doc.split("\n\n")[0]}` : "Its arguments are not known: it runs as it was."),
			h("div.form-grid", fields.map(f => f.node)), h("p", {title: "The same on the command line"}, preview)),
		submit: () => {
			const empty = fields.find(f => f.param.required && f.input.value === "")
			if (empty) throw new Error(`${empty.param.name} needs a value`)
			return send("POST", apiPath(id, "/rerun"), {args: [...changed(false), ...changed(true)]})
		},
	})
	if (!answer) return
	for (const line of answer.messages) toast(line);
	go(runPath(answer.app_id))
}

function argument(param, values) {
	const {name, type, variadic, required} = param, fallback = param.default ?? "", choices = type === "bool" ? ["true", "false"] : param.choices
	const old = variadic ? Object.keys(values).filter(key => key.startsWith("argument ")).map(key => values[key]).join("\n") : values[name] ?? ""
	const given = old || fallback
	let input
	if (variadic) input = h("textarea", {value: old, placeholder: "one argument a line"})
	else if (choices.length && choices.length <= 12) {
		const values = [...new Set([...given ? [] : [""], ...choices, ...given ? [given] : []])]
		input = h("select", values.map(value => h("option", {value, selected: value === given}, value === fallback && !required ? `${value} (default)` : value)))
	} else input = h("input", {value: old, placeholder: fallback, autocomplete: "off", spellcheck: "false"})
	return {
		param, input, node: labelled([name, " ", h("span.muted", type, required && ", required")], input, param.help),
		changed: () => input.value === (input.tagName === "SELECT" ? given : old) ? [] : variadic ? ["--", ...input.value.split("\n").filter(line => line !== "")] : [`--${name}=${input.value || fallback}`],
	}
}
