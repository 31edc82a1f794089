import type { Call } from '../call/call.ts'
import type { Winner } from '../connect/fork-types.ts'
import { verbFailed } from './failures.ts'
import type { Leg } from './leg.ts'

/** Bytes of JSON that a browser is sent at most. */
const maxUserEventBytes = 16_384

/** Whether these are keys that can be pressed, and pauses between them. */
export const isDigits = (digits: string): boolean => /^[0-9*#A-DwW]+$/.test(digits)

/** Throws `invalid_digits`. */
export const checkDigits = (digits: string): void => {
  if (isDigits(digits)) return
  const found = JSON.stringify(digits.slice(0, 64))
  throw verbFailed('invalid_digits', `digits: expected 0-9 * # A-D w W, found ${found}`)
}

/** Presses keys on the caller's telephone, one after the other; none more once the signal fires. */
export const sendDigits = async (call: Call, digits: string, signal?: AbortSignal): Promise<void> => {
  checkDigits(digits)
  await call.openAudio(true, signal)
  // All at once where nobody can interrupt it: a far side that is told by messages gets one.
  for (const keys of signal ? digits : [digits]) {
    signal?.throwIfAborted()
    await call.whileUp(call.caller.sendDigits(keys), signal)
  }
}

/**
 * Presses the keys of whom is called, after its answer, and resolves where its leg is over before. Undefined where there are none, and for who
 * is asked for a confirmation: that has heard them before.
 */
export const sendDigitsAfterAnswer = ({
  leg,
  branch: { destination },
}: Winner): Promise<void> | undefined => {
  const { sendDigits, confirm } = destination
  if (!sendDigits || confirm || leg.isEnded) return undefined
  const { promise, resolve } = Promise.withResolvers<void>()
  leg.whenGone(resolve)
  return Promise.race([leg.sendDigits(sendDigits), promise])
}

/** Tells the far side's browser something; false where it cannot be told. */
export const sendUserEvent = (leg: Leg, event: Readonly<Record<string, unknown>>): boolean => {
  const bytes = Buffer.byteLength(JSON.stringify(event))
  if (bytes > maxUserEventBytes) throw verbFailed('user_event_too_large', `${bytes} bytes are too many.`)
  return leg.userEvent(event)
}
