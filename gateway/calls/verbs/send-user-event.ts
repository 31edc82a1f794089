import { verbFailed } from '../leg/failures.ts'
import type { Leg } from '../leg/leg.ts'

/** Maximum size of an event's JSON, in bytes. */
const maxUserEventBytes = 16_384

/**
 * Sends an event to the far side's browser. Returns false if it cannot be sent. Throws
 * `user_event_too_large`.
 */
export const sendUserEvent = (leg: Leg, event: Readonly<Record<string, unknown>>): boolean => {
  const bytes = Buffer.byteLength(JSON.stringify(event))
  if (bytes > maxUserEventBytes) throw verbFailed('user_event_too_large', `${bytes} bytes are too many.`)
  return leg.userEvent(event)
}
