// What opens the page, and what another user's server on another port of this host can do.
import { test } from "node:test";
import assert from "node:assert/strict";
import http from "node:http";
import { readFile } from "node:fs/promises";
import { ids, run, torchx, until, url, useBrowser, withPage } from "./harness.mjs";

useBrowser();
const { origin } = new URL(url);
const row = (page, id) => page.locator(`.rows a[href^="/runs/${id}"]`);
const save = async (page, name) => {
	const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name }).click()]);
	return readFile(await file.path(), "utf8");
};

/** withServer calls act with the port of a server of 127.0.0.1 and what requests sent it. */
async function withServer(act) {
	const seen = [], server = http.createServer((request, answer) => { seen.push({ url: request.url, ...request.headers }); answer.end("<!doctype html><title>neighbour</title>"); });
	await new Promise((done) => { server.listen(0, "127.0.0.1", done); });
	try {
		await act(server.address().port, seen);
	} finally {
		server.closeAllConnections();
		server.close();
	}
}

/** ask sends a request with a cookie and resolves to the status and the first bytes of the answer. */
const ask = (method, path, cookie) => new Promise((done, fail) => {
	const request = http.request(origin + path, { method, headers: { cookie, "Content-Type": "application/json" } }, (answer) => {
		let text = "";
		answer.on("data", (part) => { text += part; if (answer.headers["content-type"] === "text/event-stream") answer.destroy(); });
		answer.on("close", () => done({ status: answer.statusCode, text: text + (answer.headers.location ?? "") }));
	});
	request.on("error", fail);
	request.end(method === "POST" ? '{"note":"stolen","args":[]}' : undefined);
});

test("the cookie that another port gets opens no data", () => withServer(async (port, seen) => {
	const id = await run("--note", "secret-note", "utils.sh", "-c", "echo secret-line; echo secret-file > $TORCHX_OUTPUT/f");
	await torchx("wait", id);
	await withPage(async (page, open) => {
		await open(`/runs/${id}?tab=log`);
		await page.getByText("secret-line").first().waitFor();
		const key = await page.evaluate(() => localStorage.getItem("torchx-key"));
		const other = await page.context().newPage();
		await other.goto(`http://127.0.0.1:${port}/`);
		const { cookie } = seen[0];
		assert.ok(cookie?.includes("torchx-"), `the attack needs the cookie: ${cookie}`);
		assert.equal(await other.evaluate(() => localStorage.getItem("torchx-key")), null);
		const before = JSON.parse(await torchx("list", "--json", "--all")).length;
		for (const path of ["/", `/runs/${id}`, `/runs/${id}?tab=log`]) {
			const { status, text } = await ask("GET", path, cookie);
			assert.equal(status, 200, path);
			for (const word of [id, "secret", new URL(url).searchParams.get("token")]) assert.ok(!text.includes(word), `${path} has ${word}`);
		}
		for (const path of ["/?token=", "/?token=x", `/runs/${id}?token=x`]) {
			const { text } = await ask("GET", path, cookie);
			assert.ok(!key || !text.includes(key), `${path} gives the key`);
		}
		const api = `/api/v1/runs/${id}`;
		for (const [method, path] of [["GET", "/api/v1/session"], ["GET", "/api/v1/runs"], ["GET", `${api}/status`], ["GET", `/api/v1/stream?watch=run:${id}`], ["GET", `${api}/log/download`],
			["GET", `${api}/outputs/f`], ["POST", `${api}/note`], ["POST", `${api}/rerun`], ["POST", `${api}/delete`]]) {
			const { status, text } = await ask(method, path, cookie);
			assert.equal(status, 401, `${method} ${path}: ${text}`);
			assert.ok(!text.includes("secret"), path);
		}
		assert.equal(await torchx("note", id), "secret-note");
		assert.equal(JSON.parse(await torchx("list", "--json", "--all")).length, before);
		assert.match(key, /^[0-9a-f]{64}$/);
		// Neither a link nor a form of the other port carries the key.
		await page.evaluate((to) => { const a = document.createElement("a"); a.href = to; document.body.append(a); a.click(); }, `http://127.0.0.1:${port}/link`);
		await until("the link", () => seen.some((request) => request.url === "/link"));
		assert.ok(seen.every((request) => !request.referer?.startsWith(origin) && !JSON.stringify(request).includes(key)), JSON.stringify(seen));
	}, { foreign: true });
}));

test("reload, deep links, tabs, downloads and live changes need no other login", () => withPage(async (page, open) => {
	const id = await run("utils.sh", "-c", "echo said; echo data > $TORCHX_OUTPUT/f; sleep 600");
	assert.ok(!/token|key/.test(page.url()), page.url());
	await row(page, id).waitFor();
	await page.getByText("Live", { exact: true }).waitFor();
	await page.reload();
	await row(page, id).waitFor();
	const tab = await page.context().newPage();
	await tab.goto(`${origin}/runs/${id}?tab=log`);
	await tab.getByText("said").first().waitFor();
	assert.equal(await save(tab, "Download this log"), "sh/0 said\n");
	await tab.goto(`${origin}/runs/${id}?tab=outputs`);
	assert.equal(await save(tab, "f"), "data\n");
	await tab.goto(`${origin}/runs/${id}`);
	await tab.getByText("Live", { exact: true }).waitFor();
	await torchx("cancel", id);
	await tab.locator(".run-head .state", { hasText: "Cancelled" }).waitFor();
	await open(url.replace("/?", `/runs/${id}?tab=events&`));
	await page.getByRole("heading", { name: "Events" }).waitFor();
	assert.equal(page.url(), `${origin}/runs/${id}?tab=events`);
	assert.ok(!/[0-9a-f]{64}/.test(await page.title() + await page.content()), "the key is in the page");
}));

test("a link with another key changes nothing", () => withPage(async (page, open) => {
	const stored = () => page.evaluate(() => localStorage.getItem("torchx-key"));
	await page.getByRole("row").nth(1).waitFor();
	const mine = await stored();
	await page.goto("about:blank"); // else only the fragment would change
	await open(`/#key=${"0".repeat(64)}`);
	await page.getByRole("row").nth(1).waitFor();
	await page.getByText("Live", { exact: true }).waitFor();
	assert.equal(await stored(), mine);
	assert.equal(page.url(), `${origin}/`);
}, { expected: /401/ }));

test("a page that is left before the server answers keeps the key", () => withPage(async (page) => {
	await page.getByRole("row").nth(1).waitFor();
	await page.evaluate(() => localStorage.clear());
	for (const again of [() => page.reload(), () => page.goto(new URL(`/runs/${ids.failed}`, url).href)]) {
		await page.goto("about:blank");
		await page.route("**/api/v1/session", () => {}); // no answer
		await page.goto(url);
		await page.unrouteAll({ behavior: "ignoreErrors" });
		await again();
		await page.getByText("Live", { exact: true }).waitFor();
		await page.evaluate(() => localStorage.clear());
	}
}));

test("without the key, the page says what to do", () => withPage(async (page, open) => {
	await page.getByRole("row").nth(1).waitFor(); // the key is stored
	await page.evaluate(() => localStorage.clear());
	await open("/");
	await page.getByRole("alert").filter({ hasText: "open the URL that `torchx ui` printed" }).waitFor();
	assert.equal(await page.locator("h1").textContent(), "No access");
	await open(url);
	await page.getByRole("row").nth(1).waitFor();
}, { expected: /401/ }));

test("without storage, the page works until it is left", () => withPage(async (page) => {
	await page.addInitScript(() => Object.defineProperty(window, "localStorage", { get() { throw new DOMException("no storage", "SecurityError"); } }));
	await page.goto(url);
	await page.getByRole("row").nth(1).waitFor();
	await page.getByText("Live", { exact: true }).waitFor();
	await page.getByRole("link", { name: "Compare" }).first().click();
	await page.getByRole("button", { name: "Add a run…" }).waitFor();
}));

test("without JavaScript, the page names the commands", () => withPage(async (page, open) => {
	await open("/");
	assert.match(await page.content(), /needs JavaScript.*torchx list/); // Chromium does not draw it when only this context has no scripts
}, { javaScriptEnabled: false }));
