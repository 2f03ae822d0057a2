// Tests of the modules that need no browser.
import { test } from "node:test";
import assert from "node:assert/strict";
const web = new URL("../../../cmd/internal/page/web/js/", import.meta.url);
const from = (name) => import(new URL(name, web));
const { collapse, contrast, parse, plain, readable, rgb } = await from("ansi.js");
const { age, bytes, count, duration, number, quote, visible } = await from("format.js");
globalThis.document = globalThis.addEventListener = new Proxy(function () {}, { get: (target, name) => typeof name === "symbol" ? undefined : document, apply: () => document }); // modules listen when they are loaded
const { attempts } = await from("gantt.js");
const { common, defaults, differing, moved } = await from("columns.js");
const { share } = await from("importance.js");
const { extent, label, linearTicks, logTicks, nearest, scale, short, smooth, timeTicks } = await from("scale.js");

test("escape sequences become styles or nothing", () => {
	assert.deepEqual(parse("a\x1b[1;31mb\x1b[0mc"), [{ text: "a", style: null }, { text: "b", style: { bold: true, fg: 1 } }, { text: "c", style: null }]);
	assert.deepEqual(parse("\x1b[38;5;208mx\x1b[48;2;1;2;300my"), [{ text: "x", style: { fg: 208 } }, { text: "y", style: { fg: 208, bg: [1, 2, 255] } }]);
	assert.deepEqual(parse("\x1b[92;7mx\x1b[39;27my"), [{ text: "x", style: { fg: 10, inverse: true } }, { text: "y", style: null }]);
	for (const hidden of ["\x1b]0;title\x07", "\x1b]8;;http://x\x1b\\", "\x1b[2J", "\x1b[?25l", "\x1bM", "\x1b(B", "\x1bPq\x1b\\", "\x1b[38;5m", "\x1b"]) {
		assert.equal(plain(`a${hidden}b`).replace("b", ""), "a", JSON.stringify(hidden));
	}
	assert.equal(parse("a\u202eb\x00")[0].text, "a\ufffdb\u2400");
});

test("carriage returns leave the last version", () => {
	assert.deepEqual(collapse("1%\r2%\r3%"), { text: "3%", versions: 3 });
	assert.deepEqual(collapse("done\r"), { text: "done", versions: 1 });
	assert.deepEqual(collapse("\r\x1b[K\r"), { text: "", versions: 1 });
});

test("colors can be read on their background", () => {
	assert.deepEqual(rgb(16), [0, 0, 0]);
	assert.deepEqual(rgb(231), [255, 255, 255]);
	assert.deepEqual(rgb(244), [128, 128, 128]);
	for (let n = 16; n < 256; n++) {
		for (const ground of [[255, 255, 255], [21, 23, 27], [200, 40, 40]]) assert.ok(contrast(readable(rgb(n), ground), ground) >= 4.5, `${n} on ${ground}`);
	}
});

test("numbers, sizes and times are short", () => {
	assert.deepEqual([0, 1023, 1536, 5 * 2 ** 30].map(bytes), ["0 B", "1023 B", "1.5 KiB", "5.0 GiB"]);
	assert.deepEqual([0, 0.34, 12.34, 59.99, 192, 3900, 183600].map(duration), ["0ms", "340ms", "12.3s", "1m 00s", "3m 12s", "1h 05m", "2d 03h"]);
	assert.deepEqual([null, undefined, NaN].map(duration), ["", "", ""]);
	assert.deepEqual([0, 1, 0.123456789, 1e-9, 1234567, 1.5e12, "NaN", null].map((x) => number(x)), ["0", "1", "0.12346", "1e-9", "1234567", "1.5e+12", "NaN", ""]);
	assert.equal(count(1234567), "1\u202f234\u202f567");
	const now = Date.parse("2026-11-22T12:00:00Z");
	assert.deepEqual(["2026-11-22T12:00:01Z", "2026-11-22T11:59:20Z", "2026-11-22T09:00:00Z", "2026-11-01T12:00:00Z", null].map((t) => age(t, now)), ["now", "40s ago", "3h ago", "21d ago", ""]);
	assert.deepEqual(["a", "a b", "it's", ""].map(quote), ["a", "'a b'", "'it'\\''s'", "''"]);
	assert.equal(visible("\u200bx\t"), "\ufffdx\t");
});

test("importance is that of the argument that decides, with enough trials", () => {
	const values = Array.from({ length: 40 }, (_, i) => i), noise = values.map((i) => i * 7 % 10);
	assert.ok(share(values, values.map((i) => i * i)) > 0.8);
	assert.ok(share(noise, values) < 0.2);
	assert.ok(share(values.map((i) => i % 2 ? "a" : "b"), values.map((i) => i % 2 + i / 1000)) > 0.7);
	assert.deepEqual([share(values.slice(0, 9), values.slice(0, 9)), share(values.map(() => 1), values), share(values, values.map(() => 1))], [null, null, null]);
});

test("default columns are arguments that differ and metrics that most have, as many as fit", () => {
	const run = (lr, metrics) => ({ backend: "local", arguments: { lr, model: "res" }, metrics: Object.fromEntries(metrics.map((name) => [name, { last: 1, goal: name === "loss" ? "min" : null }])) });
	const runs = [run("0.1", ["step", "loss"]), run("0.2", ["step", "loss"]), run("0.2", ["rare"]), run(undefined, [])];
	assert.deepEqual([differing(runs), common(runs)], [["lr"], ["loss", "step"]]);
	assert.deepEqual(defaults(runs, 1600), ["component", "tags", "arg(lr)", "last(loss)", "last(step)", "submitted", "duration", "exit"]);
	assert.deepEqual(defaults(runs, 900), ["component", "last(loss)", "submitted", "duration", "exit"]);
	assert.deepEqual(moved(["a", "b", "c"], "c", -2), ["c", "a", "b"]);
});

test("ticks are round and few", () => {
	assert.deepEqual(linearTicks(0, 1, 5), [0, 0.2, 0.4, 0.6, 0.8, 1]);
	assert.deepEqual(linearTicks(3, 3, 5), [3]);
	assert.deepEqual(logTicks(0.001, 1000), [0.001, 0.01, 0.1, 1, 10, 100, 1000]);
	assert.deepEqual(logTicks(1, 30), [1, 2, 5, 10, 20]);
	assert.deepEqual(timeTicks(0, 3600, 4), [0, 900, 1800, 2700, 3600]);
	for (const [min, max] of [[0, 1e-12], [-5, 1e15], [1e300, 1.1e300]]) assert.ok(linearTicks(min, max, 5).length <= 11);
	assert.equal(label("elapsed", 90, 200), "1m 30s");
	assert.deepEqual([12000, 1.5e6, 0.25, 0, 1e-7].map(short), ["12k", "1.5M", "0.25", "0", "1e-7"]);
});

test("axes have room and survive strange values", () => {
	const rows = (...values) => [{ rows: values.map((v, i) => [i, i, v, v, v, v, 1, 0]) }];
	assert.deepEqual(extent(rows(1, 3), 0, 9, false), [0.9, 3.1]);
	assert.deepEqual(extent(rows(null), 0, 9, false), [0, 1]);
	assert.deepEqual(extent(rows(-1, 0), 0, 9, true), [0.1, 1]);
	const [low, high] = extent(rows(5, 5), 0, 9, false);
	assert.ok(low < 5 && high > 5);
	assert.deepEqual(extent(rows(2, 4), 0, 9, false, true), [0, 4.2]);
	assert.deepEqual(extent(rows(0, 0), 0, 9, false, true), [0, 1]);
	assert.equal(scale(1, 100, 0, 200, true)(10), 100);
});

test("smoothing starts at the first value and skips holes", () => {
	assert.deepEqual(smooth([2, 2, null, 2], 0.9).map((v) => v && Number(v.toFixed(9))), [2, 2, null, 2]);
	assert.deepEqual(smooth([1, 3], 0), [1, 3]);
	assert.deepEqual(smooth([1, 1, 5, 5], 0.5, (i) => i === 2), [1, 1, 5, 5], "another attempt starts anew");
});

test("the nearest bucket is found, also when steps started again", () => {
	const row = (a, b) => [a, b, 0, 0, 0, 0, 1, 0];
	assert.equal(nearest([row(0, 1), row(2, 3), row(10, 11)], 7), 2);
	assert.equal(nearest([row(0, 1), row(2, 3), row(10, 11)], 5), 1);
	assert.equal(nearest([row(0, 1), row(9, 9), row(0, 1)], 0.5), 2);
	assert.equal(nearest([], 1), -1);
});

test("attempts say why they ended or wait, and where they run", () => {
	const at = Date.parse("2026-01-02T03:05:00Z"), pod = (n) => ({ role: "r", replica: n, attempt: 1, exit_code: null, signal: null, msg: null, pod: `r-${n}`, node: "n1" });
	const status = {
		submitted_at: "2026-01-02T03:04:00Z", started_at: null, finished_at: null,
		past_attempts: [{ ...pod(1), attempt: 0, state: "FAILED", exit_code: 3, msg: "out of memory", started_at: "2026-01-02T03:04:10Z", finished_at: "2026-01-02T03:04:20Z" }],
		roles: [{ role: "r", replicas: [
			{ ...pod(0), state: "RUNNING", started_at: "2026-01-02T03:04:10Z", finished_at: null },
			{ ...pod(1), state: "PENDING", msg: "its image is being pulled", started_at: null, finished_at: null },
		] }],
	};
	const { rows } = attempts(status, at);
	assert.deepEqual(rows.map((row) => [row.name, row.state, row.bars.length]), [["r/0", "RUNNING", 2], ["r/1", "PENDING", 3]]);
	const texts = rows.map((row) => row.bars.map((bar) => bar.text.split("\n").slice(1)));
	assert.deepEqual(texts[0], [["10.0s"], [texts[0][1][0], "r-0 on n1"]]);
	assert.deepEqual(texts[1], [["10.0s"], ["40.0s", "its image is being pulled", "r-1 on n1"], [texts[1][2][0], "exit code 3: out of memory", "r-1 on n1"]]);
});
