// States of apps and replicas, each with its own shape and color.
import { h, s } from "./dom.js";

export const states = ["RUNNING", "PENDING", "SUBMITTED", "SUCCEEDED", "FAILED", "CANCELLED", "UNKNOWN"];

/** isFinal reports whether a state cannot change any more. */
export const isFinal = (state) => ["SUCCEEDED", "FAILED", "CANCELLED"].includes(state);

const shapes = {
  SUCCEEDED: () => [s("circle", { cx: 8, cy: 8, r: 7, fill: "currentColor" }), s("path", { d: "M4.8 8.2 7 10.4 11.3 5.8", stroke: "var(--surface)" })],
  FAILED: () => [s("circle", { cx: 8, cy: 8, r: 7, fill: "currentColor" }), s("path", { d: "M5.5 5.5 10.5 10.5M10.5 5.5 5.5 10.5", stroke: "var(--surface)" })],
  RUNNING: () => [s("circle", { cx: 8, cy: 8, r: 6.2, stroke: "currentColor", opacity: ".3" }),
    s("path.ring", { d: "M8 1.8A6.2 6.2 0 0 1 14.2 8", stroke: "currentColor" }), s("circle", { cx: 8, cy: 8, r: 2, fill: "currentColor" })],
  PENDING: () => [s("circle", { cx: 8, cy: 8, r: 6.2, stroke: "currentColor" }), s("path", { d: "M8 4.6V8l2.2 1.4", stroke: "currentColor" })],
  SUBMITTED: () => [s("circle", { cx: 8, cy: 8, r: 6.2, stroke: "currentColor", "stroke-dasharray": "2.4 2.4" })],
  CANCELLED: () => [s("circle", { cx: 8, cy: 8, r: 6.2, stroke: "currentColor" }), s("path", { d: "M5 11 11 5", stroke: "currentColor" })],
  UNKNOWN: () => [s("circle", { cx: 8, cy: 8, r: 6.2, stroke: "currentColor" }), s("path", { d: "M6.2 6.4a1.8 1.8 0 1 1 2.6 1.7c-.5.3-.8.6-.8 1.2M8 11.4v.1", stroke: "currentColor" })],
};

/** badge shows a state as shape and word. */
export function badge(state, word = title(state)) {
  const name = shapes[state] ? state : "UNKNOWN";
  return h(`span.state.s-${name}`,
    s("svg", { viewBox: "0 0 16 16", fill: "none", "stroke-width": "1.7", "stroke-linecap": "round", "aria-hidden": "true" }, shapes[name]()),
    h("span", null, word));
}

/** title is a state as a word: "Running". */
export const title = (state) => state ? state[0] + state.slice(1).toLowerCase() : "";
