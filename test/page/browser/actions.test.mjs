import { test } from "node:test";
import assert from "node:assert/strict";
import { ids, run, torchx, until, useBrowser, withPage } from "./harness.mjs";

useBrowser();
const menu = async (page, name) => {
	await page.getByRole("button", { name: "More actions" }).click();
	await page.getByRole("button", { name }).click();
};

test("cancel asks first", () => withPage(async (page, open) => {
	const id = await run("utils.sh", "-c", "sleep 600");
	await open(`/runs/${id}`);
	await page.getByRole("button", { name: "Cancel" }).click();
	await page.getByRole("dialog").getByRole("button", { name: "Cancel", exact: true }).click();
	await page.locator(".run-head .state", { hasText: "Running" }).waitFor();
	await page.getByRole("button", { name: "Cancel" }).click();
	await page.getByRole("button", { name: "Cancel run" }).click();
	await page.locator(".run-head .state", { hasText: "Cancelled" }).waitFor();
	assert.equal(JSON.parse(await torchx("status", "--json", id)).state, "CANCELLED");
}));

test("a run is repeated with changed arguments", () => withPage(async (page, open) => {
	await open(`/runs/${ids.trials[0]}`);
	await page.getByRole("button", { name: "Run again" }).click();
	const lr = page.getByRole("dialog").getByLabel(/^lr /), fail = page.getByRole("dialog").getByLabel(/^fail /);
	await until("the fields", async () => await fail.count() === 1);
	assert.deepEqual(await fail.locator("option").allInnerTexts(), ["true", "false (default)"]);
	assert.equal(await fail.inputValue(), "false");
	assert.equal(await lr.inputValue(), "0.1");
	await lr.fill("0.7");
	await page.getByText(`torchx rerun --lr=0.7 ${ids.trials[0]}`).waitFor();
	await lr.fill("fast");
	await page.getByRole("button", { name: "Run", exact: true }).click();
	await page.getByRole("alert").filter({ hasText: "lr" }).waitFor();
	await lr.fill("0.7");
	await page.getByRole("button", { name: "Run", exact: true }).click();
	await page.waitForURL((url) => url.pathname.startsWith("/runs/") && !url.pathname.includes(ids.trials[0]));
	const id = new URL(page.url()).pathname.split("/").pop();
	assert.ok(JSON.parse(await torchx("describe", "--json", id)).args.join(" ").includes("0.7"));
	await page.getByRole("link", { name: ids.trials[0] }).waitFor();
}, { expected: /400/ }));

test("tags and notes are set and removed", () => withPage(async (page, open) => {
	await open(`/runs/${ids.trials[1]}`);
	await menu(page, "Edit tags…");
	await page.getByLabel("Add").fill("mood=<b>good</b>, kept");
	await page.getByRole("button", { name: "Save" }).click();
	await page.locator(".run-head .tag", { hasText: "<b>good</b>" }).waitFor();
	await menu(page, "Edit tags…");
	await page.getByRole("checkbox", { name: "kept" }).uncheck();
	await page.getByRole("button", { name: "Save" }).click();
	await page.locator(".run-head .tag", { hasText: "kept" }).waitFor({ state: "detached" });
	await menu(page, "Edit note…");
	await page.getByRole("textbox", { name: "Note" }).fill("a rate that works");
	await page.getByRole("button", { name: "Save" }).click();
	await page.getByText("a rate that works").waitFor();
}));

test("a note keeps a secret that its editor hides", () => withPage(async (page, open) => {
	const id = await run("--note", "PASSWORD=hunter2 works", "utils.echo");
	await open(`/runs/${id}`);
	await menu(page, "Edit note…");
	const note = page.getByRole("textbox", { name: "Note" });
	assert.equal(await note.inputValue(), "PASSWORD=****** works");
	await note.fill("hint: ******");
	await page.getByRole("button", { name: "Save" }).click();
	await page.getByRole("alert").filter({ hasText: "would show" }).waitFor();
	await note.fill("PASSWORD=****** works twice");
	await page.getByRole("button", { name: "Save" }).click();
	await page.getByText("PASSWORD=****** works twice").waitFor();
	assert.equal(await torchx("--show-secrets", "note", id), "PASSWORD=hunter2 works twice");
}, { expected: /400/ }));

test("delete says what is lost, then the run is gone", () => withPage(async (page, open) => {
	const id = await run("utils.echo", "--msg", "bye");
	await torchx("wait", id);
	await open(`/?search=${id}`);
	await page.getByRole("checkbox", { name: `Select ${id}` }).check();
	await page.getByRole("button", { name: "Delete…" }).click();
	await page.getByText("cannot be undone").waitFor();
	await page.getByRole("button", { name: "Delete", exact: true }).click();
	await page.getByText("No run matches").waitFor();
	await until("the run to be gone", () => torchx("status", id).then(() => false, () => true));
}));

test("prune shows what it would remove and removes nothing", () => withPage(async (page, open) => {
	await open("/prune");
	await page.getByLabel("Older than").fill("1d");
	await page.getByText("torchx prune --older-than 1d").waitFor();
	await page.getByRole("row", { name: /trainer-/ }).first().waitFor();
	await page.getByLabel("Older than").fill("soon");
	await page.getByRole("alert").waitFor();
}, { expected: /400/ }));
