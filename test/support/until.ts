import { setTimeout as sleep } from 'node:timers/promises'

/** Factor for all time-outs, for a busy machine. */
export const patience = 3

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
  const end = performance.now() + ms * patience
  for (;;) {
    const answer = await ask()
    if (holds(answer)) return answer
    if (performance.now() > end)
      throw new Error(`not within ${ms * patience} ms: ${what}; last seen: ${JSON.stringify(answer)}`)
    await sleep(25)
  }
}
