import { setTimeout as sleep } from 'node:timers/promises'

/** Stretches every bound, for a machine that is busy with something else. */
export const patience = 3

/**
 * Polls `ask` until `holds` accepts the answer, and returns it. Throws with `what` and the last answer after
 * `ms` (default 10 s), stretched by {@link patience}. Question and check are apart so that the failure shows
 * the last answer.
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
