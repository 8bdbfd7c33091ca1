// Which point is beside another one.

export interface Point {
  x: number;
  y: number;
}

/**
 * Returns the index of the point that is nearest to another one in a direction: what lies aside counts
 * double, and what lies more than twice as far aside as ahead not at all. Where there is none, it is the same point.
 */
export function nearest(points: readonly Point[], from: number, [dx, dy]: readonly [number, number]): number {
  const start = points[from];
  let best = from, least = Infinity;
  points.forEach((point, i) => {
    if (start === undefined || i === from) return;
    const ahead = (point.x - start.x) * dx + (point.y - start.y) * dy;
    const aside = Math.abs((point.x - start.x) * dy) + Math.abs((point.y - start.y) * dx);
    if (ahead <= 0 || aside > ahead * 2) return;
    const far = ahead + 2 * aside;
    if (far < least) [best, least] = [i, far];
  });
  return best;
}
