// The client starts here: the frame of the page, and which view an address opens.
import { h, icon, paths, put } from "./dom.js";
import { hint, menu, toast } from "./dialog.js";
import { bind, help } from "./keys.js";
import { onstate } from "./live.js";
import { go, start } from "./place.js";
import { session } from "./session.js";
import { compareView } from "./views/compare.js";
import { pruneView } from "./views/prune.js";
import { runView } from "./views/run.js";
import { runsView } from "./views/runs.js";
import { sweepView, sweepsView } from "./views/sweeps.js";

const main = document.getElementById("main");
const links = [["/", "Runs"], ["/sweeps", "Sweeps"], ["/compare", "Compare"], ["/prune", "Prune"]];
let close = null, turn = 0;

function frame() {
  document.body.classList.add("app");
  const link = h("span.link-state", { "data-state": "wait", role: "status" }, h("span", null, "Connecting"));
  const words = { ok: "Live", wait: "Connecting", lost: "Offline" };
  onstate((state) => {
    link.dataset.state = state;
    put(link, h("span", null, words[state]));
    link.title = state === "ok" ? "Changes appear by themselves" : "The page shows what it knew last";
  });
  const theme = h("button.quiet.icon", { "aria-label": "Theme", title: "Theme", onclick: () => menu(theme, [
    ["Light", () => setTheme("light")], ["Dark", () => setTheme("dark")], ["As the system", () => setTheme("")],
  ]) }, icon(paths.moon));
  const bar = h("header.bar", null, h("a.brand", { href: "/", "aria-label": "torchx, all runs" }, h("span", null, "torchx")),
    h("nav", { "aria-label": "Views" }, links.map(([href, name]) => h("a", { href }, name))), link, theme,
    h("button.quiet.icon", { "aria-label": "Keyboard shortcuts", title: "Keyboard shortcuts (?)", onclick: help }, icon(paths.help)));
  document.querySelector("body > header")?.remove();
  document.body.prepend(h("a.skip", { href: "#main" }, "Skip to content"), bar);
  main.tabIndex = -1;
  bind("Everywhere", [
    { keys: "?", label: "Show the keys", run: help },
    { keys: "g r", label: "Go to runs", run: () => go("/") },
    { keys: "g s", label: "Go to sweeps", run: () => go("/sweeps") },
    { keys: "g c", label: "Go to compare", run: () => go("/compare") },
  ]);
  return bar;
}

function setTheme(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
  try {
    if (theme) localStorage.setItem("theme", theme);
    else localStorage.removeItem("theme");
  } catch { /* a browser without storage forgets the choice */ }
  dispatchEvent(new Event("theme"));
}

const bar = frame();

function view({ pathname }) {
  const [, room, id] = pathname.match(/^\/([^/]*)\/?(.*)$/);
  const name = decodeURIComponent(id ?? "");
  if (room === "runs" && name) return (page) => runView(page, name);
  if (room === "sweeps") return (page) => name ? sweepView(page, name) : sweepsView(page);
  if (room === "compare") return compareView;
  if (room === "prune") return pruneView;
  return runsView;
}

let last = "";
start(async (url) => {
  const mine = ++turn;
  hint("");
  for (const box of document.querySelectorAll("dialog[open]")) box.close();
  for (const a of bar.querySelectorAll("nav a")) {
    const here = a.pathname === "/" ? url.pathname === "/" || url.pathname.startsWith("/runs") : url.pathname.startsWith(a.pathname);
    if (here) a.setAttribute("aria-current", "page");
    else a.removeAttribute("aria-current");
  }
  const moved = last !== "" && last !== url.pathname;
  last = url.pathname;
  try {
    await session();
    const page = h("div.fill");
    const opened = await view(url)(page);
    if (mine !== turn) return opened?.();
    close?.();
    close = opened;
    put(main, page);
    if (moved) main.focus({ preventScroll: true });
  } catch (error) {
    if (mine !== turn) return;
    close?.();
    close = null;
    put(main, h("div.view", null, h("h1", null, error.status === 404 ? "Not found" : "This did not work"), h("p.notice.bad", { role: "alert" }, error.message),
      h("p", null, h("a", { href: "/" }, "All runs"))));
    if (!error.message || !("status" in error)) console.error(error);
  }
});

addEventListener("unhandledrejection", (event) => {
  if (event.reason?.name === "AbortError") return event.preventDefault();
  if (event.reason && "status" in event.reason) {
    event.preventDefault();
    toast(event.reason.message, true);
  }
});
