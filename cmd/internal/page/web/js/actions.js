// What changes runs.
import { field as labelled, h } from "./dom.js";
import { get, send } from "./api.js";
import { ask, toast } from "./dialog.js";
import { plural, quote } from "./format.js";
import { apiPath, go, runPath } from "./place.js";
import { isFinal } from "./state.js";

const names = (runs) => h("ul.stack.mono", runs.slice(0, 8).map((run) => h("li.clip", run.app_id)), runs.length > 8 && h("li.muted", `and ${runs.length - 8} more`));

// each does the same with several runs, and reports those that failed in one error.
async function each(ids, act) {
	const failed = [];
	for (const id of ids) {
		try {
			for (const line of (await act(id))?.messages ?? []) toast(line);
		} catch (error) {
			failed.push(error.message);
		}
	}
	if (failed.length) throw new Error(failed.length === 1 ? failed[0] : `${failed.length} of ${ids.length} failed: ${failed[0]}`);
}

// cancelRuns asks, then cancels the runs that have not ended.
export function cancelRuns(runs) {
	const open = runs.filter((run) => !isFinal(run.state));
	if (!open.length) return Promise.resolve(toast("All of these runs have ended"));
	const force = h("input", { type: "checkbox", name: "force" });
	return ask({
		title: open.length === 1 ? "Cancel this run?" : `Cancel ${plural(open.length, "run")}?`, yes: "Cancel " + (open.length === 1 ? "run" : "runs"), danger: true,
		body: [names(open), h("p.muted", "Its processes get SIGTERM and time to stop. Logs, metrics and outputs stay."),
			h("label.row", force, "Kill at once, without time to stop")],
		submit: () => each(open.map((run) => run.app_id), (id) => send("POST", apiPath(id, "/cancel"), { force: force.checked })),
	});
}

// deleteRuns asks, then deletes runs with all they have.
export function deleteRuns(runs) {
	const open = runs.filter((run) => !isFinal(run.state)).length;
	return ask({
		title: runs.length === 1 ? "Delete this run?" : `Delete ${plural(runs.length, "run")}?`, yes: "Delete", danger: true,
		body: [names(runs), h("p", "The record, logs, metrics and outputs are lost. This cannot be undone."),
			open > 0 && h("p.notice.bad", `${plural(open, "run")} ${open === 1 ? "has" : "have"} not ended and will be ended first.`)],
		submit: () => each(runs.map((run) => run.app_id), (id) => send("POST", apiPath(id, "/delete"), { force: open > 0 })),
	});
}

// tagRuns asks for tags and sets or removes them; tags are those that a single run has now.
export function tagRuns(ids, tags = {}) {
	const old = Object.entries(tags).map(([key, value]) => value ? `${key}=${value}` : key);
	const set = h("input", { name: "set", placeholder: "team=vision, baseline", autocomplete: "off" });
	const keep = old.map((text) => h("label.row", h("input", { type: "checkbox", checked: true, value: text.split("=")[0] }), h("span.tag", h("span.clip", text))));
	return ask({
		title: ids.length === 1 ? "Tags" : `Tag ${plural(ids.length, "run")}`, yes: "Save",
		body: [keep.length > 0 && h("div.row", keep), labelled("Add", set, "KEY or KEY=VALUE, separated by commas")],
		submit: () => {
			const added = {};
			for (const part of set.value.split(",").map((p) => p.trim()).filter(Boolean)) {
				const [key, value = ""] = part.split(/=(.*)/);
				added[key] = value;
			}
			const remove = keep.map((label) => label.firstChild).filter((box) => !box.checked && !(box.value in added)).map((box) => box.value);
			return each(ids, (id) => send("POST", apiPath(id, "/tag"), { set: added, remove }));
		},
	});
}

// noteRun edits the note of a run.
export function noteRun(id, text) {
	const box = h("textarea", { name: "note", value: text ?? "", label: "Note" });
	return ask({ title: "Note", yes: "Save", body: box, submit: () => send("POST", apiPath(id, "/note"), { note: box.value.trim() }) });
}

// rerun opens a form with the arguments of a run's component, and runs it again.
export async function rerun(id) {
	const run = await get(apiPath(id, "/describe"));
	let form = null;
	try {
		form = await get(apiPath(id, "/form"));
	} catch (error) {
		if (error.status !== 404 && error.status !== 409) toast(error.message, true);
	}
	const typed = typedArguments(run.args ?? [], form?.params ?? []);
	const fields = (form?.params ?? []).map((param) => field(param, typed));
	const preview = h("code");
	const changed = () => {
		const args = fields.flatMap((f) => f.option());
		for (const f of fields) args.push(...f.rest());
		return args;
	};
	const show = () => { preview.textContent = ["torchx rerun", ...[...changed().filter((_, i, all) => !all.includes("--") || i < all.indexOf("--"))].map(quote), run.app_id, ...rest(changed()).map(quote)].join(" "); };
	const body = h("div.stack", { oninput: show, onchange: show },
		form ? h("p.muted", `${form.name}: ${form.doc.split("\n\n")[0]}`) : h("p.muted", "The arguments of this run are not known: it runs again as it was."),
		h("div.form-grid", fields.map((f) => f.node)), h("p.clip", { title: "The same on the command line" }, preview));
	show();
	const answer = await ask({
		title: `Run ${run.name ?? run.app_id} again`, yes: "Run", wide: true, body,
		submit: async () => {
			const bad = fields.find((f) => !f.valid());
			if (bad) throw new Error(`${bad.name} needs a value`);
			return send("POST", apiPath(id, "/rerun"), { args: changed() });
		},
	});
	if (!answer) return;
	for (const line of answer.messages ?? []) toast(line);
	go(runPath(answer.app_id));
}

const rest = (args) => args.includes("--") ? args.slice(args.indexOf("--")) : [];

// typedArguments finds the values of parameters among recorded arguments, and what remains for a variadic one.
export function typedArguments(args, params) {
	const values = new Map(), others = [], plain = (name) => name.replaceAll("-", "_");
	const known = new Map(params.filter((p) => !p.variadic).map((p) => [plain(p.name), p]));
	for (let i = 0; i < args.length; i++) {
		if (args[i] === "--") {
			others.push(...args.slice(i + 1));
			break;
		}
		const m = args[i].match(/^--?([A-Za-z_][\w-]*)(?:=([^]*))?$/), param = m && known.get(plain(m[1]));
		if (!param) {
			others.push(args[i]);
			continue;
		}
		if (m[2] !== undefined) values.set(param.name, m[2]);
		else if (param.type === "bool" && !/^(true|false|1|0|yes|no)$/i.test(args[i + 1] ?? "")) values.set(param.name, "true");
		else values.set(param.name, args[++i] ?? "");
	}
	return { values, others };
}

// field is the input of a parameter: option() are its arguments if it changed, rest() those after "--".
function field(param, typed) {
	const none = () => [], label = h("span", param.name, " ", h("span.muted", param.type, param.required && ", required"));
	const wrap = (input) => labelled(label, input, param.help);
	if (param.variadic) {
		const old = typed.others.join("\n"), input = h("textarea", { value: old, rows: 3, spellcheck: "false", placeholder: "one argument a line" });
		const changed = () => input.value !== old;
		return { name: param.name, node: wrap(input), valid: () => true, option: none, rest: () => changed() ? ["--", ...input.value.split("\n").filter((line, i, all) => line !== "" || i < all.length - 1)] : [] };
	}
	const old = typed.values.get(param.name) ?? "", fallback = param.default ?? "";
	const choices = param.type === "bool" ? ["true", "false"] : param.choices;
	let input;
	if (choices.length && choices.length <= 12) {
		const options = [["", param.required ? "" : `default (${fallback})`], ...choices.map((c) => [c, c])];
		if (old && !choices.includes(old)) options.push([old, old]);
		input = h("select", { name: param.name }, options.map(([value, text]) => h("option", { value, selected: value === old }, text)));
	} else input = h("input", { name: param.name, value: old, placeholder: fallback, autocomplete: "off", spellcheck: "false", inputmode: param.type === "int" ? "numeric" : null });
	return {
		name: param.name, node: wrap(input), rest: none,
		valid: () => !param.required || input.value !== "",
		option: () => input.value === old ? [] : [`--${param.name}=${input.value === "" ? fallback : input.value}`],
	};
}
