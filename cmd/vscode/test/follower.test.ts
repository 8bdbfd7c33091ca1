import { describe, expect, it } from "vitest";
import { type Followed, Follower } from "../src/view/follower";

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function session(id: string, verdict: () => string): Followed & { asked: string[] } {
  const asked: string[] = [];
  return {
    id,
    name: id,
    asked,
    customRequest: (command) => {
      asked.push(command);
      return command === "mpiDeadlock"
        ? Promise.resolve({ verdict: verdict(), why: "", world_size: 1, missing_ranks: [], groups: [], near_misses: [], notes: [] })
        : Promise.resolve({ processes: [], ranks: [], svg: "<svg/>" });
    },
  };
}

describe("a follower", () => {
  it("reads at each stop, once", async () => {
    let told = 0, verdict = "deadlock";
    const follower = new Follower(() => told++);
    const one = session("one", () => verdict);
    follower.began(one, "requests");
    expect(follower.state()).toMatchObject({ condition: "running", shown: null });
    follower.heard("one", "stopped");
    follower.heard("one", "stopped");
    expect(follower.state().condition).toBe("reading");
    await settled();
    expect(one.asked).toEqual(["mpiDeadlock", "mpiQueues", "mpiRanks"]);
    expect(follower.state()).toMatchObject({ condition: "stopped", shown: { verdict: "deadlock" } });
    follower.heard("one", "continued");
    expect(follower.state()).toMatchObject({ condition: "running", shown: { verdict: "deadlock" } });
    verdict = "undecided";
    follower.heard("one", "stopped");
    await settled();
    expect(follower.state()).toMatchObject({ condition: "stopped", shown: { verdict: "undecided" } });
    await follower.refresh();
    expect(one.asked).toHaveLength(9);
    expect(told).toBeGreaterThan(4);
  });

  it("reads the picture once in a stop, where it is wanted", async () => {
    const follower = new Follower(() => undefined);
    const one = session("one", () => "deadlock");
    await follower.draw();
    follower.began(one, "requests");
    await follower.draw();
    follower.heard("one", "stopped");
    await settled();
    expect(one.asked).not.toContain("mpiPicture");
    expect(follower.pictureState()).toEqual({ condition: "stopped", session: "one", verdict: "deadlock", why: "", picture: null });
    await Promise.all([follower.draw(), follower.draw()]);
    expect(one.asked.filter((command) => command === "mpiPicture")).toHaveLength(1);
    expect(follower.pictureState().picture).toEqual({ document: "<svg/>" });
    follower.heard("one", "stopped");
    await settled();
    const drawing = follower.draw();
    follower.heard("one", "continued");
    await drawing;
    expect(one.asked.filter((command) => command === "mpiPicture")).toHaveLength(2);
    expect(follower.pictureState()).toMatchObject({ condition: "running", picture: { document: "<svg/>" } });
  });

  it("does not take what was read before for the present", async () => {
    const follower = new Follower(() => undefined);
    const one = session("one", () => "deadlock");
    follower.began(one, "requests");
    follower.heard("one", "stopped");
    await Promise.resolve();
    follower.heard("one", "continued");
    await settled();
    expect(follower.state()).toMatchObject({ condition: "running", shown: null });
  });

  it("shows the session that the user looks at", async () => {
    const follower = new Follower(() => undefined);
    follower.began(session("one", () => "deadlock"), "requests");
    follower.heard("one", "stopped");
    follower.began(session("two", () => "undecided"), "requests");
    follower.heard("two", "stopped");
    follower.heard("three", "stopped");
    await settled();
    follower.activated("two");
    expect(follower.state().shown?.verdict).toBe("undecided");
    follower.activated("one");
    expect(follower.state().shown?.verdict).toBe("deadlock");
    follower.ended("one");
    expect(follower.state()).toMatchObject({ session: "two" });
    follower.ended("two");
    expect(follower.state()).toEqual({ condition: "none", session: "", shown: null });
  });
});
