// The view's page: it draws what the extension tells it of a stop, and says what the user wants.
import { type Filters, isFiltered, noFilters, rankTest, tagTest } from "../model/filter";
import { detailsOf, type Line, linesOf, visible } from "../model/lines";
import { headings, type Shown, type State, type Wish } from "../model/state";
import { List } from "./list";

declare function acquireVsCodeApi(): { postMessage(message: Wish): void; getState(): unknown; setState(state: unknown): void };

/** What outlives the page, which is dropped while nobody sees it. */
interface Kept {
  filters: Filters;
  closed: string[];
}

const editor = acquireVsCodeApi();
const kept = editor.getState() as Kept | undefined;
const filters: Filters = { ...noFilters, ...kept?.filters, group: -1 };
const closed = new Set<string>(kept?.closed);
/** The ranks of the group that the list is narrowed to, which the next stop may have, too. */
let chosenRanks: string | undefined;
let state: State = { condition: "none", session: "", shown: null };

function element<T extends HTMLElement>(id: string, type: new () => T): T {
  const found = document.getElementById(id);
  if (!(found instanceof type)) throw new Error(`the page has no ${id}`);
  return found;
}

function made(tag: keyof HTMLElementTagNameMap, text = "", className = ""): HTMLElement {
  const node = document.createElement(tag);
  node.textContent = text;
  node.className = className;
  return node;
}

const form = element("filters", HTMLFormElement);
const fields = element("fields", HTMLElement);
const list = new List(element("list", HTMLElement), { toggled, chosen, gone });

/** Opens or closes a line. */
function toggled(line: Line): void {
  if (closed.has(line.key)) closed.delete(line.key);
  else closed.add(line.key);
  keep();
  drawList();
}

/** Shows all fields of the line that the user is at. */
function chosen(line: Line | undefined): void {
  fields.replaceChildren();
  fields.hidden = line?.operation === undefined || state.shown === null;
  if (line?.operation === undefined || state.shown === null) return;
  const terms = made("dl");
  for (const [name, value] of detailsOf(line.operation, state.shown)) terms.append(made("dt", name.replaceAll("_", " ")), made("dd", value));
  fields.append(terms);
}

/** Goes to the rank that a line is of. */
function gone(line: Line): void {
  if (line.operation) editor.postMessage({ kind: "go", rank: line.operation.rank, inferior: line.operation.inferior });
}

function keep(): void {
  editor.setState({ filters, closed: [...closed] } satisfies Kept);
}

function field(name: string): HTMLInputElement {
  const found = form.elements.namedItem(name);
  if (!(found instanceof HTMLInputElement)) throw new Error(`the page has no filter ${name}`);
  return found;
}

const queueFields = ["sends", "receives", "unexpected"].map(field) as [HTMLInputElement, HTMLInputElement, HTMLInputElement];

function readFilters(): void {
  filters.ranks = field("ranks").value;
  filters.tag = field("tag").value;
  filters.communicator = field("communicator").value;
  filters.queues = queueFields.map((box) => box.checked) as Filters["queues"];
  filters.local = field("local").checked;
  filters.internal = field("internal").checked;
  checkFilters();
  keep();
  drawList();
}

/** Marks what is not understood, which lets all pass. */
function checkFilters(): void {
  for (const [name, test] of [["ranks", rankTest(filters.ranks)], ["tag", tagTest(filters.tag)]] as const) {
    field(name).setCustomValidity(test === null ? "This is not understood, and all are shown." : "");
    field(name).title = field(name).validationMessage;
  }
}

function writeFilters(): void {
  field("ranks").value = filters.ranks;
  field("tag").value = filters.tag;
  field("communicator").value = filters.communicator;
  queueFields.forEach((box, i) => (box.checked = filters.queues[i] ?? true));
  field("local").checked = filters.local;
  field("internal").checked = filters.internal;
  checkFilters();
}

function draw(): void {
  const { shown, condition } = state;
  element("condition", HTMLElement).textContent = headings[condition];
  element("attach", HTMLElement).hidden = condition !== "none";
  document.body.classList.toggle("old", condition === "running" || condition === "reading");
  element("shown", HTMLElement).hidden = shown === null;
  if (shown === null) {
    list.show([]);
    return;
  }
  const verdict = element("verdict", HTMLElement);
  verdict.dataset["verdict"] = shown.verdict ?? "";
  verdict.textContent = shown.verdict ?? "";
  verdict.hidden = shown.verdict === null;
  element("why", HTMLElement).textContent = visible(shown.failure || shown.why);
  element("why", HTMLElement).classList.toggle("failure", shown.failure !== "");
  element("picture", HTMLElement).hidden = shown.groups.length === 0;
  const missing = shown.missing > 0 ? `, ${shown.missing.toLocaleString("en")} missing` : "";
  const looked = shown.looked === null ? "" : `, ${shown.looked.toLocaleString("en")} looked at`;
  element("size", HTMLElement).textContent = shown.worldSize === null ? "" : `${shown.worldSize.toLocaleString("en")} ranks${looked}${missing}`;
  element("groups", HTMLElement).replaceChildren(...shown.groups.map(groupRow));
  element("misses", HTMLElement).replaceChildren(...shown.misses.map(missRow));
  element("names", HTMLElement).replaceChildren(
    ...[...new Set(shown.communicators.map((c) => c.label))].slice(0, 500).map((label) => {
      const option = document.createElement("option");
      option.value = visible(label);
      return option;
    }),
  );
  element("notes", HTMLElement).replaceChildren(...shown.notes.map((note) => made("li", visible(note))));
  drawList();
}

function groupRow({ ranks, state: what, text, rank }: { ranks: string; state: string; text: string; rank: number | null }, index: number): HTMLElement {
  const row = made("li");
  const only = made("button", `${/^\d+$/.test(ranks) ? "rank" : "ranks"} ${ranks}`, "ranks");
  only.title = "Show the operations of these ranks alone";
  only.setAttribute("aria-pressed", String(filters.group === index));
  only.addEventListener("click", () => {
    filters.group = filters.group === index ? -1 : index;
    chosenRanks = filters.group < 0 ? undefined : ranks;
    draw();
  });
  const place = made("button", visible(text), "place");
  place.title = "Show the line";
  place.addEventListener("click", () => { editor.postMessage({ kind: "go", rank, inferior: null }); });
  row.append(made("span", what, `state ${what.replaceAll(" ", "-")}`), only, place);
  return row;
}

function missRow({ kind, text, rank }: { kind: string; text: string; rank: number | null }): HTMLElement {
  const row = made("li");
  const place = made("button", visible(text), "miss");
  place.title = rank === null ? "" : `Show where rank ${rank} is`;
  place.addEventListener("click", () => { if (rank !== null) editor.postMessage({ kind: "go", rank, inferior: null }); });
  row.append(made("span", kind, "state stuck"), place);
  return row;
}

/** Says that the operations are not known and, unless it is said above, why. */
function unreadText({ unread, failure }: Shown): string {
  return visible(unread === failure ? "The operations are not known." : `The operations are not known. ${unread}`);
}

function drawList(): void {
  if (state.shown === null) return;
  const lines = linesOf(state.shown, filters, closed);
  list.show(lines);
  const count = lines.reduce((sum, line) => sum + (line.kind === "operation" ? 1 : 0), 0);
  element("narrow", HTMLElement).classList.toggle("on", isFiltered(filters));
  element("count", HTMLElement).classList.toggle("failure", state.shown.unread !== "");
  element("count", HTMLElement).textContent = state.shown.unread !== "" ? unreadText(state.shown) : count === 0 ? "no operations" : `${count.toLocaleString("en")} ${count === 1 ? "operation" : "operations"}`;
}

form.addEventListener("input", readFilters);
form.addEventListener("submit", (event) => { event.preventDefault(); });
form.addEventListener("reset", (event) => {
  event.preventDefault();
  Object.assign(filters, noFilters, { queues: [true, true, true] });
  chosenRanks = undefined;
  writeFilters();
  keep();
  draw();
});
element("attach", HTMLElement).addEventListener("click", () => { editor.postMessage({ kind: "attach" }); });
element("picture", HTMLElement).addEventListener("click", () => { editor.postMessage({ kind: "picture" }); });
window.addEventListener("message", (event: MessageEvent<State>) => {
  state = event.data;
  filters.group = state.shown?.groups.findIndex(({ ranks }) => ranks === chosenRanks) ?? -1;
  draw();
});
writeFilters();
draw();
editor.postMessage({ kind: "ready" });
