// How the walks over aborts take time: by turns of the microtask queue, so that an abort comes at every point where a call waits.

/** That many turns of the microtask queue. */
export async function turns(count: number): Promise<void> {
  for (let left = count; left > 0; left -= 1) await Promise.resolve();
}

/** All that waits for nothing but turns has ended. */
export function quiet(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** What it came to, whichever way. */
export function ended(running: Promise<unknown>): Promise<unknown> {
  return running.catch((error: unknown) => error);
}

/** Walk an abort over so many turns; what was found wrong says at which. */
export async function walk(
  last: number,
  step: number,
  look: (turn: number) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  const bad: string[] = [];
  for (let turn = 0; turn <= last; turn += step) for (const why of await look(turn)) bad.push(`${turn}: ${why}`);
  return bad;
}
