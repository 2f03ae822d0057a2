// Escape sequences in log lines: colors become spans, the rest is left out.
import {visible} from "./format.js"

const sequence = /\x1b(?:\[([0-?]*)[ -/]*([@-~])|\][^\x07\x1b]*(?:\x07|\x1b\\|$)|[PX^_][^\x1b]*(?:\x1b\\|$)|[ -/]*[0-~]|$)/g

// parse splits a line into {text, style}.
export function parse(line) {
	const parts = []
	let style = null, at = 0
	const push = text => {
		if (text === "") return
		text = visible(text)
		const last = parts[parts.length - 1]
		if (last && last.style === style) last.text += text
		else parts.push({text, style})
	}
	for (const m of line.matchAll(sequence)) {
		push(line.slice(at, m.index))
		at = m.index + m[0].length
		if (m[2] === "m") style = select(style, m[1])
	}
	push(line.slice(at))
	return parts
}

export function plain(line) {
	return line.includes("\x1b") ? line.replace(sequence, "") : line
}

export function collapse(line) {
	const versions = line.split("\r").filter(v => plain(v) !== "")
	return {text: versions[versions.length - 1] ?? "", versions: Math.max(1, versions.length)}
}

const flags = {1: "bold", 2: "dim", 3: "italic", 4: "underline", 7: "inverse", 9: "strike"}
const ends = {22: ["bold", "dim"], 23: ["italic"], 24: ["underline"], 27: ["inverse"], 29: ["strike"], 39: ["fg"], 49: ["bg"]}

function select(style, text) {
	const codes = text.split(/[;:]/).map(Number)
	let next = {...style}
	for (let i = 0; i < codes.length; i++) {
		const c = codes[i]
		if (!c) next = {}
		else if (flags[c]) next[flags[c]] = true
		else if (ends[c]) ends[c].forEach(key => delete next[key])
		else if (c >= 30 && c <= 37) next.fg = c - 30
		else if (c >= 40 && c <= 47) next.bg = c - 40
		else if (c >= 90 && c <= 97) next.fg = c - 82
		else if (c >= 100 && c <= 107) next.bg = c - 92
		else if (c === 38 || c === 48) {
			const [color, used] = extended(codes, i + 1)
			if (color !== null) next[c === 38 ? "fg" : "bg"] = color
			i += used
		}
	}
	return Object.keys(next).length ? next : null
}

function extended(codes, i) {
	const byte = n => Math.max(0, Math.min(255, n | 0))
	if (codes[i] === 5) return [codes[i + 1] >= 0 ? byte(codes[i + 1]) : null, 2]
	if (codes[i] === 2) return [[byte(codes[i + 1]), byte(codes[i + 2]), byte(codes[i + 3])], 4]
	return [null, 1]
}

export function rgb(n) {
	if (n >= 232) return Array(3).fill(8 + (n - 232) * 10)
	const level = v => v ? 55 + v * 40 : 0
	n -= 16
	return [level(Math.floor(n / 36)), level(Math.floor(n / 6) % 6), level(n % 6)]
}

const light = ([r, g, b]) => {
	const f = v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4
	return 0.2126 * f(r) + 0.7152 * f(g) + 0.0722 * f(b)
}

// contrast is the ratio of WCAG between two colors.
export function contrast(a, b) {
	const [x, y] = [light(a), light(b)].sort((p, q) => q - p)
	return (x + 0.05) / (y + 0.05)
}

export function readable(color, background) {
	const goal = light(background) > 0.18 ? 0 : 255
	let c = color
	for (let i = 0; i < 20 && contrast(c, background) < 4.6; i++) c = c.map(v => Math.round(v + (goal - v) * 0.15));
	return c
}
