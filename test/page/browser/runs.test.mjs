import { test } from "node:test";
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
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

test("columns are arguments and metrics, chosen, moved, sorted and kept in the address", () => withPage(async (page, open) => {
	await open("/?parent=my-sweep");
	const heads = async () => (await page.locator(".runs .head [role=columnheader]").allInnerTexts()).map((text) => text.replace(/ [↓↑]$/, "").trim()).slice(3);
	await until("the default columns", async () => (await heads()).includes("lr"));
	assert.deepEqual(await heads(), ["Component", "Tags", "lr", "accuracy", "loss", "Submitted", "Duration", "Exit"]);
	await page.keyboard.press("c");
	await page.getByRole("checkbox", { name: "min loss" }).check();
	for (const name of ["Component", "Tags", "Exit", "last accuracy", "last loss"]) await page.getByRole("checkbox", { name, exact: true }).uncheck();
	await page.getByRole("button", { name: "Show", exact: true }).click();
	await page.waitForURL(/columns=/);
	assert.deepEqual(await heads(), ["lr", "Submitted", "Duration", "min loss"]);
	await page.getByRole("button", { name: "min loss" }).focus();
	await page.keyboard.press("Alt+ArrowLeft");
	assert.deepEqual(await heads(), ["lr", "Submitted", "min loss", "Duration"]);
	await page.getByRole("columnheader", { name: "min loss" }).dragTo(page.getByRole("columnheader", { name: "lr" }));
	assert.deepEqual(await heads(), ["min loss", "lr", "Submitted", "Duration"]);
	assert.ok(!page.url().includes("sort="), page.url());
	const column = (n) => page.locator(".rows .run:not([hidden])").evaluateAll((rows, n) => rows // a row that is used again keeps its place in the page
		.sort((a, b) => a.ariaRowIndex - b.ariaRowIndex).map((row) => Number(row.children[n - 1].innerText)), n);
	for (const [n, name, down] of [[4, "min loss", false], [5, "lr", false], [5, "lr", true]]) {
		await page.getByRole("columnheader", { name }).getByRole("button").click();
		await until(`order by ${name}`, async () => {
			const values = await column(n);
			return values.length >= 4 && values.every((value, i) => i === 0 || (down ? values[i - 1] >= value : values[i - 1] <= value));
		});
	}
	await open(page.url());
	await until("the same columns", async () => (await heads()).join() === "min loss,lr,Submitted,Duration");
	const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "Download as CSV" }).click()]);
	assert.match(await readFile(await file.path(), "utf8"), /^handle,name,state,min\(loss\),arg\(lr\),submitted_at,duration_s\nlocal:\/\/torchx\/train-\w+,train,SUCCEEDED,[\d.]+,0.8,/);
}));

test("curves of the shown or the selected runs are beside the table", () => withPage(async (page, open) => {
	await open("/?parent=my-sweep");
	await page.locator(".rows .run:not(.blank)").first().waitFor();
	await page.keyboard.press("v");
	await page.waitForURL(/curves=1/);
	const canvas = page.getByRole("complementary", { name: "Curves of the runs" }).getByRole("region", { name: "loss", exact: true }).getByRole("img");
	await until("all runs", async () => {
		const text = await canvas.getAttribute("aria-label") ?? "";
		return ids.trials.every((id) => text.includes(id));
	});
	await canvas.hover({ position: { x: 200, y: 80 } });
	await until("the row of the curve", async () => await page.locator(".run.lit").count() === 1);
	for (const id of ids.trials.slice(0, 2)) await page.getByRole("checkbox", { name: `Select ${id}` }).check();
	await until("the selected runs", async () => {
		const text = await canvas.getAttribute("aria-label").catch(() => "") ?? "";
		return text.includes(ids.trials[0]) && text.includes(ids.trials[1]) && !text.includes(ids.trials[3]);
	});
	const color = (row) => row.locator(".swatch").first().evaluate((node) => node.style.borderTopColor);
	const own = await color(page.locator(".rows .run", { has: page.locator(`[title="${ids.trials[0]}"]`) }));
	assert.equal(await color(page.locator(".beside .legend li", { hasText: ids.trials[0] }).first()), own);
	await page.getByRole("button", { name: "Curves", exact: true }).click();
	await until("no curves", async () => await page.locator(".beside").isHidden());
}));

test("runs are grouped by a tag or an argument", () => withPage(async (page, open) => {
	await open("/?where=loss>0");
	const by = page.getByRole("combobox", { name: "Group by" });
	await by.getByRole("option", { name: "lr", exact: true }).waitFor({ state: "attached" });
	await by.selectOption("arg(lr)");
	await page.waitForURL(/group=arg/);
	await page.getByRole("columnheader", { name: "mean loss" }).waitFor();
	const row = page.getByRole("row", { name: /^0\.2 / });
	assert.match(await row.innerText(), /^0\.2\s+1\s+1\s+[\d.]+\s+[\d.]+/);
	await open(page.url());
	await row.getByRole("button").click();
	await until("the run of the group", async () => await page.locator(".rows .run:not([hidden]):not(.blank)").count() === 1);
	assert.match(page.url(), /where=arg/);
}));

test("runs are filtered by arguments and metrics", () => withPage(async (page, open) => {
	await open("/?parent=my-sweep");
	await page.getByRole("button", { name: "Filter", exact: true }).click();
	await page.getByLabel("Values").fill("lr<0.3, max(loss)>0");
	await page.getByRole("button", { name: "Apply" }).click();
	await page.waitForURL(/where=/);
	await until("two runs", async () => await page.locator(".rows .run:not([hidden]):not(.blank)").count() === 2);
}));

test("a bad filter says why and keeps the table", () => withPage(async (page, open) => {
	await open("/");
	await page.getByRole("button", { name: "Filter", exact: true }).click();
	await page.getByLabel("Values").fill("loss<<3");
	await page.getByRole("button", { name: "Apply" }).click();
	assert.match(await page.getByRole("alert").filter({ hasText: "where" }).innerText(), /loss/);
	await page.getByLabel("Values").fill("loss<3");
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
