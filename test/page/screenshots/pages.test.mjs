// Draws the main pages at three widths in both themes, for docs/screenshots.
import { test } from "node:test";
import { mkdir } from "node:fs/promises";
import { ids, useBrowser, withPage } from "../browser/harness.mjs";

useBrowser();
const folder = process.env.TORCHX_SCREENSHOTS;
const pages = {
	runs: ["/", ".rows .run:not(.blank)"], run: [`/runs/${ids.failed}`, ".failure pre"], log: [`/runs/${ids.failed}?tab=log&find=loss`, ".ln mark"],
	curves: [`/runs/${ids.failed}?tab=curves&metric=loss&smooth=60`, ".legend li"], sweep: ["/sweeps/my-sweep?metric=loss", ".parallel"],
};
for (const [width, height] of [[360, 740], [1280, 800], [2560, 1440]]) {
	for (const colorScheme of ["light", "dark"]) {
		test(`${width} pixels, ${colorScheme}`, () => withPage(async (page, open) => {
			await mkdir(folder, { recursive: true });
			for (const [name, [path, ready]] of Object.entries(pages)) {
				await open(path);
				await page.locator(ready).first().waitFor();
				await page.evaluate(() => document.fonts.ready);
				await page.screenshot({ path: `${folder}/${name}-${width}-${colorScheme}.png`, animations: "disabled" });
			}
		}, { viewport: { width, height }, colorScheme, reducedMotion: "reduce", expected: /404/ }));
	}
}
