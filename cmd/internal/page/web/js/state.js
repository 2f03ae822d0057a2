// States of apps and replicas, each with its own shape and color.
import {h, s} from "./dom.js"

export const states = ["RUNNING", "PENDING", "SUBMITTED", "SUCCEEDED", "FAILED", "CANCELLED", "UNKNOWN"]

export const isFinal = state => ["SUCCEEDED", "FAILED", "CANCELLED"].includes(state)

export function badge(state, word = title(state)) {
	const name = states.includes(state) ? state : "UNKNOWN"
	return h(`span.state.s-${name}`, s("svg.glyph", {"aria-hidden": "true"}, s("use", {href: "#s-" + name})), h("span", word))
}

export const title = state => state ? state[0] + state.slice(1).toLowerCase() : ""
