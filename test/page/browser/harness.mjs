// A browser on the page of a real `torchx ui`, and the program beside it.
import { after, before } from "node:test";
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { chromium } from "playwright-core";

export const { TORCHX_PAGE_URL: url, TORCHX_PAGE_BIN: bin, TORCHX_PAGE_DIR: dir } = process.env;
export const ids = JSON.parse(process.env.TORCHX_PAGE_RUNS ?? "{}");
export const deadline = 60_000; // of each wait

const args = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
let browser;

/** useBrowser starts a browser for the tests of a file. */
export function useBrowser() {
	before(async () => { browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args, timeout: deadline }); });
	after(() => browser.close());
}

/** torchx runs the program and returns what it prints. */
export async function torchx(...words) {
	return (await promisify(execFile)(bin, words, { cwd: dir, maxBuffer: 1 << 26 })).stdout.trim();
}

/** run starts an app and returns its ID. */
export const run = async (...words) => (await torchx("run", "-d", ...words)).split("/").pop();

/** withPage calls act(page, open) on a fresh page; what the console reports as an error fails the test.
 * options.foreign: the test leaves the page. */
export async function withPage(act, options = {}) {
	const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, timezoneId: "America/New_York", acceptDownloads: true, ...options });
	context.setDefaultTimeout(deadline);
	const page = await context.newPage(), errors = [];
	const expected = options.expected ?? /^$/;
	page.on("console", (message) => message.type() === "error" && !expected.test(message.text()) && !/ERR_NETWORK_CHANGED/.test(message.text()) && errors.push(message.text()));
	page.on("pageerror", (error) => errors.push(error.stack));
	page.on("dialog", (box) => errors.push(`a dialog opened: ${box.message()}`));
	page.on("request", (request) => !options.foreign && !request.url().startsWith(new URL(url).origin) && !/^(data|blob):/.test(request.url()) && errors.push(`a request left the machine: ${request.url()}`));
	let cut = 0;
	page.on("requestfailed", (request) => { if (/ERR_NETWORK_CHANGED/.test(request.failure()?.errorText) && !request.isNavigationRequest() && request.resourceType() !== "fetch") cut++; });
	/** visit navigates again when the network of the machine changed meanwhile: other tests start containers. */
	const visit = async (path) => {
		for (const end = Date.now() + deadline; ;) {
			const before = cut;
			try {
				const answer = await page.goto(new URL(path, url).href);
				if (cut === before) return answer;
			} catch (error) {
				if (!/ERR_NETWORK_CHANGED/.test(error.message) || Date.now() > end) throw error;
			}
		}
	};
	try {
		await visit(url);
		await act(page, async (path) => {
			await visit(path);
			if (options.javaScriptEnabled !== false) await page.locator("body.app").waitFor();
		});
		assert.deepEqual(errors, [], "errors of the console");
	} catch (error) {
		if (cut) error.message += `\n${cut} requests were cut when the network changed`;
		if (errors.length) error.message += `\nconsole: ${errors.join("\n")}`;
		throw error;
	} finally {
		await context.close();
	}
}

/** until polls a condition, at most until the deadline, and names what it waited for. */
export async function until(what, condition) {
	const end = Date.now() + deadline;
	for (;;) {
		const value = await condition();
		if (value) return value;
		if (Date.now() > end) assert.fail(`waited for ${what}`);
		await new Promise((done) => setTimeout(done, 50));
	}
}
