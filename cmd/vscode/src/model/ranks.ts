// Lists of ranks, as documents and users write them: "0-3,6".

/** Returns the ranges of a list, or null if it is none. */
export function parseRanges(text: string): [number, number][] | null {
  const ranges: [number, number][] = [];
  for (const word of text.split(",")) {
    const found = /^\s*(\d+)\s*(?:-\s*(\d+)\s*)?$/.exec(word);
    if (found) ranges.push([Number(found[1]), Number(found[2] ?? found[1])]);
    else if (word.trim() !== "") return null;
  }
  return ranges;
}

/** Writes numbers, which are in no order, as ranges. */
export function formatRanges(numbers: readonly number[]): string {
  const sorted = [...new Set(numbers)].sort((a, b) => a - b);
  const words: string[] = [];
  for (let i = 0; i < sorted.length; ) {
    let last = i;
    while (sorted[last + 1] === (sorted[last] ?? 0) + 1) last++;
    words.push(last === i ? String(sorted[i]) : `${String(sorted[i])}-${String(sorted[last])}`);
    i = last + 1;
  }
  return words.join(",");
}
