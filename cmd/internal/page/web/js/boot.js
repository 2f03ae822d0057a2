// Takes the key of the API from the address and sets the theme, both before the first paint.
const [, key] = location.hash.match(/^#key=([0-9a-f]{64})$/) ?? [];
try {
	if (key) localStorage.setItem("torchx-key", key);
	const theme = localStorage.getItem("theme");
	if (theme) document.documentElement.dataset.theme = theme;
} catch { /* without storage, the theme follows the system */
	window.torchxKey = key; // until the page is reloaded
}
if (key) history.replaceState(null, "", location.pathname + location.search);
