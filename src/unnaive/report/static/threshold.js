/* The threshold: a slider, its confusion matrix, and the cost of its errors. */
(function () {
  "use strict";

  const holder = document.getElementById("threshold-data");
  if (holder === null) return;
  const data = JSON.parse(holder.textContent);
  const find = (id) => document.getElementById(id);
  const rows = data.positives + data.negatives;
  const percent = (share) => `${(100 * share).toFixed(1)}\u00a0%`;

  function countsAt(threshold) {
    const tp = data.true_positives[threshold];
    const fp = data.false_positives[threshold];
    return { tp, fp, fn: data.positives - tp, tn: data.negatives - fp };
  }

  /* The cost in a field; NaN if it is not a number of at least 0. */
  function costOf(id) {
    const field = find(id);
    const text = field.value.trim().replace(",", ".");
    const cost = text === "" ? NaN : Number(text);
    const valid = Number.isFinite(cost) && cost >= 0;
    field.setAttribute("aria-invalid", valid ? "false" : "true");
    return valid ? cost : NaN;
  }

  function costAt(threshold) {
    const { fp, fn } = countsAt(threshold);
    return fp * costOf("cost-positive") + fn * costOf("cost-negative");
  }

  function show() {
    const threshold = Number(find("threshold").value);
    const counts = countsAt(threshold);
    for (const [name, count] of Object.entries(counts)) {
      find(`count-${name}`).textContent = count.toLocaleString("en");
    }
    const { tp, fp, fn, tn } = counts;
    const cost = costAt(threshold);
    const precision = tp + fp > 0 ? percent(tp / (tp + fp)) : "–";
    const shown = Number.isFinite(cost)
      ? `cost ${Number(cost.toPrecision(6)).toLocaleString("en")} in total, ${(cost / rows).toPrecision(3)} per row`
      : "the costs must be numbers of at least 0";
    find("threshold-value").textContent = `${threshold}\u00a0%`;
    find("threshold-text").textContent =
      `Sensitivity ${percent(tp / data.positives)}, specificity ${percent(tn / data.negatives)}, ` +
      `precision ${precision}, accuracy ${percent((tp + tn) / rows)}; ${shown}.`;
  }

  /* The threshold with the lowest cost; of several the one in the middle. */
  function best() {
    const costs = data.true_positives.map((_, threshold) => costAt(threshold));
    const least = Math.min(...costs);
    const places = Array.from(costs.keys()).filter((place) => costs[place] === least);
    if (places.length > 0) find("threshold").value = String(places[places.length >> 1]);
    show();
  }

  for (const id of ["threshold", "cost-positive", "cost-negative"]) {
    find(id).addEventListener("input", show);
  }
  find("threshold-best").addEventListener("click", best);
  find("threshold-room").hidden = false;
  show();
})();
