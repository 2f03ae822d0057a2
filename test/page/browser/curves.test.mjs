import { test } from "node:test";
import assert from "node:assert/strict";
import { ids, run, torchx, until, useBrowser, withPage } from "./harness.mjs";

useBrowser();
const inked = (canvas) => canvas.evaluate((c) => {
	const { data } = c.getContext("2d").getImageData(0, 0, c.width, c.height), found = new Set();
	for (let i = 0; i < data.length; i += 4) if (data[i + 3] > 200) found.add(`${data[i] >> 5},${data[i + 1] >> 5},${data[i + 2] >> 5}`);
	return found.size;
});

test("curves are drawn, zoomed and read aloud", () => withPage(async (page, open) => {
	await open(`/runs/${ids.failed}?tab=curves`);
	const chart = page.getByRole("region", { name: "loss", exact: true }), canvas = chart.getByRole("img");
	await until("a plot", async () => await inked(canvas) > 2);
	assert.match(await canvas.getAttribute("aria-label"), /^Plot of loss\. trainer\/0: last /);
	await canvas.hover({ position: { x: 200, y: 80 } });
	await page.getByRole("tooltip").getByText(/step \d+/).waitFor();
	assert.match(await page.getByRole("tooltip").innerText(), /trainer\/0: [\d.]+/);
	const box = await canvas.boundingBox();
	await page.mouse.move(box.x + 120, box.y + 60);
	await page.mouse.down();
	await page.mouse.move(box.x + 220, box.y + 60, { steps: 4 });
	await page.mouse.up();
	await chart.getByRole("button", { name: "Reset zoom" }).click();
	await chart.getByRole("button", { name: "Reset zoom" }).waitFor({ state: "hidden" });
	await canvas.focus();
	await page.keyboard.press("ArrowRight");
	await until("the value in words", async () => /step .*trainer\/0/.test(await chart.locator("[aria-live]").innerText()));
	await page.keyboard.press("+");
	await chart.getByRole("button", { name: "Reset zoom" }).waitFor();
	await chart.getByText("Values as a table").click();
	await chart.getByRole("row", { name: /trainer\/0/ }).waitFor();
}));

test("axis, scale, smoothing and filters are in the address", () => withPage(async (page, open) => {
	await open(`/runs/${ids.failed}?tab=curves`);
	await page.getByRole("region", { name: "loss", exact: true }).waitFor();
	await page.getByRole("button", { name: "Log scale" }).click();
	await page.waitForURL(/log=1/);
	await page.getByRole("combobox", { name: "Horizontal axis" }).selectOption("time");
	await page.waitForURL(/x=time/);
	await page.getByRole("slider", { name: "Smoothing" }).fill("60");
	await page.waitForURL(/smooth=60/);
	await page.getByRole("searchbox", { name: "Filter curves" }).fill("loss");
	await page.waitForURL(/metric=loss/);
	await until("one chart", async () => await page.locator(".chart").count() === 1);
	await page.getByRole("searchbox", { name: "Replicas" }).fill("trainer/1");
	await page.waitForURL(/curve=/);
	await until("one series", async () => /^Plot of loss\. trainer\/1: [^;]*points\. Arrow/.test(await page.locator(".chart canvas").getAttribute("aria-label") ?? ""));
	await open(page.url());
	assert.equal(await page.getByRole("slider", { name: "Smoothing" }).inputValue(), "60");
	assert.equal(await page.getByRole("button", { name: "Log scale" }).getAttribute("aria-pressed"), "true");
}));

test("quantities begin at zero, metrics do not, and both can be switched", () => withPage(async (page, open) => {
	await open(`/runs/${ids.failed}?tab=curves`);
	const from = (name) => page.getByRole("button", { name: `Start ${name} at zero` });
	await from("Memory").waitFor();
	assert.deepEqual([await from("Memory").getAttribute("aria-pressed"), await from("loss").getAttribute("aria-pressed")], ["true", "false"]);
	await from("loss").click();
	await from("Memory").click();
	await page.waitForURL(/zero=loss&zero=Memory/);
	await open(page.url());
	await from("loss").waitFor();
	assert.deepEqual([await from("Memory").getAttribute("aria-pressed"), await from("loss").getAttribute("aria-pressed")], ["false", "true"]);
}));

test("a long curve is drawn from few buckets that keep its extremes", () => withPage(async (page, open) => {
	await open(`/runs/${ids.points}?tab=curves&metric=loss`);
	const canvas = page.getByRole("region", { name: "loss", exact: true }).getByRole("img");
	await until("all points", async () => /to 99, 1000000 points/.test(await canvas.getAttribute("aria-label") ?? ""));
	await until("a plot", async () => await inked(canvas) > 1);
}));

test("runs are compared: what differs, and their curves over each other", () => withPage(async (page, open) => {
	await open(`/compare?run=${ids.trials[0]}&run=${ids.trials[1]}`);
	await page.getByRole("rowheader", { name: "lr" }).waitFor();
	const canvas = page.getByRole("region", { name: "loss", exact: true }).getByRole("img");
	await until("two series", async () => (await canvas.getAttribute("aria-label") ?? "").includes(ids.trials[1]));
	await page.getByRole("button", { name: `Leave out ${ids.trials[1]}` }).click();
	await until("one run", () => !page.url().includes(ids.trials[1]));
	await page.getByRole("button", { name: "Add a run…" }).click();
	const run = page.getByRole("combobox", { name: "Run" });
	await run.fill("no-such-run");
	await page.getByRole("button", { name: "Add", exact: true }).click();
	await page.getByRole("alert").filter({ hasText: "no-such-run" }).waitFor();
	await run.fill(ids.trials[2]);
	await page.getByRole("button", { name: "Add", exact: true }).click();
	await page.waitForURL(new RegExp(`${ids.trials[0]}.*${ids.trials[2]}`));
}, { expected: /404/ }));

test("only metrics of which the better value is known have a best run", () => withPage(async (page, open) => {
	const made = await Promise.all(["0.1", "0.2"].map((lr) => run("utils.sh", "-c", `echo '{"step": 1, "lr": ${lr}, "val_loss": ${lr}}' >> $TORCHX_METRICS`)));
	await Promise.all(made.map((id) => torchx("wait", id)));
	await open(`/compare?run=${made[0]}&run=${made[1]}`);
	assert.equal(await page.getByRole("row", { name: /^val_loss/ }).getByText("★").count(), 1);
	assert.equal(await page.getByRole("row", { name: /^lr/ }).getByText("★").count(), 0);
}));

test("the trials of a sweep are a table and parallel coordinates", () => withPage(async (page, open) => {
	await open("/sweeps/my-sweep");
	await page.getByRole("combobox", { name: "Metric" }).selectOption("loss");
	await page.getByRole("group", { name: /^\d+ trials over .*lr.*loss/ }).waitFor();
	assert.ok(await page.locator(".parallel .trial").count() >= ids.trials.length);
	await page.getByRole("columnheader", { name: "loss" }).getByRole("button").click();
	await page.waitForURL(/sort=loss/);
	const best = page.getByRole("row", { name: /★/ });
	await best.hover();
	assert.equal(await page.locator(".parallel .trial.lit").count(), 1);
	await best.getByRole("link").click();
	await page.waitForURL(/\/runs\//);
}, { expected: /404/ })); // the parent of these runs is an ID, not an app

test("a sweep opens as its trials, with its metric", () => withPage(async (page, open) => {
	await open("/");
	await page.locator(`.rows a[href$="${ids.sweep}"]`).waitFor();
	assert.equal(await page.locator(".rows .tag", { hasText: ids.sweep }).count(), 0, "trials are among the runs");
	await page.getByRole("link", { name: "Sweeps" }).click();
	await page.locator(`.rows a[href$="${ids.sweep}"]`).click();
	await page.waitForURL(new RegExp(`/sweeps/${ids.sweep}`));
	await page.getByText("4 of 4 trials succeeded").waitFor();
	await page.getByRole("group", { name: /^4 trials over lr, steps, loss/ }).waitFor();
	assert.equal(await page.getByRole("combobox", { name: "Metric" }).inputValue(), "loss");
	assert.equal(await page.getByRole("row", { name: /★/ }).count(), 1);
	const best = await page.locator('[aria-label="Trials"] tbody tr').first().getByRole("rowheader").getByRole("link").innerText();
	await page.getByText(`torchx rerun ${best}`).waitFor();
	await page.getByRole("img", { name: /^Plot of loss\. / }).waitFor();
	await page.getByText("it cannot be told: it takes 10").waitFor();
	await page.getByRole("link", { name: "Run page" }).click();
	await page.getByRole("link", { name: "Trials" }).click();
	await page.waitForURL(new RegExp(`/sweeps/${ids.sweep}`));
}));

test("of 300 trials the good ones are seen", () => withPage(async (page, open) => {
	await open(`/sweeps/${ids.wide}`);
	await page.getByText("300 of 300 trials succeeded").waitFor();
	assert.equal(await page.locator('[aria-label="Trials"] tbody tr').count(), 300);
	assert.deepEqual(await page.locator(".axis", { hasText: "batch" }).locator("text").allTextContents(), ["batch", "16", "32", "64"]);
	await page.getByRole("img", { name: "best loss over time: 300 trials" }).waitFor();
	assert.equal(await page.getByRole("img", { name: "lr: 300 trials" }).locator("circle").count(), 300);
	const importance = async (name) => Number(await page.getByRole("meter", { name: `Importance of ${name}` }).getAttribute("value"));
	assert.ok(await importance("lr") > 0.6 && await importance("batch") < 0.3, `importance of lr ${await importance("lr")}, of batch ${await importance("batch")}`);
	const axis = page.getByRole("slider", { name: /^Range of lr/ }), rows = () => page.locator('[aria-label="Trials"] tbody tr').count();
	await axis.focus();
	for (let i = 0; i < 5; i++) await page.keyboard.press("ArrowDown");
	await until("half of the trials", async () => await rows() > 90 && await rows() < 210); // the axis is a logarithmic one
	await page.keyboard.press("Escape");
	await until("all trials", async () => await rows() === 300);
	const box = await axis.boundingBox();
	await page.mouse.move(box.x + box.width / 2, box.y + 10);
	await page.mouse.down();
	await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2, { steps: 3 });
	await page.mouse.up();
	await until("the range that was drawn", async () => await rows() < 210);
	await page.getByRole("button", { name: "Clear ranges" }).click();
	await until("all trials", async () => await rows() === 300);
	const opacities = await page.locator(".parallel .trial").evaluateAll((lines) => lines.map((line) => Number(line.style.opacity)));
	assert.equal(opacities.length, 300);
	assert.ok(Math.max(...opacities) > 0.9 && opacities.filter((one) => one > 0.5).length < 60, `opacities ${opacities}`);
}));
