import { test } from "node:test";
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { ids, run, torchx, useBrowser, withPage } from "./harness.mjs";

useBrowser();
const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const pages = ["/", `/runs/${ids.failed}`, `/runs/${ids.failed}?tab=log&times=1&find=loss`, `/runs/${ids.failed}?tab=curves`, `/runs/${ids.failed}?tab=events`, `/runs/${ids.failed}?tab=outputs`,
	`/runs/${ids.failed}?tab=app`, `/runs/${ids.many}`, `/compare?run=${(ids.trials ?? [])[0]}&run=${(ids.trials ?? [])[1]}`, "/?backend=sweep", "/sweeps/my-sweep", "/prune?older-than=1d"];

for (const colorScheme of ["light", "dark"]) {
	for (const width of [360, 1280]) {
		test(`axe finds nothing: ${colorScheme}, ${width} pixels`, () => withPage(async (page, open) => {
			for (const path of pages) {
				await open(path);
				await page.waitForLoadState("networkidle").catch(() => {});
				await page.locator("main .fill > *").first().waitFor();
				await page.evaluate(axe); // of the protocol: the policy of the page does not hold for it
				const { violations } = await page.evaluate(() => window.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }));
				assert.deepEqual(violations.map((v) => `${v.id}: ${v.help}: ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160) + " " + (n.any[0]?.message ?? "")).join(" | ")}`), [], path);
				const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
				assert.ok(wide <= 0, `${path} is ${wide} pixels wider than the window`);
			}
		}, { colorScheme, viewport: { width, height: 760 }, expected: /404/ }));
	}
}

const actions = { "Cancel": "Cancel this run?", "Run again": "again", "Edit tags…": "Tags", "Edit note…": "Note", "Delete…": "Delete this run?" };

for (const colorScheme of ["light", "dark"]) {
	test(`forms and menus fit on a small screen: ${colorScheme}`, () => withPage(async (page, open) => {
		const id = await run("--note", "PASSWORD=hunter2", "--tag", `long=${"x".repeat(80)}`, "utils.sh", "-c", "sleep 600");
		for (const [name, title] of Object.entries(actions)) {
			await open(`/runs/${id}`);
			if (name.endsWith("…")) {
				await page.getByRole("button", { name: "More actions" }).click();
				const { width } = await page.locator(".menu").boundingBox();
				assert.ok(width < 300, `the menu is ${width} pixels wide`);
			}
			await page.getByRole("button", { name }).click();
			await page.getByRole("heading", { name: title }).waitFor();
			await page.evaluate(axe);
			const { violations } = await page.evaluate(() => window.axe.run("dialog[open]", { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] }));
			assert.deepEqual(violations.map((v) => `${v.id}: ${v.nodes[0].html}`), [], name);
			const { x, width } = await page.locator("dialog[open]").boundingBox();
			assert.ok(x >= 0 && x + width <= 360, `${name}: from ${x} to ${x + width}`);
		}
		await torchx("cancel", id);
	}, { colorScheme, viewport: { width: 360, height: 740 } }));
}

test("all tabs of a run and all views fit on a small screen", () => withPage(async (page, open) => {
	await open(`/runs/${ids.failed}?tab=outputs`);
	for (const link of await page.locator(".tabs a, .bar nav a").all()) {
		const { x, width } = await link.boundingBox();
		assert.ok(x >= 0 && x + width <= 360, `${await link.textContent()}: from ${x} to ${x + width}`);
	}
	const file = await page.locator("td.mono").first().boundingBox();
	assert.ok(file.width > 100, `names of files have ${file.width} pixels`);
}, { viewport: { width: 360, height: 740 } }));

test("motion stops where it is not wanted", () => withPage(async (page, open) => {
	await open("/");
	assert.equal(await page.evaluate(() => document.getAnimations().length), 0);
}, { reducedMotion: "reduce" }));

test("the chosen theme stays", () => withPage(async (page, open) => {
	await open("/");
	await page.getByRole("button", { name: "Theme" }).click();
	await page.getByRole("button", { name: "Dark" }).click();
	await open(page.url());
	assert.equal(await page.evaluate(() => getComputedStyle(document.documentElement).colorScheme), "dark");
}, { colorScheme: "light" }));

test("all of the client is at most 120 KB of JavaScript", () => withPage(async (page, open) => {
	let bytes = 0;
	page.on("response", async (answer) => { if (answer.url().endsWith(".js")) bytes += (await answer.body()).length; });
	await open("/");
	await page.waitForLoadState("networkidle").catch(() => {});
	assert.ok(bytes > 0 && bytes <= 120 * 1024, `${bytes} bytes`);
}));
