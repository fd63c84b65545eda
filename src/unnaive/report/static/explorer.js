/* The explorer: fields for the values of a case, and the model's probabilities.
 *
 * All numbers come from unnaiveEngine. Names and labels reach the page as text, never as markup.
 */
(function () {
  "use strict";

  const holder = document.getElementById("explorer-data");
  if (holder === null) return;
  const given = JSON.parse(holder.textContent);
  const engine = unnaiveEngine(given.document);
  const { columns, classes } = engine;

  const FIRST_FIELDS = window.matchMedia("(max-width: 56rem)").matches ? 8 : 24;
  const FEW_FIELDS = 12; // up to which there is no search for columns
  const MOST_CLASSES = 8;
  const MOST_REASONS = 8;
  const MOST_QUESTIONS = 6;
  const LEAST_SPAN = 3; // log-odds that the picture shows at least on either side
  const MOST_LETTERS = 60; // of a name in a table
  const APART = 0.2; // share of the picture between two ticks of its axis
  const INTERVAL = given.certainty?.level ?? 0.9; // probability of the intervals
  const QUIET = 600; // milliseconds before a screen reader announces the result
  const SVG = "http://www.w3.org/2000/svg";
  const find = (id) => document.getElementById(id);

  const cells = columns.map(() => null);
  const fields = new Map(); // by column: {box, select, input, wrong}
  const order = given.order.filter((column) => columns[column].used);
  const posterior = () => Array.from(engine.posterior(cells));
  const prior = posterior();
  let followed = true; // whether "why" shows the most probable class of several
  const shownFields = new Set(order.slice(0, FIRST_FIELDS));

  // ---- words and numbers ----------------------------------------------------------------------

  function percent(share) {
    if (share === 0 || share === 1) return `${100 * share}\u00a0%`;
    if (share < 0.0005) return "<\u00a00.1\u00a0%";
    if (share > 0.9995) return ">\u00a099.9\u00a0%";
    return `${(100 * share).toFixed(1)}\u00a0%`;
  }

  function signed(value) {
    if (!Number.isFinite(value)) return value > 0 ? "+∞" : "−∞";
    const text = Math.abs(value).toFixed(2);
    return Math.abs(value) < 0.005 ? "0.00" : (value < 0 ? "−" : "+") + text;
  }

  function shortened(text) {
    return text.length <= MOST_LETTERS ? text : text.slice(0, MOST_LETTERS - 1) + "…";
  }

  const plural = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;
  const shortNumber = (number) => String(Number(number.toPrecision(4)));
  const probability = (logOdds) => 1 / (1 + Math.exp(-logOdds));
  const logOddsOf = (share) => Math.log(share / (1 - share));

  /* "74.1–88.0 %", or one bound where both are written alike. */
  function range(low, high) {
    const [first, last] = [percent(low), percent(high)];
    if (first === last) return first;
    return /[<>]/.test(first + last) ? `${first} – ${last}` : `${first.replace("\u00a0%", "")}–${last}`;
  }

  /* A column with its value: "age = 61", "age > 58.5", "age in (40, 58.5]", "age missing". */
  function knownAs(column) {
    const { name, kind, labels, missing } = columns[column];
    if (cells[column] === missing) return `${name} missing`;
    if (kind === "number") return `${name} = ${cells[column]}`;
    const label = labels[cells[column]];
    if (kind === "category" || labels.length === 1) return `${name} = ${label}`;
    return /^[≤>]/.test(label) ? `${name} ${label}` : `${name} in ${label}`;
  }

  // ---- elements -------------------------------------------------------------------------------

  function make(name, attributes = {}, ...inside) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...inside);
    return made;
  }

  const isolated = (text) => make("bdi", {}, text);

  function shape(name, attributes) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  }

  /* A bar between two shares of its table cell's width, and lines at others. */
  function bar(low, high, kind, marks = [], markKind = "mark") {
    const made = shape("svg", {
      viewBox: "0 0 100 10",
      preserveAspectRatio: "none",
      class: "bar",
      "aria-hidden": "true",
    });
    const [left, right] = [Math.min(low, high), Math.max(low, high)];
    const width = 100 * (right - left);
    const lines = marks.map((at) =>
      shape("line", { x1: 100 * at, x2: 100 * at, y1: -2, y2: 12, class: markKind }),
    );
    const own = shape("rect", { x: 100 * left, y: 0, width, height: 10, class: kind });
    made.append(...(markKind === "mark" ? [...lines, own] : [own, ...lines]));
    return made;
  }

  function option(value, text) {
    const made = make("option", { value });
    made.textContent = text;
    return made;
  }

  // ---- fields ---------------------------------------------------------------------------------

  function makeField(column) {
    const { name, kind, labels, missing } = columns[column];
    const id = `field-${column}`;
    const box = make("div", { class: "field", "data-column": column });
    const inputs = make("div", { class: "inputs" });
    const field = { box, select: null, input: null, wrong: make("p", { class: "wrong", id: `${id}-wrong` }) };
    box.append(make("label", { for: id }, isolated(name)), inputs, field.wrong);
    if (kind !== "category" && given.ranges[column] !== null) {
      const range = given.ranges[column].map(shortNumber).join(" to ");
      box.insertBefore(make("span", { class: "range" }, `data: ${range}`), inputs);
    }
    if (kind !== "number" || missing !== undefined) {
      field.select = make("select", { id });
      field.select.append(option("", missing === undefined ? "missing" : "unknown"));
      if (kind === "number") field.select.append(option(missing, "missing"));
      given.orders[column].forEach((code) => field.select.append(option(code, labels[code])));
      field.select.addEventListener("change", () => chooseValue(column));
      inputs.append(field.select);
    }
    if (kind !== "category") {
      field.input = make("input", { type: "text", "aria-describedby": field.wrong.id });
      if (!((columns[column].low ?? columns[column].edges[0]) < 0)) field.input.inputMode = "decimal";
      field.input.placeholder = "number";
      if (field.select === null) field.input.id = id;
      else field.input.setAttribute("aria-label", `${name}, as a number`);
      field.input.addEventListener("input", () => typeNumber(column));
      inputs.append(field.input);
    }
    fields.set(column, field);
    return box;
  }

  const cellOf = (column, text) => (text === columns[column].missing ? text : Number(text));

  function chooseValue(column) {
    const { select, input } = fields.get(column);
    cells[column] = select.value === "" ? null : cellOf(column, select.value);
    if (input !== null) input.value = "";
    complain(column, "");
    updateAloud();
  }

  function typeNumber(column) {
    const { select, input } = fields.get(column);
    const text = input.value.trim().replace(",", ".");
    const number = text === "" ? null : Number(text);
    const isNumber = number === null || Number.isFinite(number);
    complain(column, isNumber ? outside(column, number) : "This is not a number; the column counts as missing.", !isNumber);
    cells[column] = number === null || !isNumber ? null : engine.codeOf(column, number);
    if (select !== null) select.value = cells[column] === null ? "" : String(cells[column]);
    updateAloud();
  }

  /* A warning about a number outside the range of the data, or nothing. */
  function outside(column, number) {
    const range = given.ranges[column];
    if (number === null || range === null || (number >= range[0] && number <= range[1])) return "";
    return `Outside the data, which range from ${shortNumber(range[0])} to ${shortNumber(range[1])}: the model extrapolates.`;
  }

  function complain(column, text, invalid = false) {
    const { wrong, input } = fields.get(column);
    wrong.textContent = text;
    if (input !== null) input.setAttribute("aria-invalid", invalid ? "true" : "false");
  }

  function setCell(column, cell, number) {
    const { select, input } = fields.get(column);
    cells[column] = cell;
    if (select !== null) select.value = cell === null ? "" : String(cell);
    if (input !== null) input.value = cell === null || number === null ? "" : String(number);
    complain(column, "");
  }

  function reset() {
    for (const column of order) setCell(column, null, null);
    find("load").value = "";
    followed = true;
    updateAloud();
  }

  function loadRow(place) {
    const row = given.rows[place];
    for (const column of order) setCell(column, row.codes[column], row.numbers[column]);
    find("load").value = String(place);
    followed = true;
    updateAloud();
  }

  /* Show the first fields, or all, or those whose names contain the text of the search. */
  function showFields() {
    const wanted = find("filter").value.trim().toLowerCase();
    let shown = 0;
    for (const column of order) {
      const named = columns[column].name.toLowerCase().includes(wanted);
      const isShown = wanted === "" ? shownFields.has(column) : named;
      fields.get(column).box.hidden = !isShown;
      shown += isShown ? 1 : 0;
    }
    find("no-fields").hidden = shown > 0;
    find("more").hidden = shownFields.size === order.length || wanted !== "";
  }

  function goTo(column) {
    find("filter").value = "";
    shownFields.add(column);
    showFields();
    const { box, select, input } = fields.get(column);
    box.scrollIntoView({ block: "center" });
    (select ?? input).focus({ preventScroll: true });
  }

  // ---- probabilities ---------------------------------------------------------------------------

  /* A thin line with ends across a bar, from one share to another. */
  function addSpan(picture, low, high) {
    const line = (x1, y1, x2, y2) =>
      shape("line", { x1: 100 * x1, x2: 100 * x2, y1, y2, class: "span" });
    picture.append(line(low, 5, high, 5), line(low, 2, low, 8), line(high, 2, high, 8));
  }

  /* The classes that cannot be excluded, by held-out rows. */
  function showSet(chances) {
    find("set").hidden = !given.certainty;
    if (!given.certainty) return;
    const { level, least } = given.certainty;
    const inside = chances.map((_, code) => code).filter((code) => chances[code] >= least);
    const told = inside.flatMap((code, i) => [i ? ", " : "", isolated(shortened(classes[code]))]);
    const name = make("b", {}, ...(inside.length ? told : ["none"]));
    find("set").dataset.classes = inside.join();
    find("set").replaceChildren(`Set of classes that covers ${100 * level}\u00a0% of cases: `, name);
    if (!inside.length) find("set").append(" (no class fits like those of the data)");
  }

  function showPosterior(chances) {
    const bounds = engine.interval === null ? null : engine.interval(cells, INTERVAL);
    const best = chances.indexOf(Math.max(...chances));
    let listed = chances.map((_, code) => code);
    if (listed.length > MOST_CLASSES) {
      listed.sort((a, b) => chances[b] - chances[a] || a - b);
      listed = listed.slice(0, MOST_CLASSES - 1);
    }
    const lines = listed.map((code) => {
      const line = make("tr", { "data-class": code, "data-probability": chances[code] });
      if (code === best) line.className = "first";
      line.title = `${chances[code]}; the thin line is the starting probability`;
      const picture = bar(0, chances[code], code === best ? "best" : "total", [prior[code]], "prior");
      const told = make("td", { class: "n" }, percent(chances[code]));
      if (bounds !== null) {
        const [low, high] = [bounds.lower[code], bounds.upper[code]];
        addSpan(picture, low, high);
        told.append(make("small", {}, range(low, high)));
        Object.assign(line.dataset, { lower: low, upper: high });
      }
      line.append(
        make("th", { scope: "row" }, isolated(shortened(classes[code]))),
        make("td", {}, picture),
        told,
        make("td", { class: "share" }, percent(given.shares[code])),
      );
      return line;
    });
    if (listed.length < chances.length) {
      const rest = 1 - listed.reduce((sum, code) => sum + chances[code], 0);
      const line = make("tr", { class: "muted" });
      line.append(
        make("th", { scope: "row" }, `${chances.length - listed.length} other classes`),
        make("td", {}, bar(0, Math.max(0, rest), "total")),
        make("td", { class: "n" }, percent(Math.max(0, rest))),
        make("td"),
      );
      lines.push(line);
    }
    find("posterior").replaceChildren(...lines);
    showSet(chances);
    const known = order.filter((column) => cells[column] !== null).length;
    find("known-count").textContent =
      known === 0
        ? "All columns are missing: these are the model’s starting probabilities."
        : `${known} of ${plural(order.length, "column")} known. Thin lines: starting probability.`;
  }

  let spoken;
  function announce(chances) {
    clearTimeout(spoken);
    spoken = setTimeout(() => {
      const ranked = chances.map((_, code) => code).sort((a, b) => chances[b] - chances[a] || a - b);
      const told = ranked.slice(0, 3).map((code) => `${classes[code]} ${percent(chances[code])}`);
      find("announcement").textContent = told.join(", ");
    }, QUIET);
  }

  // ---- contributions-----------------------------------------------------------------------------

  /* Contributions by column or group of columns, the largest first. */
  function reasonsFor(code) {
    const { base, terms } = engine.logOdds(cells, code);
    const found = new Map();
    for (const { columns: own, through, contribution } of terms) {
      const key = own.join();
      const entry = found.get(key) ?? { own, through: new Set(), contribution: 0 };
      entry.contribution += contribution;
      if (contribution !== 0) through.forEach((column) => entry.through.add(column));
      found.set(key, entry);
    }
    const reasons = Array.from(found.values()).filter(({ contribution }) => contribution !== 0);
    reasons.sort((a, b) => Math.abs(b.contribution) - Math.abs(a.contribution));
    return { base, reasons };
  }

  function reasonName({ own, through }) {
    const named = own.filter((column) => cells[column] !== null);
    const what = named.map((column) => shortened(knownAs(column))).join(", ");
    const name = make("th", { scope: "row" }, isolated(what));
    const beside = Array.from(through, (column) => columns[column].name);
    if (beside.length > 0) name.title = `given ${beside.join(", ")}`;
    return name;
  }

  function showReasons(code) {
    const { base, reasons } = reasonsFor(code);
    const shown = reasons.slice(0, MOST_REASONS);
    const rest = reasons.slice(MOST_REASONS);
    const steps = shown.map((reason) => [reasonName(reason), reason.contribution]);
    if (rest.length > 0) {
      const left = rest.reduce((sum, { contribution }) => sum + contribution, 0);
      steps.push([make("th", { scope: "row" }, plural(rest.length, "other column")), left]);
    }
    const sums = [base];
    for (const [, contribution] of steps) sums.push(sums[sums.length - 1] + contribution);
    const axis = axisOf(sums);
    const first = make("th", { scope: "row" }, "starting probability");
    const last = make("th", { scope: "row" }, "predicted probability");
    const lines = steps.map(([name, contribution], i) =>
      reasonLine(name, signed(contribution), axis, sums[i], sums[i + 1], contribution < 0 ? "against" : "for"),
    );
    lines.unshift(reasonLine(first, percent(probability(base)), axis, 0, base, "total"));
    lines.push(reasonLine(last, percent(probability(sums[sums.length - 1])), axis, 0, sums[sums.length - 1], "total"));
    lines[0].className = lines[lines.length - 1].className = "sum";
    find("why").replaceChildren(...lines, axisLine(axis));
  }

  function reasonLine(name, told, axis, from, to, kind) {
    const line = make("tr");
    const picture = make("td", { class: "picture" }, bar(axis.share(from), axis.share(to), kind, axis.marks));
    line.append(name, make("td", { class: "n" }, told), picture);
    return line;
  }

  function axisOf(sums) {
    const finite = sums.filter(Number.isFinite);
    let low = Math.min(-LEAST_SPAN, ...finite);
    let high = Math.max(LEAST_SPAN, ...finite);
    const pad = 0.04 * (high - low);
    [low, high] = [low - pad, high + pad];
    const share = (value) => Math.min(1, Math.max(0, (value - low) / (high - low)));
    const inside = [0.5];
    for (const p of [0.1, 0.9, 0.01, 0.99, 0.001, 0.999]) {
      const at = share(logOddsOf(p));
      const apart = inside.every((other) => Math.abs(share(logOddsOf(other)) - at) >= APART);
      if (at > 0.04 && at < 0.96 && apart) inside.push(p);
    }
    return { share, inside, marks: inside.map((p) => share(logOddsOf(p))) };
  }

  function axisLine(axis) {
    const picture = make("td", { class: "picture" });
    axis.inside.forEach((p, i) => {
      const tick = make("span", {}, `${100 * p}\u00a0%`);
      tick.style.left = `${100 * axis.marks[i]}%`;
      picture.append(tick);
    });
    const line = make("tr", { class: "axis-labels", "aria-hidden": "true" });
    line.append(make("th"), make("td"), picture);
    return line;
  }

  // ---- what to ask next -----------------------------------------------------------------------

  let asked;
  function showQuestions() {
    clearTimeout(asked);
    asked = setTimeout(() => {
      const found = engine.askNext(cells).slice(0, MOST_QUESTIONS);
      const most = Math.max(1e-9, ...found.map(({ bits }) => bits));
      const entries = found.map(({ column, bits }) => {
        const told = make("span", { class: "bits" }, bits < 0.0005 ? "<\u00a00.001" : bits.toFixed(3));
        const button = make("button", { type: "button", "data-ask": column });
        button.append(isolated(shortened(columns[column].name)), bar(0, bits / most, "total"), told);
        button.addEventListener("click", () => goTo(column));
        return make("li", {}, button);
      });
      if (entries.length === 0) entries.push(make("li", {}, "No column is missing."));
      find("next").replaceChildren(...entries);
    }, 0);
  }

  // ---- all of it ------------------------------------------------------------------------------

  function update() {
    const chances = posterior();
    const picker = find("why-class");
    if (followed) {
      const best = chances.indexOf(Math.max(...chances));
      picker.value = String(classes.length === 2 ? given.positive : best);
    }
    for (const column of order) {
      fields.get(column).box.classList.toggle("known", cells[column] !== null);
    }
    showPosterior(chances);
    showReasons(Number(picker.value));
    showQuestions();
    showFields();
    return chances;
  }

  const updateAloud = () => announce(update());

  function begin() {
    if (engine.interval !== null) {
      find("interval-head").textContent = ` and ${100 * INTERVAL}\u00a0% interval`;
    }
    find("fields").append(...order.map(makeField));
    classes.forEach((label, code) => find("why-class").append(option(code, label)));
    find("why-class").addEventListener("change", () => {
      followed = false;
      updateAloud();
    });
    find("load").append(option("", "choose a row"));
    given.rows.forEach((row, place) => find("load").append(option(place, row.title)));
    find("load-label").hidden = given.rows.length === 0;
    find("load").addEventListener("change", () => {
      if (find("load").value === "") reset();
      else loadRow(Number(find("load").value));
    });
    find("filter-label").hidden = order.length <= FEW_FIELDS;
    find("filter").addEventListener("input", showFields);
    find("more").textContent = `Show all ${order.length} columns`;
    find("more").addEventListener("click", () => {
      const next = order.find((column) => !shownFields.has(column));
      order.forEach((column) => shownFields.add(column));
      showFields();
      fields.get(next).box.querySelector("select, input").focus();
    });
    find("reset").addEventListener("click", reset);
    find("controls").addEventListener("submit", (event) => event.preventDefault());
    for (const button of document.querySelectorAll("[data-load-row]")) {
      button.addEventListener("click", () => {
        loadRow(Number(button.dataset.loadRow));
        const title = find("explorer-title");
        title.setAttribute("tabindex", "-1");
        title.focus();
      });
    }
    find("explorer-room").hidden = false;
    update();
  }

  begin();
})();
