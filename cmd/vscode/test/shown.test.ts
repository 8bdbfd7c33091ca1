import { describe, expect, it } from "vitest";
import type { Queues } from "../src/documents/types";
import { shownOf } from "../src/model/shown";
import { queueKeys } from "../src/model/state";
import { documentsOf, recordedQueues, recordedReport } from "./recorded";

const count = (queues: Queues): number =>
  queues.processes.flatMap((p) => p.communicators).flatMap((c) => queueKeys.map((key) => c[key]?.length ?? 0)).reduce((a, b) => a + b, 0);

describe.each(["openmpi-4.1.4", "openmpi-5.0.7", "mpich-4.0.2-ch4"])("queues of %s", (release) => {
  const queues = recordedQueues(release, "queues-rank-0", "queues-rank-1", "queues-rank-2");
  const shown = shownOf(documentsOf(queues));

  it("are shown without loss", () => {
    expect(count(queues)).toBeGreaterThan(100);
    expect(shown.operations).toHaveLength(count(queues));
    expect(shown.looked).toBe(3);
  });

  it("have one entry for a communicator of three ranks", () => {
    expect(shown.communicators.filter((c) => c.label === "MPI_COMM_WORLD" && !c.internal)).toMatchObject([{ size: 3, members: "0-2" }]);
    expect(shown.communicators.filter((c) => c.label === "ocean model")).toHaveLength(1);
  });
});

describe("communicators", () => {
  it("are apart where their members are others", () => {
    const queues = recordedQueues("openmpi-5.0.7", "groups-rank-0", "groups-rank-1", "groups-rank-2", "groups-rank-3");
    const shown = shownOf(documentsOf(queues));
    expect(shown.communicators.length).toBeLessThan(queues.processes.reduce((sum, p) => sum + p.communicators.length, 0));
    for (const [index, state] of shown.communicators.entries()) {
      const members = new Set(shown.operations.filter((o) => o.communicator === index).map((o) => o.rank));
      expect(members.size, state.label).toBeLessThanOrEqual((state.size ?? 0) * 2);
    }
  });

  it("of two groups are one, seen from either side", () => {
    const queues = recordedQueues("openmpi-5.0.7", "recv-rank-0", "recv-rank-1");
    const worlds = queues.processes.flatMap((p) => p.communicators.filter((c) => c.name === "MPI_COMM_WORLD"));
    worlds.forEach((c, side) => Object.assign(c, { name: "both", inter: true, context: "9", group: [side], remote_group: [1 - side] }));
    expect(worlds).toHaveLength(2);
    expect(shownOf(documentsOf(queues)).communicators.filter((c) => c.label === "both")).toMatchObject([{ members: "0-1" }]);
  });

  it("whose contexts are not known are each process's own", () => {
    const queues = recordedQueues("openmpi-5.0.7", "recv-rank-0", "recv-rank-1");
    for (const c of queues.processes.flatMap((p) => p.communicators)) c.context = null;
    const worlds = shownOf(documentsOf(queues)).communicators.filter((c) => c.label === "MPI_COMM_WORLD");
    expect(worlds).toHaveLength(2);
  });
});

describe("what is missing", () => {
  it("of a queue is said", () => {
    const queues = recordedQueues("openmpi-5.0.7", "recv-rank-0", "recv-rank-1");
    const [first, second] = queues.processes.map((p) => p.communicators.find((c) => c.name === "MPI_COMM_WORLD"));
    if (!first || !second) throw new Error("there is no MPI_COMM_WORLD");
    first.pending_sends = null;
    first.unavailable = { pending_sends: "The list is broken." };
    second.totals = { pending_receives: null, pending_sends: 7 };
    const world = shownOf(documentsOf(queues)).communicators.find((c) => c.label === "MPI_COMM_WORLD");
    expect(world?.gaps[0]).toEqual(["rank 0: The list is broken.", "rank 1: 0 of 7 are listed"]);
    expect(world?.gaps[1]).toEqual(["rank 1: the receives are incomplete"]);
  });

  it("of a process is said, and it is not counted", () => {
    const queues = recordedQueues("openmpi-5.0.7", "recv-rank-0", "recv-rank-1");
    const [first] = queues.processes;
    if (!first) throw new Error("there is no process");
    Object.assign(first, { unavailable: "the program is inside MPI_Init", communicators: [] });
    const shown = shownOf(documentsOf(queues));
    expect(shown).toMatchObject({ looked: 1, notes: expect.arrayContaining(["rank 0: the program is inside MPI_Init"]) as string[] });
  });

  it("of a stop is said once", () => {
    const failure = "The helper has ended.";
    const shown = shownOf({ queues: { failure }, report: { failure }, ranks: { failure } });
    expect(shown).toMatchObject({ failure, unread: failure, notes: [], verdict: null, operations: [], looked: null });
  });

  it("of the operations alone is no empty queue", () => {
    const unread = "The helper has ended.";
    const shown = shownOf({ queues: { failure: unread }, report: { document: recordedReport("small") }, ranks: { failure: unread } });
    expect(shown).toMatchObject({ verdict: "deadlock", failure: "", unread, looked: null });
  });
});

describe("a report", () => {
  it("gives the verdict and the ranks by state", () => {
    const report = recordedReport("small");
    const queues = recordedQueues("openmpi-5.0.7", "recv-rank-0", "recv-rank-1", "recv-rank-2");
    const shown = shownOf(documentsOf(queues, report));
    expect(shown).toMatchObject({ verdict: "deadlock", why: report.why, worldSize: 8 });
    expect(shown.groups.map((group) => [group.ranks, group.state, group.rank])).toContainEqual(["2-4,6", "stuck", 2]);
    const own = shown.operations.find((o) => o.rank === 2);
    expect(shown.groups[own?.group ?? -1]?.ranks).toBe("2-4,6");
  });

  it("says with whom a mistake begins", () => {
    const report = recordedReport("small");
    const [miss] = report.near_misses;
    if (!miss) throw new Error("there is no near miss");
    report.near_misses = [{ ...miss, ranks: [0, 3], culprits: [3] }, { ...miss, ranks: [0, 3], culprits: null }, { ...miss, ranks: [], culprits: null }];
    expect(shownOf(documentsOf({ schema: 1, processes: [] }, report)).misses.map(({ rank }) => rank)).toEqual([3, 0, null]);
  });

  it.each(["crowd", "nothing", "pairs", "ring", "transit"])("is read: %s", (name) => {
    const report = recordedReport(name);
    expect(shownOf(documentsOf({ schema: 1, processes: [] }, report)).groups).toHaveLength(report.groups.length);
  });
});
