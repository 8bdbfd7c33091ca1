// From the documents of one stop to what the view shows.
import type { Communicator, Documents, Process, Queues, Report } from "../documents/types";
import { formatRanges, parseRanges } from "./ranks";
import { type CommunicatorState, type GroupState, type OperationState, queueKeys, queueTitles, type Shown } from "./state";

/** Puts the documents together. */
export function shownOf(documents: Documents): Shown {
  const notes: string[] = [];
  const report = "document" in documents.report ? documents.report.document : undefined;
  // Why there is no verdict, or no operations, stands in their place.
  const failure = "failure" in documents.report ? documents.report.failure : "";
  const unread = "failure" in documents.queues ? documents.queues.failure : "";
  const shown: Shown = {
    verdict: report?.verdict ?? null,
    why: report?.why ?? "",
    failure,
    unread,
    misses: (report?.near_misses ?? []).map(({ kind, text, ranks, culprits }) => ({ kind, text, rank: culprits?.[0] ?? ranks[0] ?? null })),
    worldSize: report?.world_size ?? null,
    looked: "document" in documents.queues ? documents.queues.document.processes.filter(({ unavailable }) => unavailable === null).length : null,
    missing: report?.missing_ranks.length ?? 0,
    groups: (report?.groups ?? []).map(groupState),
    communicators: [],
    operations: [],
    notes,
  };
  if ("document" in documents.queues) addQueues(shown, documents.queues.document, report);
  for (const note of report?.notes ?? []) {
    if (!notes.includes(note)) notes.push(note);
  }
  return shown;
}

function groupState(group: Report["groups"][number]): GroupState {
  return { ranks: group.ranks, state: group.state, text: group.text, rank: parseRanges(group.ranks)?.[0]?.[0] ?? null };
}

function addQueues(shown: Shown, queues: Queues, report: Report | undefined): void {
  const groupOf = groupFinder(report);
  const known = new Map<string, number>();
  const members: Set<number>[] = [];
  for (const process of queues.processes) {
    const who = nameOf(process);
    if (process.unavailable !== null) shown.notes.push(`${who}: ${process.unavailable}`);
    for (const note of process.notes) shown.notes.push(`${who}: ${note}`);
    for (const communicator of process.communicators) {
      const key = identity(process, communicator);
      const index = known.get(key) ?? shown.communicators.length;
      if (index === shown.communicators.length) {
        known.set(key, index);
        shown.communicators.push(communicatorState(communicator));
        members.push(new Set());
      }
      for (const rank of [...(communicator.group ?? []), ...(communicator.remote_group ?? [])]) {
        if (rank !== null) members[index]?.add(rank);
      }
      addOperations(shown, process, communicator, index, groupOf(process.global_rank));
    }
  }
  shown.communicators.forEach((communicator, i) => {
    communicator.members = formatRanges([...(members[i] ?? [])]) || null;
  });
}

function addOperations(shown: Shown, process: Process, communicator: Communicator, index: number, group: number): void {
  const state = shown.communicators[index];
  if (state === undefined) return;
  queueKeys.forEach((key, queue) => {
    const operations = communicator[key];
    const gap = gapOf(communicator, key, operations?.length ?? null);
    if (gap !== null) state.gaps[queue as 0 | 1 | 2].push(`${nameOf(process)}: ${gap}`);
    for (const fields of operations ?? []) {
      shown.operations.push({
        communicator: index,
        queue: queue as OperationState["queue"],
        rank: process.global_rank,
        localRank: communicator.local_rank,
        inferior: process.inferior,
        internal: fields.internal || communicator.internal,
        group,
        fields,
      });
    }
  });
}

/** Says what is missing of a queue, or null. A total that the document leaves out is not doubted. */
function gapOf(communicator: Communicator, key: (typeof queueKeys)[number], listed: number | null): string | null {
  const why = communicator.unavailable[key];
  if (why !== undefined) return why;
  if (listed === null) return null;
  const total = communicator.totals[key];
  if (total === null) return `the ${queueTitles[queueKeys.indexOf(key)] ?? key} are incomplete`;
  return total !== undefined && total > listed ? `${listed} of ${total} are listed` : null;
}

/** Names what tells whether communicators of two processes are one. */
function identity(process: Process, { unique_id, context, group, remote_group, internal }: Communicator): string {
  if (context === null || group === null) return JSON.stringify([process.inferior, unique_id]);
  // Either side of an intercommunicator calls the other's group remote.
  return JSON.stringify([context, internal, [JSON.stringify(group), JSON.stringify(remote_group)].sort()]);
}

function communicatorState({ name, unique_id, size, window, file, internal }: Communicator): CommunicatorState {
  const serves = window !== null ? served("window", window) : file !== null ? served("file", file) : null;
  return { label: serves ?? (name || `communicator ${unique_id}`), size, members: null, internal, gaps: [[], [], []] };
}

function served(kind: string, name: string): string {
  return name === "" ? `${kind} without a name` : `${kind} "${name}"`;
}

function nameOf(process: Process): string {
  return process.global_rank === null ? `process ${process.pid}` : `rank ${process.global_rank}`;
}

/** Returns what finds the group of a rank in the report. */
function groupFinder(report: Report | undefined): (rank: number | null) => number {
  const found = new Map<number, number>();
  report?.groups.forEach((group, index) => {
    for (const [first, last] of parseRanges(group.ranks) ?? []) {
      for (let rank = first; rank <= last; rank++) found.set(rank, index);
    }
  });
  return (rank) => (rank === null ? -1 : (found.get(rank) ?? -1));
}
