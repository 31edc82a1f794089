import type { MediaPort } from '../../../media/types.ts'
import type { Clock } from '../../core/clock.ts'
import type { Log } from '../../core/log.ts'

/** Leg on which digits are sent. If the leg ends meanwhile, the remaining digits are dropped. */
export interface DigitSession {
  readonly leg: { readonly isEnded: boolean }
  readonly media: { readonly port: Pick<MediaPort, 'sendDigits'> }
  readonly clock: Clock
  readonly log: Pick<Log, 'warn'>
}

/** Milliseconds of the pauses `w` and `W`. */
const pauses: Readonly<Record<string, number>> = { w: 500, W: 1_000 }

/**
 * Sends digits by RFC 4733, or one by one as INFO if the peer has no telephone-event. Never rejects. Stops at
 * the first rejected digit, and logs that unless the call has ended. `sendInfo` sends one digit as INFO;
 * undefined while no dialog is established.
 */
export const sendDigits = async (
  digits: string,
  { leg, media, clock, log }: DigitSession,
  sendInfo: ((digit: string) => Promise<boolean>) | undefined,
): Promise<void> => {
  try {
    if ((await media.port.sendDigits(digits)) || leg.isEnded) return
    if (!sendInfo) {
      log.warn(
        { event: 'dtmf.digits-dropped', digits: digits.length },
        'digits not sent: no telephone-event, and call not answered',
      )
      return
    }
    for (const digit of digits) {
      const pause = pauses[digit]
      if (pause !== undefined) await waited(clock, pause)
      else if (!(await sendInfo(digit))) {
        // The remaining digits are not sent: without the rejected one they would be another number.
        if (!leg.isEnded)
          log.warn({ event: 'dtmf.digit-rejected' }, 'digit rejected: no telephone-event, and INFO rejected')
        return
      }
    }
  } catch (error) {
    log.warn(
      { event: 'dtmf.digits-failed', reason: error instanceof Error ? error.message : String(error) },
      'digits not sent',
    )
  }
}

const waited = (clock: Clock, ms: number): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<void>()
  clock.after(ms, resolve)
  return promise
}
