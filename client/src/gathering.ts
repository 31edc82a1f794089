import type { Clock, Timer } from './clock.ts'
import type { PeerConnection } from './environment.ts'

// Maximum wait for the next candidate: a dead STUN server must not delay a call.
const maxGapMs = 600
const maxWaitMs = 5000

// After a section is added, the browser still reports `complete` for a moment, for the sections before it.
const lacksCandidates = (sdp: string | undefined): boolean =>
  (sdp ?? '')
    .split(/^m=/m)
    .slice(1)
    .some((section) => !/^\S+ 0 /.test(section) && !/^a=(candidate|end-of-candidates)/m.test(section))

/**
 * Waits until ICE gathering is complete, no candidate arrived for 600 ms, or 5 s have passed.
 * Must be called right after setLocalDescription. The local description then carries the candidates, since
 * nothing is trickled.
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
    const limit = clock.after(maxWaitMs, done)
    peer.onicegatheringstatechange = () => {
      if (peer.iceGatheringState === 'complete') done()
    }
    peer.onicecandidate = ({ candidate }) => {
      if (!candidate) return
      quiet?.cancel()
      quiet = clock.after(maxGapMs, done)
    }
  })

/** Removes candidates with mDNS names (`….local`), which no server can resolve. */
export const withoutLocalNames = (sdp: string): string =>
  sdp
    .split('\r\n')
    .filter((line) => !/^a=candidate:\S+ \d+ \S+ \d+ \S+\.local /.test(line))
    .join('\r\n')
