import { test } from "node:test";
import { ids, useBrowser, withPage } from "./browser/harness.mjs";
useBrowser();
test("probe", () => withPage(async (page, open) => {
	page.setDefaultTimeout(8000);
	await open(`/runs/${ids.long}?tab=log`);
	await page.locator('.ln[data-n="2000000"]').waitFor();
	await page.getByRole("searchbox", { name: "Search the log" }).fill("99999");
	await page.getByText("38 matching lines").waitFor();
	await page.keyboard.press("Enter");
	await page.waitForTimeout(1500);
	console.log(await page.locator(".log-bar").innerText(), await page.evaluate(() => document.activeElement.outerHTML.slice(0, 200)));
	await page.screenshot({ path: "/tmp/w/uiweb-tmp/p0.png" });
	await open(`/runs/${ids.failed}`);
	await page.waitForTimeout(1500);
	await page.screenshot({ path: "/tmp/w/uiweb-tmp/p1.png" });
}, { expected: /./ }));
