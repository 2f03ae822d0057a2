// Numbers, times and sizes as people read them.

// bytes is a size: "1.5 MiB".
export function bytes(n) {
	if (n === null || n === undefined) return "";
	const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
	let i = 0;
	while (Math.abs(n) >= 1024 && i < units.length - 1) {
		n /= 1024;
		i++;
	}
	return `${i === 0 || n >= 100 ? Math.round(n) : n.toFixed(1)} ${units[i]}`;
}

// duration is a length of time: "340ms", "12.3s", "3m 12s", "1h 05m", "2d 03h".
export function duration(seconds) {
	if (seconds === null || seconds === undefined || isNaN(seconds)) return "";
	if (seconds < 0) seconds = 0;
	if (seconds < 0.9995) return `${Math.round(seconds * 1000)}ms`;
	if (seconds < 59.95) return `${seconds.toFixed(1)}s`;
	const pad = (n) => String(n).padStart(2, "0");
	const s = Math.round(seconds);
	if (s < 3600) return `${Math.floor(s / 60)}m ${pad(s % 60)}s`;
	if (s < 86400) return `${Math.floor(s / 3600)}h ${pad(Math.floor(s % 3600 / 60))}m`;
	return `${Math.floor(s / 86400)}d ${pad(Math.floor(s % 86400 / 3600))}h`;
}

// age is how long ago a moment was: "now", "5m ago", or its date after a month.
export function age(text, now = Date.now()) {
	const date = new Date(text);
	if (!text || isNaN(date)) return "";
	const s = (now - date) / 1000;
	if (s < 1) return "now";
	if (s < 60) return `${Math.floor(s)}s ago`;
	if (s < 3600) return `${Math.floor(s / 60)}m ago`;
	if (s < 86400) return `${Math.floor(s / 3600)}h ago`;
	if (s < 30 * 86400) return `${Math.floor(s / 86400)}d ago`;
	return day(date);
}

const days = new Intl.DateTimeFormat("en-CA", { year: "numeric", month: "2-digit", day: "2-digit" });
const clocks = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });

// day is a date in the zone of the reader: "2026-11-22".
export function day(date) {
	return days.format(date);
}

// clock is a time of day in the zone of the reader, with milliseconds if asked: "14:05:09.120".
export function clock(date, millis = false) {
	return isNaN(date) ? "" : clocks.format(date) + (millis ? "." + String(date.getMilliseconds()).padStart(3, "0") : "");
}

// number is a value with up to digits significant digits: "0.00123", "1.2e+9"; names of values that JSON lacks stay.
export function number(x, digits = 5) {
	if (typeof x === "string") return x;
	if (x === null || x === undefined) return "";
	if (!isFinite(x)) return String(x);
	if (x === 0) return "0";
	const a = Math.abs(x);
	if (Number.isInteger(x) && a < 1e7) return String(x);
	if (a >= 1e7 || a < 1e-4) return x.toExponential(digits - 1).replace(/\.?0+e/, "e");
	return String(Number(x.toPrecision(digits)));
}

// count is a whole number with thin groups: "1 234 567".
export function count(n) {
	return String(n).replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

// plural is "1 run" or "2 runs".
export function plural(n, noun) {
	return `${count(n)} ${noun}${n === 1 ? "" : "s"}`;
}

// quote is an argument as a shell takes it.
export function quote(text) {
	return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

// visible replaces characters that change the order of text or hide it by pictures of them.
export function visible(text) {
	return text.replace(/[\u0000-\u0008\u000a-\u001f]/g, (c) => String.fromCharCode(0x2400 + c.charCodeAt(0)))
		.replace(/[\u007f-\u009f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g, "\ufffd");
}
