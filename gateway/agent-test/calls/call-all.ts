import type { CallerPhones } from '../line/caller-phones.ts'

/** Calls of one caller. They end early when `stop` is aborted. */
export type Caller<Seat> = (seat: Seat, index: number, stop: AbortSignal) => Promise<void>

/** Collaborators of {@link callAll}. */
export interface CallAllDeps {
  readonly phones: Pick<CallerPhones, 'endCalls'>
  /** Ends the calls of all callers. */
  readonly signal: AbortSignal
}

/**
 * Runs all callers at once. The first error of one, or `signal`, ends the calls of all others. Rejects with
 * that error, or with the reason of the signal, when the calls have ended.
 */
export const callAll = async <Seat>(
  seats: readonly Seat[],
  { phones, signal }: CallAllDeps,
  caller: Caller<Seat>,
): Promise<void> => {
  const failed = new AbortController()
  const stop = AbortSignal.any([signal, failed.signal])
  const ended = Promise.withResolvers<void>()
  const end = (): void => {
    // A caller may hang for another reason, such as a server that does not respond.
    phones.endCalls().then(ended.resolve, ended.reject)
  }
  stop.addEventListener('abort', end, { once: true })
  if (stop.aborted) end()
  const callers = seats.map((seat, index) =>
    caller(seat, index, stop).catch((error: unknown) => failed.abort(error)),
  )
  await Promise.race([Promise.all(callers), ended.promise])
  if (stop.aborted) await ended.promise
  stop.throwIfAborted()
}
