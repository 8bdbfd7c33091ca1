import { describe, expect, it } from "vitest";
import { type Filters, noFilters, rankTest, tagTest } from "../src/model/filter";
import { detailsOf, type Line, linesOf, visible } from "../src/model/lines";
import { formatRanges, parseRanges } from "../src/model/ranks";
import { shownOf } from "../src/model/shown";
import { inSight, scrolledTo } from "../src/model/window";
import { documentsOf, recordedQueues } from "./recorded";

const queues = recordedQueues("openmpi-4.1.4", "queues-rank-0", "queues-rank-1", "queues-rank-2");
const shown = shownOf(documentsOf(queues));
const lines = (filters: Partial<Filters> = {}, closed: string[] = []): Line[] => linesOf(shown, { ...noFilters, ...filters }, new Set(closed));
const operations = (all: Line[]): NonNullable<Line["operation"]>[] => all.flatMap((line) => line.operation ?? []);

describe("lists of ranks", () => {
  it("are read and written", () => {
    expect(parseRanges(" 0-3, 6 ,")).toEqual([[0, 3], [6, 6]]);
    expect(["3-", "a", "-1", "1 2"].map(parseRanges)).toEqual([null, null, null, null]);
    expect(formatRanges([6, 0, 2, 1, 1, 3])).toBe("0-3,6");
    expect(formatRanges([])).toBe("");
  });
});

describe("filters", () => {
  it("let pass what they name", () => {
    const all = operations(lines());
    expect(all.length).toBeGreaterThan(100);
    const own = { ...shown, operations: shown.operations.map((o, i) => ({ ...o, internal: i === 0 })) };
    expect(operations(linesOf(own, { ...noFilters }, new Set())).every((o) => !o.internal)).toBe(true);
    expect(operations(linesOf(own, { ...noFilters, internal: true }, new Set())).filter((o) => o.internal)).toHaveLength(1);
    expect(operations(lines({ internal: true })).length).toBe(shown.operations.length);
    expect(operations(lines({ ranks: "1-2" })).every((o) => o.rank === 1 || o.rank === 2)).toBe(true);
    expect(operations(lines({ queues: [false, true, false] })).every((o) => o.queue === 1)).toBe(true);
    const wild = operations(lines({ tag: "any" }));
    expect(wild.length).toBe(all.filter((o) => o.fields.tag_wild).length);
    const tag = all.find((o) => o.fields.desired_tag !== null && !o.fields.tag_wild)?.fields.desired_tag ?? 0;
    expect(operations(lines({ tag: String(tag) })).length).toBe(all.filter((o) => !o.fields.tag_wild && o.fields.desired_tag === tag).length);
    const ocean = lines({ communicator: "OCEAN" }).filter((line) => line.kind === "communicator");
    expect(ocean.map((line) => line.text.split(" · ")[0])).toEqual(["ocean model"]);
    expect(operations(lines({ local: true, ranks: "0" })).every((o) => o.localRank === 0)).toBe(true);
  });

  it("leave out what a rank has of itself alone, if nothing is in it", () => {
    const alone = (size: number): Line[] => linesOf({ ...shown, communicators: [{ label: "c", size, members: "0", internal: false, gaps: [[], [], []] }], operations: [] }, { ...noFilters }, new Set());
    expect([alone(1), alone(2)].map((all) => all.map((line) => line.text))).toEqual([[], ["c · 2 ranks · 0 / 0 / 0"]]);
  });

  it("that are not understood are marked, and let all pass", () => {
    expect([rankTest("x"), tagTest("x")]).toEqual([null, null]);
    expect(lines({ ranks: "x", tag: "y" }).filter((l) => l.operation).length).toBe(operations(lines()).length);
  });
});

describe("lines", () => {
  it("hold the queues in the order of matching", () => {
    const first = queues.processes[0]?.communicators.find((c) => c.name === "MPI_COMM_WORLD")?.pending_receives ?? [];
    const shownFirst = operations(lines({ communicator: "MPI_COMM_WORLD", ranks: "0", queues: [false, true, false] }));
    expect(first.length).toBeGreaterThan(1);
    expect(shownFirst.map((o) => o.fields)).toEqual(first.filter((o) => !o.internal));
  });

  it("are hidden below what is closed", () => {
    const [top] = lines();
    if (!top) throw new Error("there is no line");
    const left = lines({}, [top.key]);
    expect(left[0]).toMatchObject({ key: top.key, isOpen: false });
    expect(left[1]?.kind).toBe("communicator");
    const queue = lines().find((line) => line.kind === "queue" && line.queue === 1);
    if (!queue) throw new Error("there is no queue");
    expect(lines({}, [queue.key]).filter((line) => line.key.startsWith(`${queue.key}/`))).toEqual([]);
    expect(new Set(lines().map((line) => line.key)).size).toBe(lines().length);
  });

  it("show all fields of an operation", () => {
    const [operation] = operations(lines());
    if (!operation) throw new Error("there is no operation");
    const details = detailsOf(operation, shown);
    for (const name of Object.keys(operation.fields)) expect(details.map(([key]) => key)).toContain(name);
    expect(details.every(([, value]) => value !== "null" && value !== "undefined")).toBe(true);
  });

  it("hold nothing that would disturb a line", () => {
    expect(visible("a\u001b[31m\n\u202eb</script>")).toBe("a\uFFFD[31m\uFFFD\uFFFDb</script>");
  });

  it("in sight are few, however many there are", () => {
    const [operation] = operations(lines());
    if (!operation) throw new Error("there is no operation");
    const many = { ...shown, operations: Array.from({ length: 10_000 }, () => operation) };
    const all = linesOf(many, { ...noFilters }, new Set());
    expect(all.length).toBeGreaterThan(10_000);
    for (const scrolled of [0, 5_000 * 22, 1e9]) {
      const { first, end } = inSight(scrolled, 400, 22, all.length);
      expect(end - first).toBeLessThanOrEqual(40);
      expect(end).toBeLessThanOrEqual(all.length);
    }
    expect(inSight(22 * 100, 220, 22, all.length)).toEqual({ first: 90, end: 120 });
    expect([scrolledTo(0, 100, 220, 22), scrolledTo(6, 100, 220, 22), scrolledTo(100, 0, 220, 22)]).toEqual([0, 100, 2002]);
  });
});
