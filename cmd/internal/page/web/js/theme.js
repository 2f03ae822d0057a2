// Sets the chosen theme before the first paint; loaded without defer for that.
try {
	const theme = localStorage.getItem("theme");
	if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch { /* a browser without storage follows the system */ }
