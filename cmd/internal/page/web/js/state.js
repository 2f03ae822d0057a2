// States of apps and replicas, each with its own shape and color.
import { h, s } from "./dom.js";

export const states = ["RUNNING", "PENDING", "SUBMITTED", "SUCCEEDED", "FAILED", "CANCELLED", "UNKNOWN"];

// isFinal reports whether a state cannot change any more.
export const isFinal = (state) => ["SUCCEEDED", "FAILED", "CANCELLED"].includes(state);

// badge shows a state as shape and word.
export function badge(state, word = title(state)) {
	const name = states.includes(state) ? state : "UNKNOWN";
	return h(`span.state.s-${name}`, s("svg.glyph", { "aria-hidden": "true" }, s("use", { href: "#s-" + name })), h("span", word));
}

// title is a state as a word: "Running".
export const title = (state) => state ? state[0] + state.slice(1).toLowerCase() : "";
