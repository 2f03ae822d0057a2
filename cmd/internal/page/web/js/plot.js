// A plot on a canvas: lines with bands, zoom by dragging, values under the pointer, and keys.
import {extent, inverse, label, linearTicks, logTicks, nearest, scale, short, smooth, timeTicks} from "./scale.js"

export const colors = {
	light: ["#2f5fd0", "#b8500a", "#157a4a", "#a32a8c", "#a02a2a", "#5a49b8", "#0b7285", "#7a6000"],
	dark: ["#82aeff", "#ffa561", "#62d39a", "#f08bdc", "#ff8f8f", "#b5a6ff", "#5fd0e2", "#e3c45a"],
}
const dashes = [[], [7, 4], [2, 3], [9, 3, 2, 3]]

export const isDark = () => {
	const chosen = document.documentElement.dataset.theme
	return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches
}

export const stroke = n => ({color: colors[isDark() ? "dark" : "light"][n % 8], dash: dashes[Math.floor(n / 8) % 4]})

// own is the stroke of a run, the same everywhere.
export function own(id) {
	let n = 0
	for (const c of id) n = n * 31 + c.codePointAt() >>> 0
	return stroke(n % 32)
}

// Plot draws series: [{label, style, rows}], a row is [x0, x1, first, last, min, max, count].
export class Plot {
	constructor(canvas, options) {
		this.canvas = canvas
		this.options = {kind: "number", log: false, weight: 0, unit: short, ...options}
		this.series = []
		this.zoom = null
		this.cursor = null
		this.drag = null
		this.watch = new ResizeObserver(() => this.later())
		this.watch.observe(canvas)
		for (const kind of ["pointerdown", "pointermove", "pointerup", "pointerleave", "pointercancel", "dblclick", "keydown", "blur"]) {
			canvas.addEventListener(kind, this)
		}
	}

	close() {
		this.watch.disconnect()
		cancelAnimationFrame(this.frame)
	}

	set(series, options = {}) {
		Object.assign(this.options, options)
		this.series = series
		this.later()
	}

	later() {
		this.frame ??= requestAnimationFrame(() => {
			this.frame = null
			this.draw()
		})
	}

	domain() {
		if (this.zoom) return this.zoom
		let min = Infinity, max = -Infinity
		for (const {rows} of this.series) {
			for (const row of rows) {
				if (row[0] < min) min = row[0]
				if (row[1] > max) max = row[1]
			}
		}
		if (!(min <= max)) return [0, 1]
		return min === max ? [min - 0.5, max + 0.5] : [min, max]
	}

	draw() {
		const {canvas, options} = this, ratio = devicePixelRatio || 1
		const width = canvas.clientWidth, height = canvas.clientHeight
		if (!width || !height) return
		if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
			canvas.width = Math.round(width * ratio)
			canvas.height = Math.round(height * ratio)
		}
		const g = canvas.getContext("2d"), css = getComputedStyle(canvas)
		this.ink = {line: css.caretColor, text: css.color}
		const [from, to] = this.domain(), [low, high] = extent(this.series, from, to, options.log, options.zero)
		const yTicks = options.log ? logTicks(low, high, height / 46) : linearTicks(low, high, height / 46)
		g.setTransform(ratio, 0, 0, ratio, 0, 0)
		g.font = `11.5px ${css.fontFamily}`
		const left = Math.min(width / 3, 10 + Math.max(...yTicks.map(t => g.measureText(options.unit(t)).width)))
		this.box = {left, top: 8, right: width - 10, bottom: height - 22}
		const {box} = this
		this.x = scale(from, to, box.left, box.right)
		this.y = scale(low, high, box.bottom, box.top, options.log)
		this.back = inverse(from, to, box.left, box.right)
		g.clearRect(0, 0, width, height)
		this.axes(g, yTicks, from, to)
		g.save()
		g.beginPath()
		g.rect(box.left, box.top - 2, box.right - box.left, box.bottom - box.top + 4)
		g.clip()
		const {lit} = options, isLit = one => !lit || one.id === lit
		for (const one of this.series.toSorted((a, b) => isLit(a) - isLit(b))) this.line(g, one, isLit(one) ? 1 : 0.15);
		this.over(g)
		g.restore()
	}

	axes(g, yTicks, from, to) {
		const {box, options} = this, many = (box.right - box.left) / 90
		const ticks = options.kind === "number" ? linearTicks(from, to, many) : timeTicks(from, to, many, options.kind === "clock")
		g.strokeStyle = this.ink.line
		g.fillStyle = this.ink.text
		g.lineWidth = 1
		g.setLineDash([])
		g.beginPath()
		g.textAlign = "right"
		g.textBaseline = "middle"
		for (const tick of yTicks) {
			const y = Math.round(this.y(tick)) + 0.5
			g.moveTo(box.left, y)
			g.lineTo(box.right, y)
			g.fillText(options.unit(tick), box.left - 6, y)
		}
		g.stroke()
		g.textBaseline = "top"
		for (const tick of ticks) {
			const x = this.x(tick), text = label(options.kind, tick, to - from), half = g.measureText(text).width / 2
			g.textAlign = "center"
			g.fillText(text, Math.max(box.left - 4 + half, Math.min(x, box.right + 8 - half)), box.bottom + 7)
		}
	}

	line(g, {rows, style}, strength) {
		const {log, weight} = this.options, {color, dash} = style, ok = v => v !== null && isFinite(v) && (!log || v > 0)
		g.lineJoin = "round"
		g.fillStyle = g.strokeStyle = color
		g.globalAlpha = (weight > 0 ? 0.16 : 0.3) * strength
		for (const [x0, x1, , , min, max, n] of rows) {// what a bucket hides between its first and last value
			if (n < 2 || !ok(max)) continue
			const a = this.x(x0), top = this.y(max)
			g.fillRect(a, top, Math.max(1, this.x(x1) - a), Math.max(1, this.y(ok(min) ? min : max) - top))
		}
		const path = values => {
			g.beginPath()
			let open = false, before = -Infinity
			rows.forEach((row, i) => {
				if (row[0] < before) open = false; // steps went back: another segment
				for (const [x, v] of values(row, i)) {
					if (!ok(v)) open = false
					else if (open) g.lineTo(this.x(x), this.y(v))
					else {
						g.moveTo(this.x(x), this.y(v))
						open = true
					}
				}
				before = row[1]
			})
			g.stroke()
		}
		g.setLineDash(dash)
		g.lineWidth = 1.6
		g.globalAlpha = (weight > 0 ? 0.3 : 1) * strength
		path(([x0, x1, first, last, , , n]) => n > 1 ? [[x0, first], [x1, last]] : [[x1, last]])
		g.globalAlpha = strength
		if (weight > 0) {
			const even = smooth(rows.map(([, , first, last]) => ok(first) && ok(last) ? (first + last) / 2 : null), weight, i => rows[i][0] < rows[i - 1]?.[1])
			g.lineWidth = 2
			path((row, i) => [[(row[0] + row[1]) / 2, even[i]]])
		}
		g.setLineDash([])
		if (rows.length < 40 && weight === 0) {
			for (const [, x1, , last] of rows) {
				if (!ok(last)) continue
				g.beginPath()
				g.arc(this.x(x1), this.y(last), 2.3, 0, 7)
				g.fill()
			}
		}
		for (const [, x1, , last, min] of rows) {// NaN and infinite values on the axis
			if (min !== null && (last === null || isFinite(last))) continue
			const x = this.x(x1), y = this.box.bottom - 4
			g.lineWidth = 1.2
			g.beginPath()
			g.moveTo(x - 3, y - 3)
			g.lineTo(x + 3, y + 3)
			g.moveTo(x + 3, y - 3)
			g.lineTo(x - 3, y + 3)
			g.stroke()
		}
	}

	over(g) {
		const {box} = this
		g.globalAlpha = 1
		if (this.drag && Math.abs(this.drag.to - this.drag.from) > 3) {
			g.globalAlpha = 0.14
			g.fillStyle = this.ink.text
			g.fillRect(Math.min(this.drag.from, this.drag.to), box.top, Math.abs(this.drag.to - this.drag.from), box.bottom - box.top)
			g.globalAlpha = 1
		}
		if (this.cursor === null) return
		g.strokeStyle = this.ink.text
		g.globalAlpha = 0.5
		g.lineWidth = 1
		g.beginPath()
		g.moveTo(this.x(this.cursor), box.top)
		g.lineTo(this.x(this.cursor), box.bottom)
		g.stroke()
		g.globalAlpha = 1
		for (const {row, style} of this.values(this.cursor)) {
			if (row[3] === null || !isFinite(row[3])) continue
			g.fillStyle = style.color
			g.beginPath()
			g.arc(this.x(row[1]), this.y(row[3]), 3.6, 0, 7)
			g.fill()
		}
	}

	values(x) {
		const [from, to] = this.domain(), found = []
		for (const one of this.series) {
			const row = one.rows[nearest(one.rows, x)]
			if (!row || row[1] < from || row[0] > to || Math.max(row[0] - x, x - row[1]) > (to - from) / 8) continue
			found.push({id: one.id, label: one.label, style: one.style, row})
		}
		return found
	}

	// under returns the ID of the series nearest to the pointer.
	under(x, y) {
		const far = ({row}) => Math.abs(this.y(row[3]) - y)
		return this.values(x).filter(one => one.row[3] !== null).sort((a, b) => far(a) - far(b))[0]?.id ?? null
	}

	point(x, event) {
		this.cursor = x
		this.options.onhover?.(x, event)
		this.later()
	}

	select(range) {
		const [from, to] = range ?? []
		if (range && !(to > from)) return
		this.zoom = range
		this.options.onzoom?.(range)
		this.later()
	}

	handleEvent(event) {
		if (!this.box) return
		const clamp = x => Math.max(this.box.left, Math.min(this.box.right, x))
		switch (event.type) {
			case "pointerdown":
				if (event.button !== 0 || event.pointerType === "touch") return
				this.drag = {from: clamp(event.offsetX), to: clamp(event.offsetX)}
				this.canvas.setPointerCapture(event.pointerId)
				break
			case "pointermove":
				if (this.drag) this.drag.to = clamp(event.offsetX)
				this.point(this.back(clamp(event.offsetX)), event)
				break
			case "pointerup": {
				const drag = this.drag
				this.drag = null
				if (drag && Math.abs(drag.to - drag.from) > 6) this.select([this.back(Math.min(drag.from, drag.to)), this.back(Math.max(drag.from, drag.to))])
				break
			}
			case "dblclick": this.select(null); break
			case "keydown": this.key(event); break
			default:
				this.drag = null
				this.point(null, event)
		}
	}

	key(event) {
		const [from, to] = this.domain(), span = to - from, at = this.cursor ?? (from + to) / 2
		const move = {ArrowLeft: -1, ArrowRight: 1}[event.key]
		if (move && event.shiftKey) this.select([from + move * span / 4, to + move * span / 4])
		else if (move) this.point(this.step(at, move), null)
		else if (event.key === "+" || event.key === "=") this.select([at - span / 4, at + span / 4])
		else if (event.key === "-") this.select([at - span, at + span])
		else if (event.key === "0" || event.key === "Escape") this.select(null)
		else return
		event.preventDefault()
		event.stopPropagation()
	}

	step(x, direction) {
		const [from, to] = this.domain()
		let best = direction > 0 ? to : from
		for (const {rows} of this.series) {
			for (const row of rows) {
				if (direction > 0 && row[1] > x && row[1] < best || direction < 0 && row[1] < x && row[1] > best) best = row[1]
			}
		}
		return Math.max(from, Math.min(to, best))
	}
}
