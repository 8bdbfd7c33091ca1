// The documents that gdb's extension writes. Their types are made from the schemas in mqs/document.
import type { Communicator, Operation, Process, Queues } from "../../build/documents/queues";
import type { Rank, Ranks } from "../../build/documents/ranks";
import type { Group, Report } from "../../build/documents/report";

export type { Communicator, Group, Operation, Process, Queues, Rank, Ranks, Report };

/** A document, or the sentence that says why there is none. */
export type Read<T> = { document: T } | { failure: string };

/** What one stop of a job is shown from. */
export interface Documents {
  queues: Read<Queues>;
  report: Read<Report>;
  ranks: Read<Ranks>;
}
