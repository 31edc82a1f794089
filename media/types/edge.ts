import type { Mixer } from './mixer.ts'
import type { MediaPort } from './port.ts'

/** What a new carrier port needs. */
export interface PortOptions {
  readonly group: string
  /**
   * `carrier`: bound to the configured address and port range, strict source learning, time-outs.
   * `loopback`: on 127.0.0.1 with any port, towards mediasoup; no time-outs.
   */
  readonly kind: 'carrier' | 'loopback'
  /** Longest wait for the first packet after {@link MediaPort.setFar}, in ms; default the edge's. */
  readonly startTimeoutMs?: number
  /** Longest silence between packets, in ms; paused while the direction is not `sendrecv`: somebody holds. */
  readonly mediaTimeoutMs?: number
}

/** Owner of every RTP socket: worker threads, each with its share of the port range. */
export interface Edge {
  /** Rejects with an Error whose `code` is `no_ports` when the range is used up. */
  open(options: PortOptions): Promise<MediaPort>
  /**
   * Cross-connects two ports; each leaves its former partner, or its mixer. Of different groups they may be in different threads, and the audio
   * then goes between these: decoded, and later by some 40 ms.
   */
  join(a: MediaPort, b: MediaPort): void
  /** Ends a join, or takes it out of its mixer; harmless when there is none. */
  part(port: MediaPort): void
  /** Rejects with an Error whose `code` is `closed` when the edge is. */
  openMixer(): Promise<Mixer>
  /** Mixers, recordings, taps and detections that are not over. */
  readonly busy: {
    readonly mixers: number
    readonly recordings: number
    readonly taps: number
    readonly detections: number
  }
  /**
   * Carrier ports open, and how many the range holds. `quarantined` ones are closed and rest; they are taken only when no other is
   * free, which `reused` counts since the start.
   */
  usage(): {
    readonly used: number
    readonly total: number
    readonly quarantined: number
    readonly reused: number
  }
  /** Ports open, of every kind. */
  readonly portCount: number
  /**
   * The one listener for the death of a worker thread. Its ports are gone: they report nothing more, and what is pending on them
   * settles. The next port that needs the thread starts a new one.
   */
  onFailure(listener: (failure: EdgeFailure) => void): void
  close(): Promise<void>
}

/** A worker thread died. */
export interface EdgeFailure {
  readonly error: Error
  /** Ids of the ports that died with it. */
  readonly ports: readonly string[]
}
