/* Behavior of the page besides the explorer: descriptions of nodes, scrolling by keys, and
 * what print opens.
 */
(function () {
  "use strict";

  const SMALLEST = 0.72; // of its own size that a picture of a structure is shrunk to

  /* Tables and pictures that are wider than the page can be scrolled by keys. */
  function watchScrolling() {
    const boxes = document.querySelectorAll(".scroll");
    const watcher = new ResizeObserver((entries) => {
      for (const { target } of entries) {
        const wider = target.scrollWidth > target.clientWidth + 1;
        if (wider) target.setAttribute("tabindex", "0");
        else target.removeAttribute("tabindex");
      }
    });
    boxes.forEach((box) => watcher.observe(box));
  }

  function point(picture, node, story) {
    const column = node === null ? null : node.dataset.column;
    picture.classList.toggle("pointed", node !== null);
    picture.querySelectorAll(".here").forEach((other) => other.classList.remove("here"));
    if (node !== null) node.classList.add("here");
    for (const edge of picture.querySelectorAll(".edge")) {
      const near = edge.dataset.parent === column || edge.dataset.child === column;
      edge.classList.toggle("near", near);
    }
    story.textContent = node === null ? "" : node.getAttribute("aria-label");
    story.classList.toggle("told", node !== null);
  }

  /* One node of a picture is reached by Tab, the others by the arrow keys. */
  function walk(nodes, from, key) {
    const at = nodes.indexOf(from);
    const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
    if (key === "Home") return nodes[0];
    if (key === "End") return nodes[nodes.length - 1];
    return steps[key] === undefined ? undefined : nodes[at + steps[key]];
  }

  function tellStories(figure) {
    const picture = figure.querySelector("svg");
    const story = figure.querySelector(".story");
    const nodes = Array.from(picture.querySelectorAll(".node"));
    picture.style.minWidth = `${SMALLEST * picture.viewBox.baseVal.width}px`;
    for (const node of nodes) {
      node.addEventListener("pointerenter", () => point(picture, node, story));
      node.addEventListener("pointerleave", () => point(picture, null, story));
      node.addEventListener("focus", () => point(picture, node, story));
      node.addEventListener("blur", () => point(picture, null, story));
      node.addEventListener("keydown", (event) => {
        const next = walk(nodes, node, event.key);
        if (next === undefined) return;
        event.preventDefault();
        node.setAttribute("tabindex", "-1");
        next.setAttribute("tabindex", "0");
        next.focus();
      });
    }
  }

  /* In print only the details that a reader of paper needs are open. */
  function openOnPaper() {
    let closed = [];
    window.addEventListener("beforeprint", () => {
      closed = Array.from(document.querySelectorAll("details[data-print]:not([open])"));
      closed.forEach((one) => (one.open = true));
    });
    window.addEventListener("afterprint", () => closed.forEach((one) => (one.open = false)));
  }

  watchScrolling();
  document.querySelectorAll(".structure-figure").forEach(tellStories);
  openOnPaper();
})();
