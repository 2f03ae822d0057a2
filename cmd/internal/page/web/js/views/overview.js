// The first tab of a run: roles as a graph, attempts over time, what it was made of.
import {add, apiPath, badge, count, get, h, head, isFinal, num, put, runPath, slowly, states, table, title} from "../ui.js"
import {gantt} from "../gantt.js"
import {graph} from "../graph.js"

export async function overview(body, run) {
	const described = await get(apiPath(run.id, "/describe"))
	const roles = h("section.card"), timeline = gantt(run.id), facts = h("section.card")
	const wait = new Map((described.app?.roles ?? []).map(role => [role.name, role.metadata?.torchx ?? {}]))

	function draw() {
		const all = run.status.roles.map(({role, replicas}) => ({name: role, replicas, counts: tally(replicas), needs: dependencies(wait.get(role)), sidecar: Boolean(wait.get(role)?.sidecar)}))
		put(roles, h("header", h("h2", "Roles")), all.some(role => role.needs.length) && graph(all, run.id),
			table("Roles", ["Role", "State", "#Replicas"], all.map(role => h("tr", head(h("a", {href: runPath(run.id, "log", role.name)}, role.name), role.sidecar && h("div.muted", "sidecar")),
					h("td", h("div.row", states.filter(state => role.counts[state]).map(state => badge(state, role.replicas.length === 1 ? title(state) : `${count(role.counts[state])} ${state.toLowerCase()}`)))),
					num(count(role.replicas.length))))))
		timeline.draw(run.status)
	}

	put(facts, h("header", h("h2", "Facts")), factList(described, run.status))
	add(body, [h("div.view.scrolls", h("div.columns", roles, facts), timeline.card)])
	draw()
	const renew = slowly(draw, 200), stop = run.onchange(kind => kind === "run" && renew())
	const ticking = setInterval(() => !isFinal(run.status.state) && timeline.draw(run.status), 1000)
	return () => {
		stop()
		renew.close()
		clearInterval(ticking)
		timeline.close()
	}
}

function tally(replicas) {
	const counts = {}
	for (const {state} of replicas) counts[state] = (counts[state] ?? 0) + 1;
	return counts
}

const dependencies = metadata => {
	const of = metadata?.depends_on ?? []
	return Array.isArray(of) ? of.map(d => typeof d === "string" ? d : d.role ?? d.name) : Object.keys(of)
}

function factList(d, status) {
	const git = d.provenance?.git, from = d.provenance ?? {}
	const facts = [
		["Component", d.component && h("code", d.component)],
		["Arguments", d.args?.length > 0 && h("code", d.args.join(" "))],
		["Backend", d.handle.split("://")[0]],
		["Options", d.cfg && Object.entries(d.cfg).filter(([, value]) => value !== null && value !== "" && value !== false).map(([key, value]) => h("div", h("code", `${key}=${typeof value === "object" ? JSON.stringify(value) : value}`)))],
		["Time limit", status.timeout_s && `${status.timeout_s} s`],
		["Commit", git && [h("code", {title: git.commit}, git.commit.slice(0, 12)), git.branch && ` on ${git.branch}`, git.dirty && h("span.muted", `, ${git.changed} changed, ${git.untracked} untracked`)]],
		["Remote", git?.remote],
		["Folder", from.cwd && h("code", from.cwd)],
		["Submitted by", from.user && `${from.user}${from.host ? " on " + from.host : ""}`],
		["torchx", from.version],
		["Libraries", from.libraries?.length > 0 && from.libraries.map(l => `${l.name} ${l.revision ?? ""}`).join(", ")],
	]
	return h("dl.facts", facts.filter(([, value]) => value && !(Array.isArray(value) && value.length === 0)).map(([name, value]) => [h("dt", name), h("dd", value)]))
}
