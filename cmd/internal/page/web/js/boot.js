// Takes the key of the API from the address and sets the theme, both before the first paint.
[, window.torchxKey] = location.hash.match(/^#key=([0-9a-f]{64})$/) ?? [];
if (window.torchxKey) history.replaceState(null, "", location.pathname + location.search);
try {
	if (window.torchxKey ??= sessionStorage.newKey) sessionStorage.newKey = window.torchxKey; // for a reload
	const {theme} = localStorage;
	if (theme) document.documentElement.dataset.theme = theme;
} catch { /* without storage, the theme follows the system */ }
