import { test } from "node:test";
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { ids, until, useBrowser, withPage } from "./harness.mjs";

useBrowser();

test("a failed run says what failed first, with its last lines", () => withPage(async (page, open) => {
	await open(`/runs/${ids.failed}`);
	const box = page.getByRole("region", { name: "Failure" });
	await box.getByText("trainer/1 failed first").waitFor();
	await box.getByText("exit code 3").first().waitFor();
	await box.getByText("out of memory").waitFor();
	await page.locator(".graph a", { hasText: "trainer" }).waitFor();
	assert.equal(await page.locator(".graph .edge").count(), 2);
}));

test("a failed run shows its error, not the progress bar before it", () => withPage(async (page, open) => {
	await open(`/runs/${ids.bar}`);
	const error = page.getByRole("region", { name: "Failure" }).locator("pre");
	await error.waitFor();
	assert.deepEqual((await error.innerText()).trim().split("\n"), ["step 300/300", "Traceback (most recent call last):", '  File "train.py", line 17, in <module>', "RuntimeError: CUDA out of memory"]);
}));

test("the timeline has each attempt, and says why on hover", () => withPage(async (page, open) => {
	await open(`/runs/${ids.failed}`);
	const row = page.getByRole("link", { name: /^trainer\/1: attempt 0 failed .*attempt 1 failed/ });
	await row.waitFor();
	await page.locator(".gantt-row", { has: row }).locator(".b-FAILED").last().hover();
	await page.getByRole("tooltip").getByText("exit code 3").waitFor();
	await page.getByLabel("Filter replicas").fill("failed");
	await until("one row", async () => await page.locator(".gantt-row:not([hidden])").count() === 1);
}));

test("a run of 1,000 replicas has few rows in the page", () => withPage(async (page, open) => {
	await open(`/runs/${ids.many}`);
	await page.getByRole("link", { name: /^sh\/0:/ }).waitFor();
	assert.match(await page.getByRole("region", { name: "Timeline" }).innerText(), /1\u202f000/);
	await page.locator(".gantt-rows").evaluate((box) => { box.scrollTop = box.scrollHeight; });
	await page.getByRole("link", { name: /^sh\/999:/ }).waitFor();
	assert.ok(await page.locator(".gantt-row").count() < 80);
	await page.getByRole("link", { name: "Log", exact: true }).click();
	await page.getByRole("combobox", { name: "Replicas" }).selectOption("sh/777");
	await page.getByText("replica 777", { exact: true }).waitFor();
}));

test("events, outputs and the app are listed", () => withPage(async (page, open) => {
	await open(`/runs/${ids.failed}`);
	await page.getByRole("link", { name: "Events" }).click();
	await page.waitForURL(/tab=events/);
	await page.getByRole("cell", { name: /restarting/ }).first().waitFor();
	await page.getByRole("link", { name: "Outputs" }).click();
	const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "model/weights.txt" }).click()]);
	assert.equal(await readFile(await file.path(), "utf8"), "weights\n");
	await page.getByRole("link", { name: "App", exact: true }).click();
	await page.getByText('"entrypoint": "sh"').first().waitFor();
}));

test("names and tags are never parsed as HTML", () => withPage(async (page, open) => {
	await open(`/runs/${ids.hostile}`);
	await page.getByText("<img src=x onerror=alert(1)>").first().waitFor();
	await page.getByRole("link", { name: "Log", exact: true }).click();
	await page.getByText("<script>alert(2)</script>", { exact: false }).first().waitFor();
	assert.equal(await page.locator("main img, main script").count(), 0);
	assert.equal(await page.evaluate(() => document.title.includes("\u001b")), false);
}));

test("an unknown run says so", () => withPage(async (page, open) => {
	await open("/runs/no-such-run").catch(() => {});
	await page.getByText(/no-such-run/).first().waitFor();
}, { expected: /404/ }));

test("times are in the time zone of the reader", () => withPage(async (page, open) => {
	await open(`/runs/${ids.failed}`);
	assert.match(await page.locator(".run-line time").getAttribute("title"), /(EST|EDT|GMT-[45]).*\n.*Z$/s);
}));
