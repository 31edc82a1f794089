import { setTimeout as sleep } from 'node:timers/promises'

/** Factor for all time-outs, for a busy machine. */
export const patience = 3

/** Shortest and longest pause between two polls, in ms. */
const pauses = { shortest: 25, longest: 100 } as const

/**
 * Polls `ask` until `holds` accepts the value, and returns the value. Throws with `what` and the last value
 * after `ms` (default 10 s), multiplied by {@link patience}. The separate check lets the failure show the
 * last value.
 */
export const until = async <T>(
  what: string,
  ask: () => T | Promise<T>,
  holds: (answer: T) => boolean = Boolean,
  ms = 10_000,
): Promise<T> => {
  const begin = performance.now()
  const end = begin + ms * patience
  for (;;) {
    const answer = await ask()
    if (holds(answer)) return answer
    if (performance.now() > end)
      throw new Error(`not within ${ms * patience} ms: ${what}; last seen: ${JSON.stringify(answer)}`)
    // Each poll takes time from the peers, so a long wait polls less often: it ends at most 2.5 % later.
    await sleep(Math.min(pauses.longest, Math.max(pauses.shortest, (performance.now() - begin) / 40)))
  }
}
