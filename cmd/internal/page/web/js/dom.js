// Elements of the page. Text becomes text nodes: nothing is ever parsed as HTML.

const SVG = "http://www.w3.org/2000/svg";

/** h creates an element. "tag.class" names it; props are attributes, properties ("value") or listeners ("onclick"). */
export function h(tag, props, ...children) {
  return fill(document.createElement(tag.split(".", 1)[0]), tag, props, children);
}

/** s creates an SVG element in the same way. */
export function s(tag, props, ...children) {
  return fill(document.createElementNS(SVG, tag.split(".", 1)[0]), tag, props, children);
}

const properties = new Set(["value", "checked", "indeterminate", "disabled", "hidden", "selected", "open", "tabIndex", "htmlFor"]);

function fill(node, tag, props, children) {
  const classes = tag.split(".").slice(1);
  if (classes.length) node.setAttribute("class", classes.join(" "));
  if (props && (typeof props !== "object" || props instanceof Node || Array.isArray(props))) {
    children.unshift(props);
    props = null;
  }
  for (const [key, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === null || value === false && !properties.has(key)) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (properties.has(key)) node[key] = value;
    else node.setAttribute(key, value === true ? "" : value);
  }
  add(node, children);
  return node;
}

/** add appends nodes, texts and lists of them; null and false are left out. */
export function add(node, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false || child === "") continue;
    if (Array.isArray(child)) add(node, child);
    else node.append(child);
  }
}

/** put replaces all that is in node. */
export function put(node, ...children) {
  node.replaceChildren();
  add(node, children);
  return node;
}

/** icon draws a line icon of 16 × 16. */
export function icon(path) {
  return s("svg.glyph", { viewBox: "0 0 16 16", "aria-hidden": "true" }, s("path", { d: path }));
}

export const paths = {
  search: "M7 12.2A5.2 5.2 0 1 0 7 1.8a5.2 5.2 0 0 0 0 10.4ZM10.8 10.8 14.2 14.2",
  sun: "M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1 1M12 12l1 1M13 3l-1 1M4 12l-1 1",
  moon: "M13.5 9.6A6 6 0 0 1 6.4 2.5a6 6 0 1 0 7.1 7.1Z",
  help: "M5.8 6a2.3 2.3 0 1 1 3.4 2c-.8.5-1.2.9-1.2 1.7M8 12.6v.1",
  stop: "M4 4h8v8H4z",
  again: "M13.5 8A5.5 5.5 0 1 1 11.8 4M12 1.5V4.3H9.2",
  bin: "M2.5 4.5h11M6 4.5v-2h4v2M4 4.5l.7 9h6.6l.7-9",
  tag: "M2 7.2V2.5h4.8l7 7-4.6 4.6-7.2-6.9ZM5 5.4v.1",
  copy: "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3",
  save: "M8 2v8M4.8 7 8 10.2 11.2 7M2.5 13.5h11",
  close: "M4 4l8 8M12 4l-8 8",
  more: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  up: "M4 10l4-4 4 4",
  down: "M4 6l4 4 4-4",
  wrap: "M2 4h12M2 8h9.5a2.2 2.2 0 0 1 0 4.4H8M9.6 10.6 7.8 12.4l1.8 1.8",
  end: "M8 2v8M4.5 7 8 10.5 11.5 7M3 13.5h10",
};

/** time shows when something was: short, with all that is known as its title. */
export function time(text, short) {
  if (!text) return null;
  return h("time", { datetime: text, title: full(new Date(text)) }, short);
}

const zoned = new Intl.DateTimeFormat("en-GB", {
  weekday: "short", year: "numeric", month: "short", day: "2-digit", hour: "2-digit", minute: "2-digit", second: "2-digit",
  fractionalSecondDigits: 3, timeZoneName: "short",
});

/** full is a moment in the time zone of the reader, and in UTC. */
export function full(date) {
  return isNaN(date) ? "" : `${zoned.format(date)}\n${date.toISOString()}`;
}
