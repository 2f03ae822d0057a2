import { test } from "node:test";
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { ids, useBrowser, withPage } from "./harness.mjs";

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

test("runs, states and the log are readable without JavaScript", () => withPage(async (page, open) => {
	await open("/");
	await page.getByRole("row").nth(3).waitFor();
	await open(`/runs/${ids.failed}`);
	await page.getByText("trainer/1 failed first", { exact: true }).waitFor();
	await page.getByText("out of memory").first().waitFor();
}, { javaScriptEnabled: false }));

test("all of the client is at most 120 KB of JavaScript", () => withPage(async (page, open) => {
	let bytes = 0;
	page.on("response", async (answer) => { if (answer.url().endsWith(".js")) bytes += (await answer.body()).length; });
	await open("/");
	await page.waitForLoadState("networkidle").catch(() => {});
	assert.ok(bytes > 0 && bytes <= 120 * 1024, `${bytes} bytes`);
}));
