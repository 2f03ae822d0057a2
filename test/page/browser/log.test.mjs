import { test } from "node:test";
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { ids, run, until, useBrowser, withPage } from "./harness.mjs";

useBrowser();
const lines = (page) => page.locator(".log-lines .ln");

test("a long log opens at its end and goes anywhere with few lines in the page", () => withPage(async (page, open) => {
	await open(`/runs/${ids.long}?tab=log`);
	await page.locator('.ln[data-n="2000000"]').waitFor();
	await page.getByText("2\u202f000\u202f000 lines").waitFor();
	const box = page.getByRole("region", { name: "Log" });
	await until("the end", () => box.evaluate((box) => box.scrollTop > 0));
	for (let i = 0; i < 12; i++) {
		const first = Number(await lines(page).first().getAttribute("data-n"));
		// Chromium tells of no scrolling if the position is the one of the frame before.
		await box.evaluate((box) => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => { box.scrollTop = 0; done(); }))));
		await until("earlier lines", async () => Number(await lines(page).first().getAttribute("data-n")) < first);
	}
	assert.ok(await lines(page).count() <= 2400, "too many lines are in the page");
	await page.keyboard.press(":");
	await page.getByRole("textbox", { name: "Line or time" }).fill("1234567");
	await page.getByRole("button", { name: "Go", exact: true }).click();
	await page.locator('.ln.at[data-n="1234567"]').getByText("1234567", { exact: true }).last().waitFor();
	await page.waitForURL(/line=1234567/);
	await page.getByRole("slider", { name: "Position in the log" }).fill("500000");
	await page.locator('.ln[data-n="500000"]').waitFor();
	await page.getByRole("region", { name: "Log" }).focus();
	await page.keyboard.press("Home");
	await page.locator('.ln[data-n="1"]').waitFor();
	await page.keyboard.press("G");
	await page.locator('.ln[data-n="2000000"]').waitFor();
}));

test("the numbers of lines do not shift them", () => withPage(async (page, open) => {
	await open(`/runs/${ids.long}?tab=log&line=1000000`);
	await page.locator('.ln.at[data-n="1000000"]').waitFor();
	const left = (n) => page.locator(`.ln[data-n="${n}"] .tx`).evaluate((node) => node.getBoundingClientRect().left);
	assert.equal(await left(999999), await left(1000000));
}));

test("a log of 1 GB opens at its end and scrolls anywhere", () => withPage(async (page, open) => {
	await open(`/runs/${ids.huge}?tab=log`);
	await page.locator('.ln[data-n="10000000"]').waitFor();
	const slider = page.getByRole("slider", { name: "Position in the log" });
	for (const n of [5000000, 1, 9999000, 1234567]) {
		await slider.fill(String(n));
		await page.locator(`.ln[data-n="${n}"]`).getByText(new RegExp(`^${n}x+$`)).waitFor();
		assert.ok(await lines(page).count() <= 2400, "too many lines are in the page");
	}
}));

test("search counts lines and goes to each", () => withPage(async (page, open) => {
	await open(`/runs/${ids.long}?tab=log`);
	await page.locator('.ln[data-n="2000000"]').waitFor();
	await page.getByRole("searchbox", { name: "Search the log" }).fill("99999");
	await page.getByText("38 matching lines").waitFor();
	await page.keyboard.press("Enter");
	await page.getByText("38 of 38", { exact: true }).waitFor();
	await page.locator(".ln.at mark").waitFor();
	assert.equal(await page.locator(".ln.at").getAttribute("data-n"), "1999999");
	for (let i = 37; i >= 28; i--) {
		await page.keyboard.press("Shift+Enter");
		await page.getByText(`${i} of 38`, { exact: true }).waitFor();
	}
	await page.locator('.ln.at[data-n="1899999"]').waitFor();
	await page.getByRole("searchbox", { name: "Search the log" }).fill("77777");
	await page.keyboard.press("Enter"); // before the server has counted
	await page.getByText(/^\d+ of 38$/).waitFor();
	await page.locator(".ln.at mark").waitFor();
	await page.getByRole("button", { name: "Regular expression" }).click();
	await page.getByRole("searchbox", { name: "Search the log" }).fill("^1[0-3]$");
	await page.getByText("4 matching lines").waitFor();
	await open(page.url());
	await page.getByText("4 matching lines").waitFor();
	await page.getByRole("searchbox", { name: "Search the log" }).fill("(");
	await page.getByText(/not a pattern/).waitFor();
}, { expected: /400/ }));

test("colors, progress bars, streams and attempts are drawn", () => withPage(async (page, open) => {
	await open(`/runs/${ids.failed}?tab=log`);
	const green = page.locator(".ln .fg2", { hasText: "epoch" }).first();
	await green.waitFor();
	await page.getByText("100%", { exact: false }).first().waitFor();
	assert.equal(await page.getByText("50%", { exact: false }).count(), 0);
	await page.getByTitle("Show what this line replaced").first().click();
	await page.getByText("50%", { exact: false }).first().waitFor();
	assert.ok(await page.locator(".ln.err", { hasText: "gradient" }).count() > 0);
	assert.ok(await page.locator(".ln .who i", { hasText: "#1" }).count() > 0);
	await page.getByRole("combobox", { name: "Stream" }).selectOption("stderr");
	await page.waitForURL(/stream=stderr/);
	await until("only stderr", async () => await lines(page).count() > 0 && await page.locator(".ln:not(.err)").count() === 0);
	await page.getByRole("combobox", { name: "Replicas" }).selectOption("trainer/1");
	await page.locator(".sep", { hasText: "attempt 1" }).waitFor();
	const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "Download this log" }).click()]);
	assert.match(await readFile(await file.path(), "utf8"), /gradient/);
	await page.getByRole("button", { name: "Wrap lines" }).click();
	assert.equal(await page.locator(".log-lines.wrap").count(), 0);
	await page.waitForURL(/wrap=0/);
	await page.getByRole("button", { name: "Times" }).click();
	await page.locator(".ln time").first().waitFor();
}));

test("a live log follows its end until the reader scrolls up", () => withPage(async (page, open) => {
	const id = await run("utils.sh", "-c", 'i=0; while [ $i -lt 4000 ]; do i=$((i+1)); echo "tick $i"; sleep 0.02; done');
	await open(`/runs/${id}?tab=log`);
	await page.getByText("tick 40", { exact: true }).waitFor();
	const box = page.getByRole("region", { name: "Log" });
	const before = Number(await lines(page).last().getAttribute("data-n"));
	await until("more lines", async () => Number(await lines(page).last().getAttribute("data-n")) > before + 5);
	assert.ok(await box.evaluate((box) => box.scrollHeight - box.clientHeight - box.scrollTop) < 60, "the end is not in sight");
	await box.hover();
	await page.mouse.wheel(0, -600);
	await page.getByRole("button", { name: "Follow" }).waitFor();
	const top = await box.evaluate((box) => box.scrollTop);
	await until("a later total", async () => parseInt((await page.locator(".log-bar [role=status]").last().innerText()).replace("\u202f", "")) > before + 60);
	assert.equal(await box.evaluate((box) => box.scrollTop), top);
	await page.getByRole("button", { name: "Follow" }).click();
	await until("the end", () => box.evaluate((box) => box.scrollHeight - box.clientHeight - box.scrollTop < 60));
	await page.getByRole("button", { name: "Cancel" }).click();
	await page.getByRole("button", { name: "Cancel run" }).click();
	await page.locator(".run-head .state", { hasText: "Cancelled" }).waitFor();
}));
