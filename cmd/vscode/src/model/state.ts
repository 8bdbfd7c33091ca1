// What the view is told: the documents of one stop, put together for showing.
import type { Operation, Read, Report } from "../documents/types";

/** The keys of the queues in a document, in the order in which they are shown. */
export const queueKeys = ["pending_sends", "pending_receives", "unexpected_messages"] as const;
export const queueTitles = ["sends", "receives", "unexpected"] as const;

export interface GroupState {
  ranks: string;
  state: Report["groups"][number]["state"];
  text: string;
  /** One of its ranks, where it is: the one that a click goes to. */
  rank: number | null;
}

/** One communicator, of all processes that are known to share it. */
export interface CommunicatorState {
  label: string;
  size: number | null;
  /** Global ranks of its members, or of both groups, as ranges. */
  members: string | null;
  internal: boolean;
  /** For each queue, what is missing of it, as sentences. */
  gaps: [string[], string[], string[]];
}

export interface OperationState {
  /** Its communicator, an index. */
  communicator: number;
  /** Its queue, an index into queueKeys. */
  queue: 0 | 1 | 2;
  /** The process whose queue it is in. */
  rank: number | null;
  localRank: number | null;
  inferior: number;
  internal: boolean;
  /** Its place in the report's groups, or -1. */
  group: number;
  fields: Operation;
}

/** What the session is doing. Where there is none, nothing is shown. */
export type Condition = "none" | "reading" | "running" | "stopped";

export interface Shown {
  verdict: Report["verdict"] | null;
  why: string;
  /** A sentence that says why there is no verdict, or empty. */
  failure: string;
  /** A sentence that says why the operations are not known, or empty. */
  unread: string;
  /** What looks like the program's mistakes, with the rank that does otherwise than the others, or one of those concerned. */
  misses: { kind: Report["near_misses"][number]["kind"]; text: string; rank: number | null }[];
  worldSize: number | null;
  /** How many ranks' queues were read; null where that failed. */
  looked: number | null;
  missing: number;
  groups: GroupState[];
  communicators: CommunicatorState[];
  operations: OperationState[];
  /** Sentences on what could not be read, and what is doubtful. */
  notes: string[];
}

export interface State {
  condition: Condition;
  session: string;
  shown: Shown | null;
}

/** What the tab with the picture shows. */
export interface PictureState {
  condition: Condition;
  session: string;
  verdict: Report["verdict"] | null;
  why: string;
  /** The picture as SVG, or why there is none; null where it was not read. */
  picture: Read<string> | null;
}

/** What is said in each condition. */
export const headings: Readonly<Record<Condition, string>> = {
  none: "No debug session reads MPI ranks.",
  reading: "The queues are being read…",
  running: "The ranks run. Pause them to read their queues.",
  stopped: "",
};

/** What a page asks for. */
export type Wish =
  | { kind: "ready" }
  | { kind: "attach" }
  | { kind: "picture" }
  /** Show where a process is, by its rank or, where that is not known, gdb's number for it. */
  | { kind: "go"; rank: number | null; inferior: number | null };
