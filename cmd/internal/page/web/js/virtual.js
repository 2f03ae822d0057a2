// A list of many rows of which only those in sight are in the page.

export class Rows {
	// options: height of a row and inset, what covers the rows at the top, in pixels.
	constructor(scroller, options) {
		this.scroller = scroller
		this.options = options
		this.count = 0
		this.live = new Map()
		this.spare = []
		this.space = document.createElement("div")
		this.space.className = "space"
		scroller.append(this.space)
		this.onscroll = () => this.later()
		scroller.addEventListener("scroll", this.onscroll, {passive: true})
		this.watch = new ResizeObserver(() => this.later())
		this.watch.observe(scroller)
	}

	later() {
		this.frame ??= requestAnimationFrame(() => {
			this.frame = null
			this.draw()
		})
	}

	resize(count, height = this.options.height) {
		const first = this.options.height === height ? null : this.scroller.scrollTop / this.options.height
		this.count = count
		this.options.height = height
		this.space.style.height = `${Math.min(count * height, 30e6)}px`
		if (first !== null) this.scroller.scrollTop = first * height
		this.refresh()
	}

	range(margin = 8) {
		const {height} = this.options
		const from = Math.floor(this.scroller.scrollTop / height) - margin
		const to = Math.ceil((this.scroller.scrollTop + this.scroller.clientHeight) / height) + margin
		return [Math.max(0, from), Math.min(this.count, Math.max(0, to))]
	}

	draw() {
		const [from, to] = this.range()
		for (const [index, row] of this.live) {
			if (index >= from && index < to) continue
			if (row.contains(document.activeElement)) continue; // keeps the focus
			this.retire(index, row)
		}
		this.options.seen?.(from, to)
		for (let i = from; i < to; i++) {
			if (!this.live.has(i)) this.place(i)
		}
	}

	retire(index, row) {
		this.live.delete(index)
		row.hidden = true
		this.spare.push(row)
	}

	place(index) {
		let row = this.live.get(index) ?? this.spare.pop()
		if (!row) {
			row = this.options.create()
			this.space.append(row)
		}
		row.hidden = false
		row.style.transform = `translateY(${index * this.options.height}px)`
		this.live.set(index, row)
		this.options.fill(row, index)
	}

	refresh() {
		for (const [index, row] of this.live) {
			if (index < this.count) this.place(index)
			else this.retire(index, row)
		}
		this.draw()
	}

	reveal(index) {
		const {height, inset = 0} = this.options, {scrollTop} = this.scroller, clientHeight = this.scroller.clientHeight - inset
		if (index * height < scrollTop) this.scroller.scrollTop = index * height
		else if ((index + 1) * height > scrollTop + clientHeight) this.scroller.scrollTop = (index + 1) * height - clientHeight
		this.draw()
		return this.live.get(index)
	}

	close() {
		this.scroller.removeEventListener("scroll", this.onscroll)
		this.watch.disconnect()
		cancelAnimationFrame(this.frame)
	}
}

export class Pages {
	// load(offset, limit, signal) resolves to {items, total}.
	constructor(size, load, changed) {
		Object.assign(this, {size, load, changed, pages: new Map(), loading: new Map(), total: null})
	}

	at(index) {
		return this.pages.get(Math.floor(index / this.size))?.[index % this.size]
	}

	span(from, to) {
		return [from, Math.max(from, to - 1)].map(index => Math.floor(index / this.size))
	}

	need(from, to) {
		const [first, last] = this.span(from, to)
		for (const [n, control] of this.loading) {
			if (n < first - 1 || n > last + 1) control.abort()
		}
		for (let n = first; n <= last; n++) if (!this.pages.has(n)) this.fetch(n);
		for (const n of this.pages.keys()) if (n < first - 10 || n > last + 10) this.pages.delete(n);
	}

	async fetch(n) {
		if (this.loading.has(n)) return
		const control = new AbortController()
		this.loading.set(n, control)
		try {
			const {items, total} = await this.load(n * this.size, this.size, control.signal)
			if (control.signal.aborted) return
			this.pages.set(n, items)
			this.total = total
			this.changed(null)
		} catch (error) {
			if (error.name !== "AbortError") this.changed(error)
		} finally {
			if (this.loading.get(n) === control) this.loading.delete(n)
		}
	}

	async renew(from, to) {
		const [first, last] = this.span(from, to)
		for (const n of this.pages.keys()) if (n < first || n > last) this.pages.delete(n);
		for (const control of this.loading.values()) control.abort();
		this.loading.clear()
		await Promise.all(Array.from({length: last - first + 1}, (_, i) => this.fetch(first + i)))
	}
}
