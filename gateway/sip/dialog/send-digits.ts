import type { MediaPort } from '../../../media/types.ts'
import type { Clock } from '../../core/clock.ts'
import type { Log } from '../../core/log.ts'

/** What sends digits. */
export interface SendDigitsDeps {
  readonly port: Pick<MediaPort, 'sendDigits'>
  /** Sends one digit as INFO; undefined while no dialog is established. */
  readonly info: ((digit: string) => Promise<boolean>) | undefined
  /** The call may end meanwhile: what is left of the digits is for nobody then. */
  readonly leg: { readonly isEnded: boolean }
  readonly clock: Clock
  readonly log: Pick<Log, 'warn'>
}

/** Milliseconds of the pauses `w` and `W`. */
const pauses: Readonly<Record<string, number>> = { w: 500, W: 1_000 }

/**
 * Sends digits by RFC 4733, and where the far side takes none of it, one by one as INFO. Never rejects; with
 * the first one that is not taken it ends, and that is logged unless the call is over.
 */
export const sendDigits = async (digits: string, deps: SendDigitsDeps): Promise<void> => {
  const { port, info, leg, log } = deps
  try {
    if ((await port.sendDigits(digits)) || leg.isEnded) return
    if (!info) {
      log.warn({ digits: digits.length }, 'digits not sent: no telephone-event, and the call is not answered')
      return
    }
    for (const digit of digits) {
      const pause = pauses[digit]
      if (pause !== undefined) await waited(deps.clock, pause)
      else if (!(await info(digit))) {
        // Those that follow would make another number of it.
        if (!leg.isEnded) log.warn({}, 'a digit was not taken: no telephone-event, and INFO is refused')
        return
      }
    }
  } catch (error) {
    log.warn({ reason: error instanceof Error ? error.message : String(error) }, 'digits not sent')
  }
}

const waited = (clock: Clock, ms: number): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<void>()
  clock.after(ms, resolve)
  return promise
}
