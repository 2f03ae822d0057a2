// Axes: ticks, their labels, and the way from values to pixels.
import {clock, day, duration, number} from "./format.js"

export function linearTicks(min, max, n) {
	const span = max - min
	if (!(span > 0) || !isFinite(span)) return [min]
	const rough = span / Math.max(1, n), power = 10 ** Math.floor(Math.log10(rough))
	const step = power * [1, 2, 5, 10].find(m => m * power >= rough * 0.999)
	const first = Math.ceil(min / step - 1e-9), last = Math.floor(max / step + 1e-9)
	const ticks = []
	for (let i = first; i <= last && ticks.length < 100; i++) ticks.push(Number((i * step).toPrecision(12)));
	return ticks
}

export function logTicks(min, max, n = 6) {
	const low = Math.floor(Math.log10(min)), high = Math.ceil(Math.log10(max))
	const every = Math.max(1, Math.ceil((high - low) / n))
	const factors = high - low <= 2 ? [1, 2, 5] : [1]
	const ticks = []
	for (let e = low; e <= high; e += every) {
		for (const f of factors) {
			const t = Number((f * 10 ** e).toPrecision(6))
			if (t >= min * 0.9999 && t <= max * 1.0001) ticks.push(t)
		}
	}
	return ticks.length > 1 ? ticks : linearTicks(min, max, n)
}

const steps = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400]

export function timeTicks(min, max, n, isClock = false) {
	const rough = (max - min) / Math.max(1, n)
	const step = steps.find(s => s >= rough) ?? 86400 * Math.max(1, linearTicks(0, rough / 86400, 1).at(-1))
	const shift = isClock ? new Date(min * 1000).getTimezoneOffset() * 60 : 0
	const ticks = []
	for (let t = Math.ceil((min - shift) / step - 1e-9) * step + shift; t <= max + step * 1e-6 && ticks.length < 100; t += step) ticks.push(Number(t.toFixed(4)));
	return ticks
}

export function label(kind, tick, span) {
	if (kind === "elapsed") return tick === 0 ? "0" : elapsed(tick, span)
	if (kind === "clock") {
		const date = new Date(tick * 1000)
		if (span > 2 * 86400) return day(date)
		return span < 10 ? clock(date, true).slice(3) : span > 3600 ? clock(date).slice(0, 5) : clock(date)
	}
	return short(tick)
}

function elapsed(t, span) {
	if (span < 10 && t < 60) return `${Number(t.toFixed(3))}s`
	if (t < 60) return `${Math.round(t)}s`
	return duration(t).replace(/ 00[smh]$/, "").replace(/ 0/, " ")
}

export function short(x) {
	const a = Math.abs(x)
	if (a >= 1e15 || a > 0 && a < 1e-4) return number(x, 3)
	for (const [limit, unit] of [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e4, "k"]]) {
		if (a >= limit) return `${Number((x / (unit === "k" ? 1e3 : limit)).toPrecision(4))}${unit}`
	}
	return String(Number(x.toPrecision(6)))
}

export function extent(series, from, to, log, zero = false) {
	let min = Infinity, max = -Infinity
	for (const {rows} of series) {
		for (const row of rows) {
			if (row[1] < from || row[0] > to || row[4] === null) continue
			if (row[4] < min && (!log || row[4] > 0)) min = row[4]
			if (log && row[4] <= 0 && row[5] > 0 && row[5] < min) min = row[5]
			if (row[5] > max) max = row[5]
		}
	}
	if (!(min <= max)) return log ? [0.1, 1] : [0, 1]
	if (zero && !log) [min, max] = [Math.min(0, min), Math.max(0, max)]
	if (zero && !log && min === max) return [0, 1]
	if (min === max) return log ? [min / 2, max * 2] : [min - (Math.abs(min) || 1) * 0.1, max + (Math.abs(max) || 1) * 0.1]
	if (log) return [min / (max / min) ** 0.04, max * (max / min) ** 0.04]
	const room = (max - min) * 0.05
	return [zero && min === 0 ? 0 : min - room, zero && max === 0 ? 0 : max + room]
}

export function scale(min, max, a, b, log = false) {
	const f = log ? Math.log : v => v
	const low = f(min), span = f(max) - low || 1
	return v => a + (f(v) - low) / span * (b - a)
}

export const inverse = (min, max, a, b) => p => min + (p - a) / (b - a || 1) * (max - min)

export function smooth(values, weight, back) {
	let last = 0, n = 0
	return values.map((v, i) => {
		if (back?.(i)) last = n = 0
		if (v === null || !isFinite(v)) return null
		last = last * weight + (1 - weight) * v
		n++
		return weight < 1 ? last / (1 - weight ** n) : v
	})
}

export function nearest(rows, x) {
	if (rows.length === 0) return -1
	if (rows.sorted === undefined) rows.sorted = rows.every((row, i) => i === 0 || row[0] >= rows[i - 1][0])
	const far = i => x < rows[i][0] ? rows[i][0] - x : x > rows[i][1] ? x - rows[i][1] : 0
	if (!rows.sorted) {
		let best = 0
		for (let i = 1; i < rows.length; i++) if (far(i) <= far(best)) best = i;
		return best
	}
	let low = 0, high = rows.length - 1
	while (low < high) {
		const mid = (low + high + 1) >> 1
		if (rows[mid][0] <= x) low = mid
		else high = mid - 1
	}
	return low + 1 < rows.length && far(low + 1) < far(low) ? low + 1 : low
}
