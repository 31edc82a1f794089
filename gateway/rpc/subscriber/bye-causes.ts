import { type Cause, type Code, catalogue } from '../../core/errors/catalogue.ts'

/** Codes of rooms that pages tell apart: several of them share a Q.850 cause. */
const roomReasons: ReadonlySet<Code> = new Set(['room_full', 'room_locked', 'room_not_open', 'room_ended'])

/**
 * Returns the body of a `verto.bye`: Q.850 name and value, and the reason of a room. The room has rejected
 * the call, or has removed its member. The published SDK ignores the reason.
 */
export const byeOf = ({ code, removal }: Cause) => {
  const { cause, q850 } = catalogue[code]
  const reason = roomReasons.has(code) ? code : removal ? `room_${removal}` : undefined
  return { cause, causeCode: q850, ...(reason && { reason }) }
}

/** Cause code of the browser SDK that stops ringing on all devices of the subscriber. Not a Q.850 value. */
export const rejectAllCode = 825

/** Returns the cause of a leg's end for the `causeCode` of a `verto.bye`; `otherwise` for any other code. */
export const causeOf = (causeCode: number | undefined, otherwise: Cause['code']): Cause => {
  if (causeCode === catalogue.busy.q850) return { code: 'busy' }
  if (causeCode === catalogue.declined.q850 || causeCode === rejectAllCode) return { code: 'declined' }
  if (causeCode === catalogue.no_answer.q850) return { code: 'no_answer' }
  return { code: otherwise }
}
