// Sweeps: their list, and the trials of one as a table and as parallel coordinates.
import { add, h, put, time } from "../dom.js";
import { get } from "../api.js";
import { age, duration, number, plural } from "../format.js";
import { slowly, watch } from "../live.js";
import { apiPath, note, query, runPath } from "../place.js";
import { now } from "../session.js";
import { badge } from "../state.js";
import { parallel } from "../parallel.js";

const most = 500; // trials

/** sweepsView lists the newest sweeps. */
export async function sweepsView(page) {
  document.title = "Sweeps - torchx";
  const card = h("section.card", { "aria-label": "Sweeps" });
  const draw = async () => {
    const sweeps = await get("/runs", { backend: "sweep", limit: 200 }).catch((error) => error.status === 400 ? [] : Promise.reject(error));
    put(card, sweeps.length ? h("div.scroll-x", { tabIndex: 0, role: "region", "aria-label": "Sweeps" }, h("table.grid", null,
      h("thead", null, h("tr", null, ["Sweep", "State", "Component", "Submitted", "Duration"].map((t, i) => h(i > 2 ? "th.num" : "th", { scope: "col" }, t)))),
      h("tbody", null, sweeps.map((run) => h("tr", null, h("th", { scope: "row" }, h("a", { href: `/sweeps/${encodeURIComponent(run.app_id)}` }, run.app_id), run.note && h("div.muted", null, run.note)),
        h("td", null, badge(run.state)), h("td.mono", null, run.component), h("td.num", null, time(run.submitted_at, age(run.submitted_at, now()))), h("td.num", null, duration(run.duration_s)))))))
      : h("div.empty", null, "No sweeps yet. Start one: ", h("code", null, "torchx sweep --grid lr=0.1,0.01 train.main")));
  };
  add(page, [h("div.view.scrolls", null, h("h1", null, "Sweeps"), card)]);
  await draw();
  const renew = slowly(draw, 1000), stop = watch("runs", renew);
  return () => {
    stop();
    renew.close();
  };
}

/** sweepView shows the trials of a sweep: the runs that have it as their parent. */
export async function sweepView(page, id) {
  document.title = `${id} - torchx`;
  const head = h("div.row"), plot = h("section.card", { "aria-label": "Parallel coordinates" }), table = h("section.card", { "aria-label": "Trials" });
  let columns = [], trials = [], sort = query("sort", ""), down = query("down") === "1", metric = query("metric"), names = [];

  async function load() {
    const sweep = await get(apiPath(id, "/status")).catch((error) => error.status === 404 ? null : Promise.reject(error));
    const runs = await get("/runs", { parent: id, limit: most });
    if (!sweep && !runs.length) throw Object.assign(new Error(`no run has ${id} as its parent`), { status: 404 });
    const compared = runs.length ? await get("/compare", { run: runs.map((run) => run.app_id) }) : { runs: [], differences: [] };
    names = [...new Set(compared.runs.flatMap((run) => run.metrics.map((m) => m.name)))].sort();
    if (!names.includes(metric)) metric = names[0] ?? "";
    const args = compared.differences.filter((d) => d.part === "arguments");
    const at = new Map(compared.runs.map((run, i) => [run.app_id, i]));
    trials = runs.map((run) => {
      const i = at.get(run.app_id), found = compared.runs[i]?.metrics.find((m) => m.name === metric);
      return { run, goal: found?.goal, best: found?.is_best, values: Object.fromEntries([...args.map((d) => [d.name, d.values[i]]), ...metric ? [[metric, found?.best ?? null]] : []]) };
    }).reverse();
    columns = [...args.map((d) => d.name), ...metric ? [metric] : []];
    const done = runs.filter((run) => run.state === "SUCCEEDED").length;
    put(head, h("h1.clip", null, sweep?.name ?? id), sweep && badge(sweep.state), h("span.muted", null, `${done} of ${plural(runs.length, "trial")} succeeded`), h("span.grow"),
      names.length > 1 && h("label.row.tight", null, h("span.muted", null, "Metric"), h("select", { onchange: (event) => {
        metric = event.target.value;
        note({ metric });
        load();
      } }, names.map((name) => h("option", { value: name, selected: name === metric }, name)))),
      sweep && h("a.button", { href: runPath(id) }, "Run page"), runs.length > 1 && h("a.button", { href: `/compare?${runs.slice(0, 20).map((run) => "run=" + encodeURIComponent(run.app_id)).join("&")}` }, "Compare"));
    draw();
  }

  function draw() {
    const value = (t, name) => name === "trial" ? t.run.app_id : name === "duration" ? t.run.duration_s : t.values[name];
    const order = (a, b) => {
      const x = value(a, sort), y = value(b, sort), known = (v) => v !== null && v !== undefined && v !== "NaN";
      if (!known(x) || !known(y)) return known(x) ? -1 : known(y) ? 1 : 0;
      const by = isNaN(x) || isNaN(y) ? String(x).localeCompare(String(y)) : x - y;
      return down ? -by : by;
    };
    const list = sort ? [...trials].sort(order) : trials;
    put(plot, h("header", null, h("h2", null, "Parallel coordinates")), columns.length > 1 && trials.length > 1
      ? parallel(columns, trials.map((t) => ({ id: t.run.app_id, label: t.run.name ?? t.run.app_id, values: t.values })), light, trials[0].goal ?? "min")
      : h("div.empty", null, "There are lines to draw when trials differ."));
    const headOf = (name, cls = "") => h("th" + cls, { scope: "col", "aria-sort": sort === name ? down ? "descending" : "ascending" : "none" }, h("button", { onclick: () => {
      down = sort === name && !down;
      sort = name;
      note({ sort, down });
      draw();
    } }, name, sort === name && (down ? " ↓" : " ↑")));
    put(table, h("header", null, h("h2", null, "Trials")), h("div.scroll-x", { tabIndex: 0, role: "region", "aria-label": "Trials" }, h("table.grid", null,
      h("thead", null, h("tr", null, headOf("trial"), h("th", { scope: "col" }, "State"), columns.map((c) => headOf(c, ".num")), headOf("duration", ".num"))),
      h("tbody", null, list.map((t) => h("tr", { "data-id": t.run.app_id, onmouseenter: () => light(t.run.app_id), onmouseleave: () => light(null) },
        h("th", { scope: "row" }, h("a", { href: runPath(t.run.app_id) }, t.run.name ?? t.run.app_id), t.best && " ★"), h("td", null, badge(t.run.state)),
        columns.map((c) => h("td.num" + (c === metric ? "" : ".mono"), null, c === metric ? number(t.values[c]) : t.values[c] ?? "")), h("td.num", null, duration(t.run.duration_s))))))));
  }

  function light(trial) {
    for (const node of page.querySelectorAll("[data-id]")) node.classList.toggle("lit", node.dataset.id === trial);
  }

  add(page, [h("div.view.scrolls", null, head, plot, table)]);
  await load();
  const renew = slowly(load, 1500), stop = watch("runs", renew);
  return () => {
    stop();
    renew.close();
  };
}
