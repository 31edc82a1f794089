import { parseDuration } from './durations.ts'
import type { Report } from './faults.ts'
import type { FileConfig } from './file.ts'

/** A call takes that long to begin. */
const leastTtlMs = 60_000

/** Checks what a schema cannot say of `media.webrtc.turn`. */
export const checkTurn = ({ media }: FileConfig, report: Report): void => {
  const { turn } = media.webrtc
  if (!turn) return
  const keys = ['media', 'webrtc', 'turn']
  const relays = turn.urls.some((url) => !isStun(url))
  if (relays && turn.secret === undefined) report(keys, 'needs the secret that its TURN servers know')
  if (!relays && turn.secret !== undefined)
    report([...keys, 'secret'], 'has a meaning only together with a TURN server')
  if ((parseDuration(turn.ttl) ?? 0) < leastTtlMs) report([...keys, 'ttl'], 'must be at least 1m')
}

/** A STUN server relays nothing, and asks for no password. */
export const isStun = (url: string): boolean => /^stun:/i.test(url)
