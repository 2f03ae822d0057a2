// What `torchx prune` would remove. Nothing is removed here.
import { add, h, put, time } from "../dom.js";
import { get } from "../api.js";
import { copy } from "../dialog.js";
import { age, bytes, count, plural, quote } from "../format.js";
import { later, note, query, runPath } from "../place.js";
import { now } from "../session.js";
import { badge } from "../state.js";

const fields = [["older-than", "Older than", "30d"], ["keep", "Keep the newest", "100"], ["max-size", "Until the size is at most", "10G"], ["state", "State", "succeeded"]];

/** pruneView shows the preview of the conditions in the address. */
export async function pruneView(page) {
  document.title = "Prune - torchx";
  const inputs = fields.map(([name, , placeholder]) => h("input", { name, placeholder, value: query(name), autocomplete: "off", oninput: later(() => draw(), 300) }));
  const result = h("section.card", { "aria-live": "polite" });
  let turn = 0;
  async function draw() {
    const mine = ++turn, values = Object.fromEntries(inputs.map((input) => [input.name, input.value.trim()]));
    note(values);
    if (!Object.values(values).some(Boolean)) return void put(result, h("div.empty", null, "Name a condition to see which runs it would remove."));
    try {
      const { apps, bytes: size } = await get("/prune", values);
      if (mine !== turn) return;
      const command = ["torchx prune", ...Object.entries(values).filter(([, v]) => v).map(([k, v]) => `--${k} ${quote(v)}`)].join(" ");
      put(result, h("header", null, h("h2", null, `${plural(apps.length, "run")}, ${bytes(size)}`), h("span.grow"), h("code", null, command), h("button", { onclick: () => copy(command, "the command") }, "Copy")),
        h("p.muted", null, "This is a preview: the command removes them, with their logs and outputs."),
        apps.length > 0 && h("div.scroll-x", { tabIndex: 0, role: "region", "aria-label": "Runs" }, h("table.grid", null, h("thead", null, h("tr", null, ["Run", "State", "Submitted", "Size"].map((t, i) => h(i > 1 ? "th.num" : "th", { scope: "col" }, t)))),
          h("tbody", null, apps.slice(0, 1000).map((run) => h("tr", null, h("th", { scope: "row" }, h("a", { href: runPath(run.app_id) }, run.app_id)), h("td", null, badge(run.state)),
            h("td.num", null, time(run.submitted_at, age(run.submitted_at, now()))), h("td.num", null, bytes(run.bytes))))))),
        apps.length > 1000 && h("p.muted", null, `and ${count(apps.length - 1000)} more`));
    } catch (error) {
      if (mine === turn) put(result, h("p.notice.bad", { role: "alert" }, error.message));
    }
  }
  add(page, [h("div.view.scrolls", null, h("h1", null, "Prune"), h("div.form-grid", null, fields.map(([, label], i) => h("label.field", null, h("span", null, label), inputs[i]))), result)]);
  await draw();
}
