// A tree of any length, of which only the lines in sight are in the page.
import type { Line } from "../model/lines";
import { inSight, scrolledTo } from "../model/window";

/** The height of a line; page.css has the same. */
const lineHeight = 22;
/** Browsers can't lay out more: beyond it the list ends. */
const mostPixels = 15_000_000;

export interface Handlers {
  /** A line is to be opened or closed. */
  toggled(line: Line): void;
  /** The user is at a line, or at none. */
  chosen(line: Line | undefined): void;
  /** The user wants to go where a line is. */
  gone(line: Line): void;
}

export class List {
  private lines: readonly Line[] = [];
  private current = ""; // the key of the line that the user is at
  private readonly canvas = document.createElement("div");
  private isDue = false;

  constructor(
    private readonly box: HTMLElement,
    private readonly handlers: Handlers,
  ) {
    box.append(this.canvas);
    box.addEventListener("scroll", () => { this.drawSoon(); });
    box.addEventListener("keydown", (event) => { this.key(event); });
    box.addEventListener("click", (event) => { this.click(event); });
    box.addEventListener("dblclick", (event) => {
      const line = this.lineOf(event);
      if (line) this.handlers.gone(line);
    });
    new ResizeObserver(() => { this.drawSoon(); }).observe(box);
  }

  show(lines: readonly Line[]): void {
    this.lines = lines.length * lineHeight > mostPixels ? lines.slice(0, mostPixels / lineHeight) : lines;
    this.canvas.style.height = `${this.lines.length * lineHeight}px`;
    this.handlers.chosen(this.lines[this.at()]);
    this.draw();
  }

  private at(): number {
    return this.lines.findIndex((line) => line.key === this.current);
  }

  private drawSoon(): void {
    if (this.isDue) return;
    this.isDue = true;
    requestAnimationFrame(() => {
      this.isDue = false;
      this.draw();
    });
  }

  private draw(): void {
    const { first, end } = inSight(this.box.scrollTop, this.box.clientHeight, lineHeight, this.lines.length);
    this.canvas.replaceChildren(...this.lines.slice(first, end).map((line, i) => this.row(line, first + i)));
    const current = this.at();
    if (current >= first && current < end) this.box.setAttribute("aria-activedescendant", `line-${current}`);
    else this.box.removeAttribute("aria-activedescendant");
  }

  private row(line: Line, index: number): HTMLElement {
    const row = document.createElement("div");
    row.id = `line-${index}`;
    row.dataset["line"] = String(index);
    row.className = `line ${line.kind} level-${line.level}`;
    if (line.queue !== undefined) row.classList.add(`queue-${line.queue}`);
    if (line.operation?.internal === true) row.classList.add("own");
    row.classList.toggle("current", line.key === this.current);
    row.style.top = `${index * lineHeight}px`;
    row.textContent = line.text;
    row.title = line.text;
    row.setAttribute("role", "treeitem");
    row.setAttribute("aria-level", String(line.level));
    row.setAttribute("aria-selected", String(line.key === this.current));
    if (line.isOpen !== undefined) row.setAttribute("aria-expanded", String(line.isOpen));
    return row;
  }

  private lineOf(event: Event): Line | undefined {
    const row = event.target instanceof Element ? event.target.closest("[data-line]") : null;
    return row instanceof HTMLElement ? this.lines[Number(row.dataset["line"])] : undefined;
  }

  private click(event: Event): void {
    const line = this.lineOf(event);
    if (line === undefined) return;
    this.current = line.key;
    if (line.isOpen !== undefined) this.handlers.toggled(line);
    else this.handlers.chosen(line);
    this.draw();
  }

  private key(event: KeyboardEvent): void {
    const at = this.at();
    const line = this.lines[at];
    const page = Math.max(1, Math.floor(this.box.clientHeight / lineHeight) - 1);
    const last = this.lines.length - 1;
    const moves: Partial<Record<string, number>> = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: last };
    const move = moves[event.key];
    if (move !== undefined) this.move(Math.max(0, Math.min(last, move)));
    else if (line === undefined) return;
    else if (event.key === "ArrowRight" && line.isOpen === false) this.handlers.toggled(line);
    else if (event.key === "ArrowLeft" && line.isOpen === true) this.handlers.toggled(line);
    else if (event.key === "ArrowLeft") this.move(this.parent(at));
    else if (event.key === "ArrowRight" && line.isOpen === true) this.move(Math.min(last, at + 1));
    else if (event.key === " " && line.isOpen !== undefined) this.handlers.toggled(line);
    else if (event.key === "Enter") this.handlers.gone(line);
    else return;
    event.preventDefault();
  }

  /** The line that another one is below, or itself. */
  private parent(at: number): number {
    const level = this.lines[at]?.level ?? 1;
    for (let i = at - 1; i >= 0; i--) {
      if ((this.lines[i]?.level ?? level) < level) return i;
    }
    return at;
  }

  private move(to: number): void {
    const line = this.lines[to];
    if (line === undefined) return;
    this.current = line.key;
    this.box.scrollTop = scrolledTo(to, this.box.scrollTop, this.box.clientHeight, lineHeight);
    this.handlers.chosen(line);
    this.draw();
  }
}
