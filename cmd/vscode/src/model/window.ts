// Which lines of a long list are in sight: all of them have one height.

export interface Range {
  first: number;
  /** After the last one. */
  end: number;
}

/** Returns the lines to draw: those in sight and some beyond, so that scrolling shows no gap. */
export function inSight(scrolled: number, height: number, lineHeight: number, count: number, beyond = 10): Range {
  const first = Math.max(0, Math.min(Math.floor(scrolled / lineHeight), count) - beyond);
  const end = Math.min(count, Math.ceil((scrolled + height) / lineHeight) + beyond);
  return { first, end: Math.max(first, end) };
}

/** Returns how far to scroll so that a line is in sight: no further than needed. */
export function scrolledTo(line: number, scrolled: number, height: number, lineHeight: number): number {
  const top = line * lineHeight;
  if (top < scrolled) return top;
  return top + lineHeight > scrolled + height ? top + lineHeight - height : scrolled;
}
