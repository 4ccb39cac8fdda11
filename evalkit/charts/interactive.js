// Fills the part of a report's page in which one looks around. All data stands in the page; nothing is asked of anyone.
// Names come from reports and are put in as text only. Of test the data has no number but at the chosen threshold.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const at = (id) => document.getElementById(id);
  const SVG = "http://www.w3.org/2000/svg";
  const DENSE = 20; // most classes of a confusion matrix whose counts are written
  const LONG = 18; // most characters of a class name that stands in a matrix uncut
  const LARGE = {
    bins: "the reliability diagram",
    curve: "the curve",
    classes: "the classes",
    cells: "the confusion matrix",
  };

  // What is shown: an entry, a view of it, and how many of the curve's cuts are accepted (0: none).
  const state = { entry: null, view: null, place: 0, sorted: { column: 0, descending: false } };

  // --- numbers as the static page writes them ---

  function fixed(value, places) {
    // toFixed rounds a tie up; the report rounds it to even.
    const text = value.toFixed(places);
    const tie = Math.abs(value * 2 ** (places + 1)) % 2 === 1;
    return tie && Number(text.at(-1)) % 2 === 1 ? (value * (1 - Number.EPSILON)).toFixed(places) : text;
  }

  function general(value) {
    if (!Number.isFinite(value)) return String(value);
    const [mantissa, exponent] = value.toExponential(5).split("e");
    if (exponent === "-4") return String(Number(`${mantissa}e-4`));
    return `${Number(mantissa)}e${exponent[0]}${exponent.slice(1).padStart(2, "0")}`;
  }

  function number(value, limit) {
    if (value === null) return "–";
    if (value !== 0 && !(Math.abs(value) >= 1e-4 && Math.abs(value) < 1e6)) return general(value);
    const apart = [0, 1, limit].filter((one) => typeof one === "number" && one !== value);
    for (let places = 4; places < 13; places += 1) {
      const text = fixed(value, places);
      if (!apart.includes(Number(text))) return text;
    }
    return String(value);
  }

  const count = (value) => (value === null ? "–" : value.toLocaleString("en-US"));
  const shown = (value, counted) => (counted ? count(value) : number(value));
  const exact = (cut) => (Number.isInteger(cut) ? cut.toFixed(1) : String(cut));
  const ratio = (part, whole) => (part === null || !whole ? null : part / whole);

  function limitText(limit, direction) {
    const plain = Math.abs(limit) < 1e6 && limit === Math.round(limit * 100) / 100;
    const text = plain ? limit.toFixed(2) : String(Number(limit.toPrecision(6)));
    return `${direction === "lower" ? "≤" : "≥"} ${text}`;
  }

  // --- elements ---

  function make(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }

  function draw(svg, tag, attributes, text) {
    const made = document.createElementNS(SVG, tag);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    svg.append(made);
    return made;
  }

  const name = (text) => make("bdi", {}, text);
  function titled(text) {
    const made = name(text);
    made.title = text;
    return made;
  }

  const row = (first, ...cells) =>
    make("tr", {}, make("th", { scope: "row" }, first), ...cells.map((one) => make("td", {}, one)));
  const fill = (id, rows) =>
    at(id)
      .querySelector("tbody")
      .replaceChildren(...rows);

  function label(place, classes) {
    // Long names are cut where they stand, so each has its number among the classes: none is mistaken for another.
    const long = classes.some((one) => data.labels[one].length > LONG);
    return long ? `${classes.indexOf(place) + 1}. ${data.labels[place]}` : data.labels[place];
  }

  // --- charts ---

  function frame(svg, { x, y, yFrom, high, alt }) {
    const wide = Math.max(240, Math.min(440, svg.clientWidth || 440));
    const box = { left: 50, right: wide - 14, top: 12, bottom: high - 38 };
    svg.setAttribute("viewBox", `0 0 ${wide} ${high}`);
    svg.setAttribute("aria-label", alt);
    svg.replaceChildren();
    const X = (value) => box.left + value * (box.right - box.left);
    const Y = (value) => box.bottom - ((value - yFrom) / (1 - yFrom)) * (box.bottom - box.top);
    const step = yFrom >= 0.5 ? 0.1 : 0.2;
    for (let up = 1; up > yFrom - step / 2; up -= step) {
      draw(svg, "line", { class: "grid", x1: box.left, x2: box.right, y1: Y(up), y2: Y(up) });
      draw(svg, "text", { x: box.left - 6, y: Y(up) + 4, "text-anchor": "end" }, Math.abs(up).toFixed(2));
    }
    for (const across of [0, 0.25, 0.5, 0.75, 1]) {
      draw(svg, "text", { x: X(across), y: box.bottom + 16, "text-anchor": "middle" }, across.toFixed(2));
    }
    draw(svg, "path", { class: "axis", d: `M${box.left},${box.top}V${box.bottom}H${box.right}` });
    draw(svg, "text", { x: (box.left + box.right) / 2, y: high - 6, "text-anchor": "middle" }, x);
    const turned = `translate(12,${(box.top + box.bottom) / 2}) rotate(-90)`;
    draw(svg, "text", { transform: turned, "text-anchor": "middle" }, y);
    return { X, Y, box };
  }

  // An accuracy with the ends of its interval, where the report has them.
  const surely = (right, low, high) =>
    low === undefined ? number(right) : `${number(right)} [${number(low)}, ${number(high)}]`;

  function toldOfBin([from, to, n, mean, right, low, high]) {
    const place = `${from.toFixed(2)} to ${to.toFixed(2)}`;
    return `${place}: ${count(n)} records, mean confidence ${number(mean)}, accuracy ${surely(right, low, high)}`;
  }

  function drawBins() {
    const bins = state.view.bins || [];
    at("bins-pane").hidden = bins.length === 0;
    if (bins.length === 0) return;
    const told = bins.map(toldOfBin);
    const alt = `Reliability. ${told.join(". ")}`;
    const { X, Y, box } = frame(at("bins"), { x: "confidence", y: "accuracy", yFrom: 0, high: 340, alt });
    for (const [from, to, n, mean, right] of bins) {
      if (right === null) continue;
      const wide = X(to) - X(from);
      const bar = draw(at("bins"), "rect", {
        class: "bar",
        x: X(from),
        y: Y(right),
        width: wide,
        height: Y(0) - Y(right),
      });
      draw(bar, "title", {}, `${from} to ${to}: ${count(n)} records, accuracy ${number(right)}`);
      const where = { class: "inside", x: (X(from) + X(to)) / 2, y: box.bottom - 5, "text-anchor": "middle" };
      if (wide >= 7 * count(n).length) draw(at("bins"), "text", where, count(n));
    }
    draw(at("bins"), "line", { class: "ideal", x1: X(0), y1: Y(0), x2: X(1), y2: Y(1) });
    const sure = bins.some((one) => one.length > 5);
    for (const [, , , mean, right, low, high] of bins) {
      if (right === null || mean === null) continue;
      if (!sure) draw(at("bins"), "line", { class: "gap", x1: X(mean), x2: X(mean), y1: Y(mean), y2: Y(right) });
      if (low !== undefined) {
        const caps = [low, high].map((end) => `M${X(mean) - 4},${Y(end)}H${X(mean) + 4}`).join("");
        draw(at("bins"), "path", { class: "whisker", d: `M${X(mean)},${Y(low)}V${Y(high)}${caps}` });
      }
      draw(at("bins"), "circle", { class: "dot", cx: X(mean), cy: Y(right), r: bins.length > 24 ? 2 : 3.5 });
    }
    fill(
      "bins-table",
      bins.map(([from, to, n, mean, right, low, high]) =>
        row(`${from} to ${to}`, count(n), number(mean), surely(right, low, high)),
      ),
    );
  }

  const isWhole = () => state.view === state.entry.views[0];
  const cuts = () => (state.view.curve ? state.view.curve.cuts : []);
  const value = (title) => (state.view.numbers.find((one) => one[0] === title) || [])[1] ?? null;

  // How many of the cuts lie at or above a cut: that many steps of the slider are accepted.
  const placeOf = (cut) => (cut === null ? 0 : cuts().filter((one) => one[0] >= cut).length);
  const isChosen = () => state.entry.threshold !== null && state.place === placeOf(state.entry.threshold);

  function here() {
    const [cut, accepted, right] = state.place ? cuts()[state.place - 1] : [null, 0, 0];
    const { total } = state.view.curve;
    const named = isChosen() ? state.entry.threshold : cut;
    return { cut: named, accepted, total, coverage: ratio(accepted, total), precision: ratio(right, accepted) };
  }

  function drawCurve() {
    const { entry, view } = state;
    at("curve-pane").hidden = !("chosen" in entry);
    if (at("curve-pane").hidden) return;
    const moves = cuts().length > 0;
    const points = cuts().map(([, accepted, right]) => [accepted / view.curve.total, right / accepted]);
    const chosen = isWhole() ? { coverage: entry.chosen[2], precision: entry.chosen[3] } : chosenHere();
    const test = { coverage: value("coverage"), precision: value("precision at coverage") };
    const heights = [...points.map((one) => one[1]), chosen.precision, test.precision, entry.precisionLimit];
    const lowest = Math.min(1, ...heights.filter((one) => one !== null));
    const yFrom = Math.max(0, (Math.floor(lowest * 10) - 1) / 10);
    const drawn = moves ? `${count(points.length)} cuts` : "the chosen threshold only";
    const limits = `Precision gate ${entry.precisionLimit}, coverage floor ${entry.floor}.`;
    const alt = `Coverage and precision on validation, ${drawn}. ${limits}`;
    const place = frame(at("curve"), { x: "coverage", y: "precision", yFrom, high: 300, alt });
    state.toPlace = (clientX) => nearest(clientX, at("curve"), place.box, points);
    drawLimits(at("curve"), place);
    drawPoints(at("curve"), place, points, chosen, test);
    if (moves) drawHand(at("curve"), place);
    captionCurve(moves);
  }

  function drawLimits(svg, { X, Y, box }) {
    const { floor, precisionLimit } = state.entry;
    const left = floor > 0.6;
    const beside = { x: X(floor) + (left ? -4 : 4), y: box.bottom - 6, "text-anchor": left ? "end" : "start" };
    draw(svg, "line", { class: "floor", x1: X(floor), x2: X(floor), y1: box.top, y2: box.bottom });
    draw(svg, "text", beside, `coverage floor ${floor}`);
    if (precisionLimit === null) return;
    const y = Y(precisionLimit);
    draw(svg, "line", { class: "limit", x1: box.left, x2: box.right, y1: y, y2: y });
    draw(svg, "text", { class: "gate", x: box.left + 4, y: y - 5 }, `precision gate ${precisionLimit}`);
  }

  function drawPoints(svg, { X, Y }, points, chosen, test) {
    const line = points.map(([x, y]) => `${X(x)},${Y(y)}`).join(" ");
    if (points.length) draw(svg, "polyline", { class: "line", points: line });
    if (chosen.precision !== null) {
      const [x, y] = [X(chosen.coverage), Y(chosen.precision)];
      draw(svg, "path", { class: "chosen", d: `M${x},${y - 7}L${x + 7},${y}L${x},${y + 7}L${x - 7},${y}Z` });
    }
    if (test.precision !== null) {
      const [x, y] = [X(test.coverage) - 4.5, Y(test.precision) - 4.5];
      draw(svg, "rect", { class: "test", x, y, width: 9, height: 9 });
    }
  }

  function chosenHere() {
    if (!cuts().length || state.entry.threshold === null) return { coverage: null, precision: null };
    const place = placeOf(state.entry.threshold);
    if (!place) return { coverage: null, precision: null };
    const [, accepted, right] = cuts()[place - 1];
    return { coverage: accepted / state.view.curve.total, precision: right / accepted };
  }

  function drawHand(svg, { X, Y, box }) {
    const { coverage, precision } = here();
    draw(svg, "line", { class: "hand", x1: X(coverage), x2: X(coverage), y1: box.top, y2: box.bottom });
    if (precision !== null) draw(svg, "circle", { class: "grip", cx: X(coverage), cy: Y(precision), r: 9 });
  }

  function captionCurve(moves) {
    const { curve, lacks = [] } = state.view;
    const marks = "Filled diamond: the chosen threshold on validation. Open square: the same on test.";
    const said = [state.entry.threshold === null ? "No threshold was chosen." : marks];
    if (moves) {
      const some = curve.of > curve.cuts.length;
      said.unshift(
        `Line: ${some ? `${count(curve.cuts.length)} of ${count(curve.of)} cuts` : "every cut"} on validation.`,
      );
      said.push("Circle: your cut.");
    } else if (curve) said.push("Validation has no suggestion here, so there is no curve.");
    else if (lacks.includes("curve")) said.push("The curve is left out of this page.");
    else said.push("The whole curve is in a results folder only: compare --out.");
    at("curve-caption").textContent = said.join(" ");
  }

  function nearest(clientX, svg, box, points) {
    const bounds = svg.getBoundingClientRect();
    const scale = svg.viewBox.baseVal.width / bounds.width;
    const coverage = ((clientX - bounds.left) * scale - box.left) / (box.right - box.left);
    const all = [0, ...points.map((one) => one[0])];
    const far = all.map((one) => Math.abs(one - coverage));
    return far.indexOf(Math.min(...far));
  }

  // --- the cut ---

  function showCut() {
    at("cutting").hidden = cuts().length === 0;
    at("curve").classList.toggle("moves", cuts().length > 0);
    if (cuts().length === 0) return;
    const now = here();
    const { entry } = state;
    const named = now.cut === null ? "above every confidence" : exact(now.cut);
    at("cut").max = cuts().length;
    at("cut").value = state.place;
    at("cut").setAttribute("aria-valuetext", `cut ${named}${isChosen() ? ", the chosen threshold" : ""}`);
    at("back").disabled = isChosen() || entry.threshold === null;
    const [floor, limit] = [entry.floor, entry.precisionLimit];
    const tested = `${count(value("accepted"))} of ${count(value("records"))}`;
    const test = (text) => (isChosen() ? text : "–");
    fill("at-cut", [
      row("cut", isChosen() ? `${named} (chosen)` : named, isChosen() ? named : "not shown"),
      row("accepted", `${count(now.accepted)} of ${count(now.total)}`, test(tested)),
      row("coverage", number(now.coverage, floor), test(number(value("coverage"), floor))),
      row("precision", number(now.precision, limit), test(number(value("precision at coverage"), limit))),
      ...(isWhole() ? [row(`floor ${floor}`, now.coverage >= floor ? "reached" : "not reached", "–")] : []),
    ]);
  }

  function sayCut() {
    const now = here();
    const chosen = isChosen() ? ", the chosen threshold," : "";
    const cut = now.cut === null ? "A cut above every confidence" : `Cut ${exact(now.cut)}${chosen}`;
    const accepted = `${count(now.accepted)} of ${count(now.total)} validation records`;
    const numbers = `coverage ${number(now.coverage)}, precision ${number(now.precision)}`;
    const test = `coverage ${number(value("coverage"))}, precision ${number(value("precision at coverage"))}`;
    const tested = isChosen() ? `On test: ${test}.` : "Test is shown for the chosen threshold only.";
    at("said").textContent = `${cut} accepts ${accepted}: ${numbers}. ${tested}`;
  }

  function moveTo(place) {
    const next = Math.max(0, Math.min(cuts().length, place));
    if (next === state.place || !cuts().length) return;
    state.place = next;
    drawCurve();
    showCut();
    sayCut();
  }

  // --- tables ---

  const RULED = {
    passed: ["✓ passed", "met"],
    failed: ["✗ failed", "missed"],
    insufficient: ["△ insufficient evidence", "unsettled"],
  };

  function judged(found, passed, ruling) {
    if (found === null) return ["not measured", ""];
    return RULED[ruling] || (passed ? ["✓ met", "met"] : ["✗ missed", "missed"]);
  }

  function showGates() {
    const { gates } = state.entry;
    at("gates-pane").hidden = !gates;
    if (!gates) return;
    fill(
      "gates",
      gates.map(([title, found, limit, direction, passed, ruling, bound, counted]) => {
        const [outcome, kind] = judged(found, passed, ruling);
        const held = (bound ?? null) === null ? "" : `, bound ${number(bound, limit)}`;
        const wanted = counted ? `${direction === "lower" ? "≤" : "≥"} ${count(limit)}` : limitText(limit, direction);
        const value = counted ? count(found) : number(found, limit);
        return row(title, value, `${wanted}${held}`, make("span", { class: kind }, outcome));
      }),
    );
  }

  const withEnds = (text, ends) => (ends ? `${text} ${ends}` : text);

  function showNumbers() {
    const { view } = state;
    const { threshold } = state.entry;
    const where = threshold === null ? "On test, without a threshold" : "On test, at the threshold";
    at("numbers").caption.textContent = threshold === undefined ? "Numbers" : where;
    fill(
      "numbers",
      view.numbers.map(([title, found, counted, ends]) => row(title, withEnds(shown(found, counted), ends))),
    );
    at("abstentions-pane").hidden = !view.abstentions;
    if (!view.abstentions) return;
    const total = value("records");
    fill(
      "abstentions",
      view.abstentions.map(([why, n]) => row(why, count(n), number(ratio(n, total)))),
    );
    const more = view.excluded.length === 20 ? ", …" : "";
    at("excluded").hidden = view.excluded.length === 0;
    at("excluded").replaceChildren(
      "Of these classes every record abstained: ",
      name(view.excluded.join(", ") + more),
      ".",
    );
  }

  function showClasses() {
    const { classes } = state.view;
    at("classes-pane").hidden = !classes || classes.rows.length === 0;
    if (at("classes-pane").hidden) return;
    const { column, descending } = state.sorted;
    const titles = ["class", ...classes.columns.map((one) => one[0])];
    at("classes")
      .querySelector("thead tr")
      .replaceChildren(
        ...titles.map((title, place) => {
          const button = make("button", { type: "button" }, title);
          button.addEventListener("click", () => sortBy(place));
          const sorted = place !== column ? "none" : descending ? "descending" : "ascending";
          return make("th", { scope: "col", "aria-sort": sorted }, button);
        }),
      );
    const known = classes.rows.map((one) => one[0]);
    const ends = (one, place) => ((classes.ends || {})[one[0]] || [])[place];
    const texts = (one) =>
      one.slice(1).map((found, place) => withEnds(shown(found, classes.columns[place][1]), ends(one, place)));
    const rows = ordered(classes.rows, column, descending);
    fill(
      "classes",
      rows.map((one) => row(titled(label(one[0], known)), ...texts(one))),
    );
    const left = classes.of - classes.rows.length;
    at("classes-caption").hidden = left === 0;
    at("classes-caption").textContent = `${count(left)} more classes are not in this page.`;
  }

  function ordered(rows, column, descending) {
    // Names keep the order of the report; what was not measured comes last either way.
    const side = descending ? -1 : 1;
    const keyed = rows.map((one, place) => ({ one, key: column ? one[column] : place }));
    keyed.sort((a, b) => (a.key === null) - (b.key === null) || side * (a.key - b.key));
    return keyed.map((each) => each.one);
  }

  function sortBy(column) {
    const { sorted } = state;
    const again = sorted.column === column;
    state.sorted = { column, descending: again ? !sorted.descending : column > 0 };
    showClasses();
    const button = at("classes").querySelectorAll("thead button")[column];
    button.focus();
    const first = state.sorted.descending ? "highest" : "lowest";
    at("said").textContent = `Classes sorted by ${button.textContent}, ${first} first.`;
  }

  function showCells() {
    const { cells } = state.view;
    at("cells-pane").hidden = !cells || cells.cells.length === 0;
    if (at("cells-pane").hidden) return;
    const { labels, totals } = cells;
    const names = labels.map((one) => label(one, labels));
    const grid = labels.map(() => labels.map(() => 0));
    for (const [truth, predicted, n] of cells.cells) grid[truth][predicted] = n;
    const corner = make("td", {}, "true \\ predicted");
    const across = names.map((one) => make("th", { scope: "col", title: one }, make("span", {}, name(one))));
    const body = grid.map((line, truth) => {
      const down = make("th", { scope: "row", title: names[truth] }, name(names[truth]));
      return make("tr", {}, down, ...line.map((n, predicted) => cell(n, truth, predicted, totals[truth], names)));
    });
    at("cells").classList.toggle("dense", labels.length > DENSE);
    at("cells").classList.toggle(
      "long",
      names.some((one) => one.length > 4),
    );
    at("cells").replaceChildren(make("thead", {}, make("tr", {}, corner, ...across)), make("tbody", {}, ...body));
    const some = `The ${count(labels.length)} classes of most records, of ${count(cells.of)}.`;
    at("cells-some").textContent = cells.of > labels.length ? some : "";
  }

  function cell(n, truth, predicted, total, names) {
    const step = n ? `s${Math.min(5, 1 + Math.floor((n * 5) / total))}` : "zero";
    const made = make("td", { class: truth === predicted ? `${step} right` : step }, count(n));
    if (n) made.title = `true ${names[truth]}, predicted ${names[predicted]}: ${count(n)} of ${count(total)}`;
    return made;
  }

  // --- choices ---

  function showAll() {
    const { entry, view } = state;
    const reason = entry.reason ? `: ${entry.reason}` : "";
    const threshold = entry.threshold ?? null;
    const chosen = threshold === null ? "" : `; threshold ${exact(threshold)}, chosen on validation`;
    at("outcome").textContent = entry.outcome ? `${entry.outcome}${reason}${chosen}` : "";
    const lacks = (view.lacks || []).map((one) => LARGE[one]);
    at("lacks").hidden = lacks.length === 0;
    at("lacks").textContent = `Left out of this page for its size: ${lacks.join(", ")}.`;
    showGates();
    showNumbers();
    showClasses();
    showCells();
    redraw();
    showCut();
    const text = (found, counted) => (found === null ? "not measured" : shown(found, counted));
    const told = view.numbers.map(
      ([title, found, counted, ends]) => `${title} ${withEnds(text(found, counted), ends)}`,
    );
    at("said").textContent = `${entry.name}, ${view.name}: ${told.join(", ")}.`;
  }

  function redraw() {
    drawBins();
    drawCurve();
  }

  function chooseView(place) {
    const cut = state.view && cuts().length && !isChosen() ? (here().cut ?? Infinity) : state.entry.threshold;
    state.view = state.entry.views[place];
    state.place = placeOf(cut);
    showAll();
  }

  function chooseEntry(place) {
    const kept = state.view && state.view.name;
    state.entry = data.entries[place];
    state.view = null;
    const { views } = state.entry;
    at("view").replaceChildren(...views.map((one, number) => make("option", { value: number }, one.name)));
    const left = state.entry.strata + 1 - views.length;
    const more = `not in this page: ${count(left)} of ${count(state.entry.strata)}`;
    if (left > 0) at("view").append(make("option", { disabled: "" }, more));
    at("view").disabled = at("view").options.length === 1;
    const same = Math.max(
      0,
      views.findIndex((one) => one.name === kept),
    );
    at("view").selectedIndex = same;
    chooseView(same);
  }

  function listen() {
    at("entry").addEventListener("change", () => chooseEntry(Number(at("entry").value)));
    at("view").addEventListener("change", () => chooseView(Number(at("view").value)));
    at("cut").addEventListener("input", () => moveTo(Number(at("cut").value)));
    at("back").addEventListener("click", () => {
      moveTo(placeOf(state.entry.threshold));
      at("cut").focus();
    });
    const svg = at("curve");
    svg.addEventListener("pointerdown", (event) => {
      if (!cuts().length) return;
      svg.setPointerCapture(event.pointerId);
      moveTo(state.toPlace(event.clientX));
    });
    svg.addEventListener("pointermove", (event) => {
      if (svg.hasPointerCapture(event.pointerId)) moveTo(state.toPlace(event.clientX));
    });
    window.addEventListener("resize", redraw);
  }

  function start() {
    at("entry-label").textContent = data.words.entry;
    at("view-label").textContent = data.words.stratum;
    at("entry").append(...data.entries.map((one, place) => make("option", { value: place }, one.name)));
    at("explore").hidden = false;
    listen();
    chooseEntry(0);
    at("static").open = false;
  }

  if (at("explore")) start();
})();
