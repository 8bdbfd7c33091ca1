import { describe, expect, it } from "vitest";
import { nearest } from "../src/model/nearest";

describe("the node beside another one", () => {
  // 0 1
  // 2 3    4 is far to the right of 1, and a bit below.
  const points = [{ x: 0, y: 0 }, { x: 100, y: 0 }, { x: 0, y: 60 }, { x: 100, y: 60 }, { x: 400, y: 20 }];

  it.each([
    [0, [1, 0], 1], [0, [0, 1], 2], [3, [-1, 0], 2], [3, [0, -1], 1], [1, [1, 0], 4], [4, [-1, 0], 1],
    [0, [-1, 0], 0], [0, [0, -1], 0], [9, [1, 0], 9],
  ] as const)("of %i in the direction %o is %i", (from, way, found) => {
    expect(nearest(points, from, way)).toBe(found);
  });
});
