// Tabs of a run that list facts: events, outputs, the app as submitted.
import { add, h, put, time } from "../dom.js";
import { get } from "../api.js";
import { copy } from "../dialog.js";
import { bytes, clock, count, day, visible } from "../format.js";
import { slowly } from "../live.js";
import { apiPath } from "../place.js";
import { badge } from "../state.js";

const most = 2000; // rows of a table

const region = (label, ...children) => h("div.scroll-x", { tabIndex: 0, role: "region", "aria-label": label }, children);
const table = (heads, rows) => h("table.grid", null, h("thead", null, h("tr", null, heads.map(([text, cls]) => h("th" + (cls ?? ""), { scope: "col" }, text)))), h("tbody", null, rows));

/** live fills a card with draw() now and at each change of the run, as long as the tab is open. */
function live(body, run, title, draw) {
  const card = h("section.card", { "aria-label": title });
  add(body, [h("div.view.scrolls", null, card)]);
  const renew = slowly(async () => put(card, await draw()), 500), stop = run.onchange((kind) => kind === "run" && renew());
  renew();
  return () => {
    stop();
    renew.close();
  };
}

/** eventsView lists what the history recorded, newest first. */
export async function eventsView(body, run) {
  return live(body, run, "Events", async () => {
    const events = (await get(apiPath(run.id, "/events"))).reverse();
    return [h("header", null, h("h2", null, "Events"), h("span.muted", null, count(events.length))),
      region("Events", table([["Time"], ["What"], ["State"], ["Exit", ".num"], ["Message"]], events.slice(0, most).map((e) => h("tr", null,
        h("td.nowrap.mono", null, time(e.time, `${day(new Date(e.time))} ${clock(new Date(e.time), true)}`)),
        h("td.nowrap", null, e.role ? `${e.role}/${e.replica}${e.attempt ? " attempt " + e.attempt : ""}` : { on_end: "on end" }[e.kind] ?? e.kind),
        h("td", null, e.state && badge(e.state)), h("td.num", null, e.signal ?? e.exit_code ?? ""), h("td", null, visible(e.msg ?? "")))))),
      events.length > most && h("p.muted", null, `The newest ${count(most)} are shown. All: `, h("code", null, `torchx events ${run.id}`))];
  });
}

/** outputsView lists the files that the app wrote, with their sizes. */
export async function outputsView(body, run) {
  return live(body, run, "Outputs", async () => {
    const files = await get(apiPath(run.id, "/outputs")), size = files.reduce((sum, f) => sum + f.bytes, 0);
    if (!files.length) return h("div.empty", null, "No files. A program writes them to the folder ", h("code", null, "$TORCHX_OUTPUT"), ".");
    return [h("header", null, h("h2", null, "Outputs"), h("span.muted", null, `${count(files.length)} files, ${bytes(size)}`)),
      region("Outputs", table([["File"], ["Size", ".num"], ["Changed", ".num"]], files.slice(0, most).map((f) => h("tr", null,
        h("td.mono", null, f.kind === "file" ? h("a", { href: "/api/v1" + apiPath(run.id, "/outputs/" + f.file.split("/").map(encodeURIComponent).join("/")), download: f.file.split("/").pop() }, visible(f.file)) : visible(f.file),
          f.kind !== "file" && h("span.muted", null, ` ${f.kind}${f.target ? " to " + visible(f.target) : ""}`), f.error && h("span.notice.bad", null, visible(f.error))),
        h("td.num.nowrap", null, f.kind === "file" ? bytes(f.bytes) : ""),
        h("td.num.nowrap.muted", null, time(f.modified_at, `${day(new Date(f.modified_at))} ${clock(new Date(f.modified_at))}`)))))),
      files.length > most && h("p.muted", null, `The first ${count(most)} are shown. All: `, h("code", null, `torchx output ${run.id}`))];
  });
}

/** appView shows the app as submitted, folded by role. */
export async function appView(body, run) {
  const described = await get(apiPath(run.id, "/describe")), text = JSON.stringify(described.app, null, 2);
  const code = (value, label) => h("pre.code", { tabIndex: 0, "aria-label": label }, typeof value === "string" ? value : JSON.stringify(value, null, 2));
  add(body, [h("div.view.scrolls", null,
    h("section.card", { "aria-label": "App as submitted" }, h("header", null, h("h2", null, "App as submitted"), h("span.grow"), h("button", { onclick: () => copy(text, "the app") }, "Copy JSON")),
      described.partial && h("p.notice", null, "The history does not have this app: its backend reported what is here."),
      h("div.stack", null, described.app.roles.map((role, i) => h("details", { open: i === 0 },
        h("summary", null, role.name, h("span.count", null, `${count(role.num_replicas)} × ${role.entrypoint}`)), code(role, `Role ${role.name}`))),
      h("details", null, h("summary", null, "All of it"), code(text, "App")))),
    described.provenance?.git && h("section.card", { "aria-label": "Git" }, h("header", null, h("h2", null, "Git")),
      code(described.provenance.git, "State of the checkout")))]);
}
