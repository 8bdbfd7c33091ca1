// The page with the picture of who waits for whom, as mpi-queues draws it, in the editor's colours.
import { nearest } from "../model/nearest";
import { headings, type PictureState, type Wish } from "../model/state";

declare function acquireVsCodeApi(): { postMessage(message: Wish): void; getState(): unknown; setState(state: unknown): void };

/** How much larger a step is. */
const step = 1.25;
const smallest = 0.2, largest = 4;

const editor = acquireVsCodeApi();
/** The size of the picture, or null where it is as wide as the tab, if that makes it no larger than it is drawn. */
let size = (editor.getState() as { size?: number } | undefined)?.size ?? null;
let state: PictureState = { condition: "none", session: "", verdict: null, why: "", picture: null };
let drawn = ""; // the picture that is in the page

function element(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no ${id}`);
  return found;
}

function draw(): void {
  const { condition, picture } = state;
  document.body.classList.toggle("old", condition === "running" || condition === "reading");
  element("verdict").textContent = state.verdict === null ? "" : `${state.verdict}.`;
  element("verdict").dataset["verdict"] = state.verdict ?? "";
  element("why").textContent = condition === "none" ? "" : state.why;
  element("condition").textContent = headings[condition];
  const svg = condition !== "none" && picture !== null && "document" in picture ? picture.document : "";
  if (svg !== drawn) {
    drawn = svg;
    show(svg);
  }
  element("sizes").hidden = svg === "";
  if (condition !== "none" && picture !== null && "failure" in picture) element("canvas").textContent = picture.failure;
}

/** Shows a picture. It is mpi-queues' own, which has made what the program names harmless, and the page's policy runs no script of it. */
function show(svg: string): void {
  const canvas = element("canvas");
  const at = canvas.contains(document.activeElement) ? (document.activeElement as SVGElement).dataset["rank"] : undefined;
  canvas.replaceChildren();
  if (svg === "") return;
  // The colours are the editor's, and the page's policy allows no other style sheet.
  const root = new DOMParser().parseFromString(svg.replace(/<style>[^]*?<\/style>/, ""), "image/svg+xml").documentElement;
  if (!(root instanceof SVGSVGElement)) {
    canvas.textContent = "The picture can't be shown: mpi-queues may be older than this extension.";
    return;
  }
  root.setAttribute("role", "group");
  const nodes = [...root.querySelectorAll<SVGElement>(".node[data-rank]")];
  for (const node of nodes) {
    node.setAttribute("role", "button");
    node.setAttribute("tabindex", "-1");
    node.setAttribute("aria-label", node.querySelector("title")?.textContent ?? "");
    node.addEventListener("click", () => { go(node); });
    node.addEventListener("focus", () => { nodes.forEach((other) => { other.setAttribute("tabindex", other === node ? "0" : "-1"); }); });
  }
  canvas.append(root);
  resize();
  const first = nodes.find((node) => at !== undefined && node.dataset["rank"] === at) ?? nodes[0];
  first?.setAttribute("tabindex", "0");
  if (at !== undefined) first?.focus();
}

function go(node: SVGElement): void {
  editor.postMessage({ kind: "go", rank: Number(node.dataset["rank"]), inferior: null });
}

function picture(): SVGSVGElement | null {
  return element("canvas").querySelector("svg");
}

function resize(): void {
  const svg = picture();
  if (svg === null) return;
  const { width, height } = svg.viewBox.baseVal;
  const factor = size ?? Math.min(1, element("canvas").clientWidth / width);
  svg.setAttribute("width", String(Math.floor(width * factor)));
  svg.setAttribute("height", String(Math.floor(height * factor)));
}

function changeSize(how: string): void {
  const svg = picture();
  if (svg === null) return;
  const now = svg.width.baseVal.value / svg.viewBox.baseVal.width;
  size = how === "fit" ? null : Math.min(largest, Math.max(smallest, how === "in" ? now * step : now / step));
  editor.setState(size === null ? {} : { size });
  resize();
}

const sizeKeys: Partial<Record<string, string>> = { "+": "in", "=": "in", "-": "out", "0": "fit" };
const moves: Partial<Record<string, [number, number]>> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const way = sizeKeys[event.key];
  const move = moves[event.key];
  const node = event.target instanceof SVGElement && event.target.dataset["rank"] !== undefined ? event.target : null;
  if (way !== undefined) changeSize(way);
  else if (node === null) return;
  else if (event.key === "Enter" || event.key === " ") go(node);
  else if (move !== undefined) focusBeside(node, move);
  else return;
  event.preventDefault();
});

/** Goes to the node beside another one. */
function focusBeside(node: SVGElement, way: readonly [number, number]): void {
  const nodes = [...(picture()?.querySelectorAll<SVGElement>(".node[data-rank]") ?? [])];
  const middles = nodes.map((other) => {
    const { left, top, width, height } = other.getBoundingClientRect();
    return { x: left + width / 2, y: top + height / 2 };
  });
  nodes[nearest(middles, nodes.indexOf(node), way)]?.focus();
}

for (const button of document.querySelectorAll<HTMLElement>("[data-size]")) button.addEventListener("click", () => { changeSize(button.dataset["size"] ?? ""); });
new ResizeObserver(resize).observe(element("canvas"));
window.addEventListener("message", (event: MessageEvent<PictureState>) => {
  state = event.data;
  draw();
});
draw();
editor.postMessage({ kind: "ready" });
