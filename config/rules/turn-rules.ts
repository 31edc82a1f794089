import { parseDuration } from '../durations.ts'
import type { Report } from '../faults.ts'
import type { FileConfig } from '../file-config.ts'

/** Minimum lifetime of a password, in milliseconds: the setup of a call can take this long. */
const minTtlMs = 60_000

/** Checks the rules of `media.webrtc.turn` beyond the schema. */
export const checkTurn = ({ media }: FileConfig, report: Report): void => {
  const { turn } = media.webrtc
  if (!turn) return
  const keys = ['media', 'webrtc', 'turn']
  const relays = turn.urls.some((url) => !isStun(url))
  if (relays && turn.secret === undefined) report(keys, 'requires secret, which the TURN servers share')
  if (!relays && turn.secret !== undefined)
    report([...keys, 'secret'], 'is permitted only with a TURN server')
  if ((parseDuration(turn.ttl) ?? 0) < minTtlMs) report([...keys, 'ttl'], 'must be at least 1m')
}

/** Whether a URI is that of a STUN server, which relays nothing and needs no password. */
export const isStun = (url: string): boolean => /^stun:/i.test(url)
