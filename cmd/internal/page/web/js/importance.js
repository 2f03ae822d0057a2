// How much arguments of trials matter for a metric.

export const least = 10; // trials below which nothing is said

export const rule = "share of the variance of the metric's ranks that is between the groups of an argument: its values, or four quantiles of many numbers, less what chance gives"

function ranks(values) {
	const order = values.map((v, i) => [v, i]).sort((a, b) => a[0] - b[0]), found = []
	for (let i = 0; i < order.length;) {
		let end = i
		while (end < order.length && order[end][0] === order[i][0]) end++
		for (let k = i; k < end; k++) found[order[k][1]] = (i + end - 1) / 2
		i = end
	}
	return found
}

function groupsOf(values) {
	const distinct = new Set(values)
	if (distinct.size <= 6 || values.some(v => isNaN(v))) return values
	return ranks(values.map(Number)).map(r => Math.min(3, Math.floor(r * 4 / values.length)))
}

const mean = list => list.reduce((a, b) => a + b, 0) / list.length

// share returns omega squared of a one-way analysis of variance on ranks, from 0 to 1; null if it cannot be told.
export function share(values, metric) {
	const y = ranks(metric), keys = groupsOf(values), groups = new Map()
	keys.forEach((key, i) => groups.set(key, [...groups.get(key) ?? [], y[i]]))
	const n = y.length, k = groups.size, center = mean(y)
	if (n < least || k < 2 || n <= k) return null
	const between = [...groups.values()].reduce((sum, g) => sum + g.length * (mean(g) - center) ** 2, 0), total = y.reduce((sum, v) => sum + (v - center) ** 2, 0)
	if (!total) return null
	const noise = (total - between) / (n - k)
	return Math.max(0, (between - (k - 1) * noise) / (total + noise))
}
