"use strict";
// A figure opens at its full size.
for (const picture of document.querySelectorAll("article img:not(a img)")) {
  const link = document.createElement("a");
  link.href = picture.src;
  picture.replaceWith(link);
  link.append(picture);
}
// What scrolls must be reached by keys.
addEventListener("load", () => {
  for (const box of document.querySelectorAll("pre, mjx-container, .cell_output, .text_html, .table-wrapper"))
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
});
