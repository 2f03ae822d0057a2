import { test } from "node:test";
import assert from "node:assert/strict";
import { ids, run, until, useBrowser, withPage } from "./harness.mjs";

useBrowser();

test("the table holds few rows, however many runs there are", () => withPage(async (page, open) => {
	await open("/");
	await page.getByRole("link", { name: "train", exact: true }).first().waitFor();
	const rows = page.locator(".rows");
	const total = await page.locator(".toolbar [role=status]").innerText();
	const count = Number(total.replace(/^.* of|\D/g, ""));
	assert.match(total, /^1–\d+ of .* runs$/);
	assert.ok(count > 20000, `${total}, want all`);
	assert.equal(await rows.evaluate((box) => box.scrollHeight), count * 44 + 34);
	for (const part of [0.3, 0.9, 0.5]) {
		await rows.evaluate((box, part) => { box.scrollTop = box.scrollHeight * part; }, part);
		await until("the rows in sight", () => page.locator(".rows").evaluate((box) => {
			const edge = box.getBoundingClientRect(), seen = [...box.querySelectorAll(".run:not([hidden])")].filter((row) => row.getBoundingClientRect().top < edge.bottom && row.getBoundingClientRect().bottom > edge.top);
			return seen.length > 5 && seen.every((row) => !row.classList.contains("blank"));
		}));
	}
	await page.keyboard.press("End");
	await page.locator('.rows a[href="/runs/trainer-000000"]').waitFor();
	assert.ok(await page.locator(".rows .run").count() < 90, "too many rows are in the page");
}));

test("heads stand above their columns, with and without a scrollbar", () => withPage(async (page, open) => {
	const lefts = (row) => page.locator(row).first().evaluate((row) => [...row.children].map((cell) => Math.round(cell.getBoundingClientRect().left)));
	for (const path of ["/", "/?search=hopeless"]) {
		await open(path);
		await page.locator(".rows .run:not(.blank):not([hidden])").first().waitFor();
		assert.deepEqual(await lefts(".runs .head"), await lefts(".rows .run:not(.blank):not([hidden])"), path);
	}
}));

test("filters, search and order are in the address", () => withPage(async (page, open) => {
	await open("/");
	await page.getByRole("button", { name: "Failed" }).click();
	await page.waitForURL(/state=failed/);
	await until("only failed runs", async () => (await page.locator(".rows .run:not([hidden]) .c-state").allInnerTexts()).every((text) => text.trim() === "Failed"));
	await page.getByRole("searchbox", { name: "Search runs" }).fill("hopeless");
	await page.waitForURL(/search=hopeless/);
	await until("one run", async () => await page.locator(".rows .run:not([hidden]):not(.blank)").count() === 1);
	await open(page.url());
	assert.equal(await page.getByRole("searchbox", { name: "Search runs" }).inputValue(), "hopeless");
	assert.equal(await page.getByRole("button", { name: "Failed" }).getAttribute("aria-pressed"), "true");
	await page.getByRole("button", { name: "hopeless" }).first().click();
	await page.waitForURL(/tag=hopeless/);
	await page.getByRole("button", { name: "Remove filter tag hopeless" }).click();
	await until("the address without the tag", () => !page.url().includes("tag="));
	await page.getByRole("button", { name: "Duration" }).click();
	await page.waitForURL(/sort=duration/);
}));

test("a bad filter says why and keeps the table", () => withPage(async (page, open) => {
	await open("/");
	await page.getByRole("button", { name: "Filter", exact: true }).click();
	await page.getByLabel("Metrics").fill("loss<<3");
	await page.getByRole("button", { name: "Apply" }).click();
	assert.match(await page.getByRole("alert").filter({ hasText: "where" }).innerText(), /loss/);
	await page.getByLabel("Metrics").fill("loss<3");
	await page.getByRole("button", { name: "Apply" }).click();
	await page.waitForURL(/where=loss/);
}, { expected: /400/ }));

test("keys move, open, search and show themselves", () => withPage(async (page, open) => {
	await open("/");
	await page.locator(".rows .run:not(.blank)").first().waitFor();
	await page.keyboard.press("j");
	await page.keyboard.press("j");
	await page.keyboard.press("k");
	const name = await page.locator(".run.at .name small").getAttribute("title");
	assert.ok(name, "no row is current");
	await page.keyboard.press("x");
	await page.getByText("1 selected").waitFor();
	await page.keyboard.press("/");
	assert.equal(await page.evaluate(() => document.activeElement.type), "search");
	await page.keyboard.press("Escape");
	await page.keyboard.press("?");
	await page.getByRole("heading", { name: "Keyboard" }).waitFor();
	await page.getByRole("button", { name: "Close" }).click();
	await page.getByRole("heading", { name: "Keyboard" }).waitFor({ state: "hidden" });
	await page.locator(`.run.at .name small[title="${name}"]`).waitFor();
	await page.keyboard.press("j");
	await page.keyboard.press("k");
	let answer;
	const held = new Promise((done) => { answer = done; });
	await page.route(/\/api\/v1\/runs\/[^/]+\/status/, async (route) => { await held; await route.continue(); });
	await page.keyboard.press("Enter");
	await page.waitForURL(/\/runs\//);
	await page.keyboard.press("u"); // before the run has loaded
	await page.waitForURL((url) => url.pathname === "/");
	await page.unrouteAll({ behavior: "ignoreErrors" });
	answer();
	await page.locator(".rows .run").first().waitFor();
}));

test("a run appears and ends without a reload", () => withPage(async (page, open) => {
	await open("/?name=short-lived");
	await page.getByText("No run matches").waitFor();
	const id = await run("utils.sh", "-c", "sleep 2");
	assert.ok(id);
	const other = await run("job.named", "--name", "short-lived", "--script", "sleep 3");
	const row = page.locator(".rows .run", { has: page.locator(`a[href$="${other}"]`) });
	await row.getByText("Running").waitFor();
	await row.getByText("Succeeded").waitFor();
	assert.equal(ids.failed.length > 0, true);
}));
