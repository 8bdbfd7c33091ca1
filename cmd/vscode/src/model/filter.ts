// Which operations are shown: the filters of the report's page.
import { parseRanges } from "./ranks";
import type { CommunicatorState, OperationState } from "./state";

export interface Filters {
  /** A list of ranks, as the user has typed it. */
  ranks: string;
  /** A tag or "any". */
  tag: string;
  /** A part of the communicator's name. */
  communicator: string;
  queues: [boolean, boolean, boolean];
  /** Show the ranks in the communicator, not those in MPI_COMM_WORLD. */
  local: boolean;
  /** Show the MPI library's own, too. */
  internal: boolean;
  /** The group of ranks, or -1 for all. */
  group: number;
}

export const noFilters: Readonly<Filters> = { ranks: "", tag: "", communicator: "", queues: [true, true, true], local: false, internal: false, group: -1 };

type Test<T> = (value: T) => boolean;

/** Returns what a list of ranks lets pass, or null if it is not understood. */
export function rankTest(text: string): Test<number | null> | null {
  const ranges = parseRanges(text);
  if (ranges === null) return null;
  if (ranges.length === 0) return () => true;
  return (rank) => rank !== null && ranges.some(([first, last]) => rank >= first && rank <= last);
}

/** Returns what the text for a tag lets pass, or null if it is not understood. */
export function tagTest(text: string): Test<OperationState["fields"]> | null {
  const word = text.trim().toLowerCase();
  if (word === "") return () => true;
  if (word === "any" || word === "*") return (fields) => fields.tag_wild === true;
  if (!/^-?\d+$/.test(word)) return null;
  return (fields) => fields.desired_tag === Number(word);
}

/** Returns what the filters let pass. What is not understood lets all pass. */
export function operationTest(filters: Filters, communicators: readonly CommunicatorState[]): Test<OperationState> {
  const rank = rankTest(filters.ranks) ?? (() => true);
  const tag = tagTest(filters.tag) ?? (() => true);
  const hasName = communicators.map(nameTest(filters));
  return (operation) =>
    filters.queues[operation.queue] &&
    (filters.internal || !operation.internal) &&
    hasName[operation.communicator] === true &&
    (filters.group < 0 || operation.group === filters.group) &&
    rank(filters.local ? operation.localRank : operation.rank) &&
    tag(operation.fields);
}

/** Returns what the filter for communicators lets pass. */
export function nameTest(filters: Filters): Test<CommunicatorState> {
  const part = filters.communicator.trim().toLowerCase();
  return (communicator) => communicator.label.toLowerCase().includes(part);
}

/** Says whether filters hide operations that would be shown without them. */
export function isFiltered(filters: Filters): boolean {
  return filters.ranks.trim() !== "" || filters.tag.trim() !== "" || filters.communicator.trim() !== "" || filters.group >= 0 || !filters.queues.every(Boolean);
}
