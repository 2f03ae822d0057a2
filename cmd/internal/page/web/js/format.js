// Numbers, times and sizes as people read them.

const {floor} = Math

export function bytes(n) {
	if (n == null) return ""
	const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]
	let i = 0
	while (Math.abs(n) >= 1024 && i < units.length - 1) {
		n /= 1024
		i++
	}
	return `${i === 0 || n >= 100 ? Math.round(n) : n.toFixed(1)} ${units[i]}`
}

export function duration(seconds) {
	if (seconds == null || isNaN(seconds)) return ""
	if (seconds < 0) seconds = 0
	if (seconds < 0.9995) return `${Math.round(seconds * 1000)}ms`
	if (seconds < 59.95) return `${seconds.toFixed(1)}s`
	const pad = n => String(n).padStart(2, "0")
	const s = Math.round(seconds)
	if (s < 3600) return `${floor(s / 60)}m ${pad(s % 60)}s`
	if (s < 86400) return `${floor(s / 3600)}h ${pad(floor(s % 3600 / 60))}m`
	return `${floor(s / 86400)}d ${pad(floor(s % 86400 / 3600))}h`
}

export function age(text, now = Date.now()) {
	const date = new Date(text)
	if (!text || isNaN(date)) return ""
	const s = (now - date) / 1000
	if (s < 1) return "now"
	if (s < 60) return `${floor(s)}s ago`
	if (s < 3600) return `${floor(s / 60)}m ago`
	if (s < 86400) return `${floor(s / 3600)}h ago`
	if (s < 30 * 86400) return `${floor(s / 86400)}d ago`
	return day(date)
}

const days = new Intl.DateTimeFormat("en-CA", {year: "numeric", month: "2-digit", day: "2-digit"})
const clocks = new Intl.DateTimeFormat("en-GB", {hour: "2-digit", minute: "2-digit", second: "2-digit"})

export const day = date => days.format(date)

export const clock = (date, millis = false) => isNaN(date) ? "" : clocks.format(date) + (millis ? "." + String(date.getMilliseconds()).padStart(3, "0") : "")

export function number(x, digits = 5) {
	if (typeof x === "string") return x
	if (x == null) return ""
	if (!isFinite(x)) return String(x)
	if (x === 0) return "0"
	const a = Math.abs(x)
	if (Number.isInteger(x) && a < 1e7) return String(x)
	if (a >= 1e7 || a < 1e-4) return x.toExponential(digits - 1).replace(/\.?0+e/, "e")
	return String(Number(x.toPrecision(digits)))
}

export const count = n => String(n).replace(/\B(?=(\d{3})+$)/g, "\u202f")

export const plural = (n, noun) => `${count(n)} ${noun}${n === 1 ? "" : "s"}`

export const quote = text => /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`

export function visible(text) {
	return text.replace(/[\u0000-\u0008\u000a-\u001f]/g, c => String.fromCharCode(0x2400 + c.charCodeAt(0)))
		.replace(/[\u007f-\u009f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g, "\ufffd")
}
