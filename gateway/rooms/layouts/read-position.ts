import { TrunklineError } from '../../core/errors/catalogue.ts'
import type { Position } from '../room-types.ts'

const named: ReadonlySet<string> = new Set(['auto', 'off-canvas', 'playback', 'full-screen'])

/** Reads the name of a position. Returns undefined if no layout has it. */
export const readPosition = (name: string): Position | undefined =>
  named.has(name) || /^(?:standard|reserved)-[1-9]\d{0,2}$/.test(name) ? (name as Position) : undefined

/** Returns the position of a name. Throws `room_position_unknown` if no layout has it. */
export const positionNamed = (name: string): Position => {
  const position = readPosition(name)
  if (!position) throw new TrunklineError('room_position_unknown', undefined, { position: name })
  return position
}
