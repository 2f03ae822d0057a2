const field = document.getElementById("search");
const pages = [...document.querySelectorAll("article")].map((article) => ({
  article,
  link: document.querySelector(`nav a[href="#${article.id}"]`),
  text: article.textContent.toLowerCase(),
}));
field.addEventListener("input", () => {
  const words = field.value.toLowerCase().split(/\s+/);
  let found = 0;
  for (const page of pages) {
    const hidden = !words.every((word) => page.text.includes(word));
    page.article.hidden = page.link.hidden = hidden;
    page.link.style.display = hidden ? "none" : "";
    found += hidden ? 0 : 1;
  }
  document.getElementById("none").hidden = found > 0;
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement !== field) {
    event.preventDefault();
    field.focus();
  }
});
