// The lines of the view's list: communicators, their queues, and the operations in them.
import { type Filters, isFiltered, nameTest, operationTest } from "./filter";
import { type OperationState, queueTitles, type Shown } from "./state";

export interface Line {
  kind: "communicator" | "queue" | "gap" | "operation";
  /** 1 for a communicator, 2 for its queues, 3 for what is in them. */
  level: 1 | 2 | 3;
  /** Tells it apart, also in the next stop, where that can be. */
  key: string;
  text: string;
  queue?: 0 | 1 | 2;
  isOpen?: boolean;
  operation?: OperationState;
}

const unknown = "?";
const signs = ["→", "←", "←"] as const;

/** Makes what a program has named harmless to show in a line. */
export function visible(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "\uFFFD");
}

/** Breaks up what the editor would make a link of: in some texts "[label](command:...)" runs a command of the editor. */
export function unlinked(text: string): string {
  return text.replaceAll(/\](?=\()/g, "] ");
}

/** Makes a text harmless to show outside our pages, where the editor also makes an icon of "$(name)". */
export function plain(text: string): string {
  return unlinked(visible(text)).replaceAll("$(", "$ (");
}

/** Returns the lines that filters and closed lines leave. */
export function linesOf(shown: Shown, filters: Filters, closed: ReadonlySet<string>): Line[] {
  const test = operationTest(filters, shown.communicators);
  const hasName = nameTest(filters);
  const isNarrow = isFiltered(filters);
  const kept = shown.communicators.map((): OperationState[][] => [[], [], []]);
  for (const operation of shown.operations) {
    if (test(operation)) kept[operation.communicator]?.[operation.queue]?.push(operation);
  }
  const lines: Line[] = [];
  const used = new Map<string, number>();
  shown.communicators.forEach((communicator, index) => {
    const queues = kept[index] ?? [];
    const count = queues.reduce((sum, queue) => sum + queue.length, 0);
    const hasGap = communicator.gaps.some((gaps, queue) => filters.queues[queue as 0 | 1 | 2] && gaps.length > 0);
    // Each rank has one of itself alone, in which hardly anything ever is.
    const isDull = isNarrow || communicator.size === 1 || (communicator.internal && !filters.internal);
    if (count === 0 && isDull && !(hasGap && hasName(communicator) && !communicator.internal)) return;
    // Several may have one name. They keep their order from one stop to the next.
    const nth = used.get(communicator.label) ?? 0;
    used.set(communicator.label, nth + 1);
    const key = `${communicator.label}#${nth}`;
    const isOpen = !closed.has(key);
    lines.push({ kind: "communicator", level: 1, key, isOpen, text: communicatorText(communicator, queues) });
    if (isOpen) addQueues(lines, key, queues, communicator.gaps, filters, closed);
  });
  return lines;
}

function addQueues(lines: Line[], parent: string, queues: OperationState[][], gaps: readonly string[][], filters: Filters, closed: ReadonlySet<string>): void {
  queues.forEach((operations, number) => {
    const queue = number as 0 | 1 | 2;
    const missing = gaps[queue] ?? [];
    if (!filters.queues[queue] || (operations.length === 0 && missing.length === 0)) return;
    const key = `${parent}/${queue}`;
    const isOpen = !closed.has(key);
    lines.push({ kind: "queue", level: 2, key, queue, isOpen, text: `${queueTitles[queue]} (${operations.length.toLocaleString("en")})` });
    if (!isOpen) return;
    missing.forEach((text, i) => lines.push({ kind: "gap", level: 3, key: `${key}/gap ${i}`, queue, text: visible(text) }));
    operations.forEach((operation, i) =>
      lines.push({ kind: "operation", level: 3, key: `${key}/${i}`, queue, operation, text: operationText(operation, filters.local) }),
    );
  });
}

function communicatorText({ label, size }: { label: string; size: number | null }, queues: readonly OperationState[][]): string {
  const counts = queues.map((queue) => queue.length.toLocaleString("en")).join(" / ");
  return `${visible(label)} · ${size ?? unknown} ${size === 1 ? "rank" : "ranks"} · ${counts}`;
}

/** Returns an operation in one line: whose it is, its peer, tag, length and how far it has come. */
export function operationText({ rank, localRank, queue, fields }: OperationState, isLocal: boolean): string {
  const peer = isLocal ? fields.desired_local_rank : fields.desired_global_rank;
  const words = [
    `${rankText(isLocal ? localRank : rank)} ${signs[queue]} ${rankText(peer)}`,
    `tag ${fields.tag_wild === true ? "ANY" : (fields.desired_tag ?? unknown)}`,
    `${fields.desired_length ?? unknown} B`,
  ];
  if (fields.status !== null) words.push(fields.status);
  if (fields.kind !== null) words.push(fields.kind);
  return visible(words.join(" · "));
}

function rankText(rank: number | null): string {
  return rank === null ? unknown : rank === -1 ? "ANY" : String(rank);
}

/** Returns all fields of an operation, by the names that documents have. What is not known is "?". */
export function detailsOf(operation: OperationState, shown: Shown): [string, string][] {
  const own: [string, unknown][] = [
    ["communicator", shown.communicators[operation.communicator]?.label],
    ["queue", queueTitles[operation.queue]],
    ["global_rank", operation.rank],
    ["local_rank", operation.localRank],
  ];
  return [...own, ...Object.entries(operation.fields)].map(([name, value]) => [name, visible(valueText(value))]);
}

function valueText(value: unknown): string {
  if (value === null || value === undefined) return unknown;
  if (Array.isArray(value)) return value.join("; ");
  if (typeof value === "boolean") return value ? "yes" : "no";
  return String(value as string | number);
}
