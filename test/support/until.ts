import { setTimeout as sleep } from 'node:timers/promises'

/** Stretches every bound, for a machine that is busy with something else. */
export const patience = 3

/**
 * Asks again and again until `holds` accepts the answer, and gives that answer. Throws with `what` and the last answer when `ms` (default 10 s) are
 * over. Question and check are apart so that the failure can show what was seen instead.
 */
export const until = async <T>(
  what: string,
  ask: () => T | Promise<T>,
  holds: (answer: T) => boolean = Boolean,
  ms = 10_000,
): Promise<T> => {
  const end = performance.now() + ms * patience
  for (;;) {
    const answer = await ask()
    if (holds(answer)) return answer
    if (performance.now() > end)
      throw new Error(`not within ${ms * patience} ms: ${what}; last seen: ${JSON.stringify(answer)}`)
    await sleep(25)
  }
}
