// The steps of the test, which a log names.
import { patience } from "./place.mjs";

let passed = 0;

/** How many steps have passed. */
export const count = () => passed;

/** One step. Of one that fails a picture is kept. */
export async function step(editor, name, work) {
  try {
    await work();
  } catch (error) {
    await editor.picture("failed");
    throw error;
  }
  passed++;
  console.log(`${name}: passed after ${Math.round(performance.now() / 1000)} s`);
}

/** Says whether an error means that a page is being replaced by another. */
export const isReplaced = (error) => /detached|destroyed|closed/.test(error.message);

/** Waits until a function returns, or resolves with, something true; returns that. */
export async function until(what, test) {
  for (const late = Date.now() + patience; Date.now() < late; ) {
    try {
      const value = await test();
      if (value) return value;
    } catch (error) {
      if (!isReplaced(error)) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`waited in vain ${what}`);
}
