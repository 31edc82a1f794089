import type { Clock, Timer } from './clock.ts'
import type { PeerConnection } from './environment.ts'

// A candidate that needs longer than this after the one before is not worth the wait; a dead STUN server must not hold up a call.
const QUIET_MS = 600
const LONGEST_MS = 5000

// A section that was added just now: the browser says `complete` for a moment yet, of those before.
const lacksCandidates = (sdp: string | undefined): boolean =>
  (sdp ?? '')
    .split(/^m=/m)
    .slice(1)
    .some((section) => !/^\S+ 0 /.test(section) && !/^a=(candidate|end-of-candidates)/m.test(section))

/**
 * Waits until ICE gathering is complete, no candidate came for 600 ms, or 5 s have gone by. To be called right after
 * setLocalDescription; the local description then carries the candidates, since nothing is trickled.
 */
export const gathered = (peer: PeerConnection, clock: Clock): Promise<void> =>
  new Promise((resolve) => {
    if (peer.iceGatheringState === 'complete' && !lacksCandidates(peer.localDescription?.sdp)) {
      resolve()
      return
    }
    let quiet: Timer | undefined
    const done = () => {
      quiet?.cancel()
      limit.cancel()
      peer.onicecandidate = null
      peer.onicegatheringstatechange = null
      resolve()
    }
    const limit = clock.after(LONGEST_MS, done)
    peer.onicegatheringstatechange = () => {
      if (peer.iceGatheringState === 'complete') done()
    }
    peer.onicecandidate = ({ candidate }) => {
      if (!candidate) return
      quiet?.cancel()
      quiet = clock.after(QUIET_MS, done)
    }
  })

/** The description without candidates under mDNS names (`….local`), which no server can resolve. */
export const withoutLocalNames = (sdp: string): string =>
  sdp
    .split('\r\n')
    .filter((line) => !/^a=candidate:\S+ \d+ \S+ \d+ \S+\.local /.test(line))
    .join('\r\n')
