import { parseDuration } from '../durations.ts'
import { misplaced, type Report } from '../faults.ts'
import type { FileConfig } from '../file-config.ts'

/** Minimum lifetime of a TURN password, in milliseconds: call setup can take this long. */
const minTtlMs = 60_000

/** Checks the rules of `media.webrtc.turn` beyond the schema. */
export const checkTurn = ({ media }: FileConfig, report: Report): void => {
  const { turn } = media.webrtc
  if (!turn) return
  const keys = ['media', 'webrtc', 'turn']
  const relays = turn.urls.some((url) => !isStun(url))
  if (relays && turn.secret === undefined) report(keys, 'requires secret, which the TURN servers share')
  if (!relays && turn.secret !== undefined)
    report([...keys, 'secret'], 'is permitted only with a TURN server', misplaced)
  if ((parseDuration(turn.ttl) ?? 0) < minTtlMs) report([...keys, 'ttl'], 'must be at least 1m')
}

/** Returns whether a URI names a STUN server, which relays nothing and needs no password. */
export const isStun = (url: string): boolean => /^stun:/i.test(url)
