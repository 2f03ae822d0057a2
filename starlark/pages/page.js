const field = document.getElementById("filter");
field.addEventListener("input", () => {
  const words = field.value.toLowerCase().split(/\s+/);
  for (const section of document.querySelectorAll("nav section")) {
    let any = false;
    for (const item of section.querySelectorAll("li")) {
      const link = item.querySelector("a");
      const text = (link.textContent + " " + link.title).toLowerCase();
      item.hidden = !words.every((w) => text.includes(w));
      any = any || !item.hidden;
    }
    section.hidden = !any;
  }
});
document.addEventListener("keydown", (e) => {
  if (e.key === "/" && document.activeElement !== field) {
    e.preventDefault();
    field.focus();
  }
});
