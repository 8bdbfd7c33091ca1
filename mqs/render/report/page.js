"use strict";
// The table of all operations: filtered, sorted and shown a page at a time.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const form = document.getElementById("filters");
  const table = document.getElementById("table");
  const shown = document.getElementById("shown");
  const perPage = 100;
  const unknown = "?", any = "ANY";
  const queues = ["send", "receive", "unexpected"];

  // The process of each operation.
  const owner = new Uint32Array(data.queue.length);
  for (let p = 0, i = 0; p < data.count.length; p++) {
    for (let n = data.count[p]; n > 0; n--) owner[i++] = p;
  }

  const global = () => form.elements.ranks.value === "global";
  const rankOf = (i) => (global() ? data.rank[owner[i]] : data.local[i]);
  const peerOf = (i) => (global() ? data.peerGlobal[i] : data.peerLocal[i]);
  const rankText = (v) => (v === null ? unknown : v === -1 ? any : String(v));
  const tagText = (v) => (v === null ? unknown : v === "*" ? any : String(v));
  const hex = (v) => (v === null ? unknown : typeof v === "string" ? v : "0x" + v.toString(16));
  const text = (column) => (i) => data.texts[column[i]] || unknown;

  // value is what a column is sorted by, show what stands in it.
  const columns = [
    { title: "Rank", number: true, value: rankOf, show: (i) => rankText(rankOf(i)) },
    { title: "Queue", value: (i) => data.queue[i], show: (i) => queues[data.queue[i]], look: (i) => queues[data.queue[i]] },
    { title: "Status", value: text(data.status), show: text(data.status) },
    { title: "Peer", number: true, value: peerOf, show: (i) => rankText(peerOf(i)) },
    { title: "Tag", number: true, value: (i) => (data.tag[i] === "*" ? -Infinity : data.tag[i]), show: (i) => tagText(data.tag[i]) },
    { title: "Bytes", number: true, value: (i) => Number(data.bytes[i]), show: (i) => (data.bytes[i] === null ? unknown : String(BigInt(data.bytes[i]))) },
    { title: "Communicator", value: text(data.comm), show: text(data.comm) },
    { title: "Kind", value: text(data.kind), show: text(data.kind) },
    { title: "Datatype", value: text(data.datatype), show: text(data.datatype) },
    { title: "Buffer", value: (i) => Number(data.buffer[i]), show: (i) => hex(data.buffer[i]) },
    { title: "The rank is in", value: (i) => data.group[owner[i]], show: (i) => data.places[data.group[owner[i]]] || unknown },
    { title: "Note", value: (i) => data.texts[data.note[i]], show: (i) => data.texts[data.note[i]] },
  ];

  let rows = new Uint32Array(0); // the operations that the filters keep, in order
  let page = 0;
  let sorted = { column: -1, down: false };
  let group = -1; // that the ranks are to be of, or -1

  // parseRanks reads "0-3, 6" into a function, or null if it is wrong.
  function parseRanks(words) {
    const ranges = [];
    for (const word of words.split(",")) {
      const m = /^\s*(\d+)\s*(?:-\s*(\d+)\s*)?$/.exec(word);
      if (m) ranges.push([Number(m[1]), Number(m[2] ?? m[1])]);
      else if (word.trim() !== "") return null;
    }
    return ranges.length === 0 ? () => true : (r) => r !== null && ranges.some(([a, b]) => r >= a && r <= b);
  }

  function parseTag(word) {
    word = word.trim().toLowerCase();
    if (word === "") return () => true;
    if (word === "any" || word === "*") return (t) => t === "*";
    return /^-?\d+$/.test(word) ? (t) => t === Number(word) : null;
  }

  // checked marks a field that is wrong, and takes it for empty.
  function checked(field, parse) {
    const test = parse(field.value);
    field.setCustomValidity(test ? "" : "not understood");
    return test ?? (() => true);
  }

  function filter() {
    const e = form.elements;
    const rank = checked(e.rank, parseRanks), tag = checked(e.tag, parseTag);
    const comm = e.comm.value.trim().toLowerCase();
    const comms = data.texts.map((t) => t.toLowerCase().includes(comm));
    const inQueue = [...e.queue].map((box) => box.checked);
    const internal = e.internal.checked, isGlobal = global();
    const kept = new Uint32Array(owner.length);
    let n = 0;
    for (let i = 0; i < owner.length; i++) {
      const p = owner[i];
      if (inQueue[data.queue[i]] && (internal || !data.internal[i]) && comms[data.comm[i]] && tag(data.tag[i]) &&
          (group < 0 || data.group[p] === group) && rank(isGlobal ? data.rank[p] : data.local[i])) kept[n++] = i;
    }
    rows = kept.slice(0, n);
    sort();
  }

  function sort() {
    if (sorted.column >= 0) {
      const { value } = columns[sorted.column], sign = sorted.down ? -1 : 1;
      const keys = Array.from(rows, value);
      const order = keys.map((_, k) => k);
      order.sort((a, b) => {
        const x = keys[a], y = keys[b];
        if (x === y) return a - b;
        if (x === null || y === null) return x === null ? 1 : -1; // the unknown at the end
        return x < y ? -sign : sign;
      });
      rows = Uint32Array.from(order, (k) => rows[k]);
    }
    page = 0;
    show();
  }

  function show() {
    const last = Math.max(0, Math.ceil(rows.length / perPage) - 1);
    page = Math.min(Math.max(page, 0), last);
    const first = page * perPage, end = Math.min(first + perPage, rows.length);
    const body = document.createElement("tbody");
    for (const i of rows.subarray(first, end)) {
      const row = body.insertRow();
      if (data.internal[i]) row.className = "own";
      for (const c of columns) {
        const cell = row.insertCell();
        cell.textContent = c.show(i);
        if (cell.textContent.length > 30) cell.title = cell.textContent;
        cell.className = c.number ? "number" : c.look ? c.look(i) : "";
      }
    }
    table.tBodies[0].replaceWith(body);
    const of = group < 0 ? "" : " of the chosen group";
    shown.textContent = rows.length === 0 ? "no operations" + of
      : `${(first + 1).toLocaleString("en")}-${end.toLocaleString("en")} of ${rows.length.toLocaleString("en")} operations${of}`;
    for (const button of document.querySelectorAll("[data-page]")) {
      button.disabled = /first|previous/.test(button.dataset.page) ? page === 0 : page === last;
    }
  }

  function head() {
    columns.forEach((c, k) => {
      const cell = document.createElement("th");
      cell.scope = "col";
      if (c.number) cell.className = "number";
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = c.title;
      button.addEventListener("click", () => {
        sorted = { column: k, down: sorted.column === k && !sorted.down };
        for (const th of table.tHead.rows[0].cells) th.removeAttribute("aria-sort");
        cell.setAttribute("aria-sort", sorted.down ? "descending" : "ascending");
        sort();
      });
      cell.append(button);
      table.tHead.rows[0].append(cell);
    });
  }

  // choose shows the operations of one group of ranks.
  function choose(number) {
    form.reset();
    group = number;
    filter();
    document.getElementById("operations").scrollIntoView();
  }

  const turns = { first: () => 0, previous: () => page - 1, next: () => page + 1, last: () => Infinity };
  for (const button of document.querySelectorAll("[data-page]")) {
    button.addEventListener("click", () => { page = turns[button.dataset.page](); show(); });
  }
  for (const button of document.querySelectorAll("button[data-ranks]")) {
    button.addEventListener("click", () => choose(Number(button.dataset.ranks)));
  }
  for (const node of document.querySelectorAll(".picture [data-group]")) {
    node.addEventListener("click", () => choose(Number(node.dataset.group)));
  }
  for (const label of [...new Set(data.comm)].slice(0, 500).map((c) => data.texts[c])) {
    const option = document.createElement("option");
    option.value = label;
    document.getElementById("comms").append(option);
  }
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => { group = -1; setTimeout(filter); });
  head();
  filter();
})();
