import type { Mixer, MixerOptions } from './mixer.ts'
import type { MediaPort } from './port.ts'

/** Options of a new port. */
export interface PortOptions {
  readonly group: string
  /**
   * `carrier`: bound to the configured address and port range, with strict source learning and time-outs.
   * `loopback`: any port on 127.0.0.1, towards mediasoup, without time-outs.
   */
  readonly kind: 'carrier' | 'loopback'
  /**
   * Maximum wait for the first packet after {@link MediaPort.setFar}, in ms; default: the limit of the edge.
   */
  readonly startTimeoutMs?: number
  /** Maximum time between packets, in ms. Paused during hold (while the direction is not `sendrecv`). */
  readonly mediaTimeoutMs?: number
}

/** Owner of all RTP sockets: worker threads, each with its part of the port range. */
export interface Edge {
  /** Opens a port. Rejects with an Error of `code` `no_ports` if the range is used up. */
  open(options: PortOptions): Promise<MediaPort>
  /**
   * Connects two ports. Each leaves its former partner or mixer first. Ports of different groups may be in
   * different threads. Their audio is then decoded and passed between the threads, which delays it by about
   * 40 ms.
   */
  join(a: MediaPort, b: MediaPort): void
  /** Disconnects the port from its partner or mixer. No effect on a port that has neither. */
  detach(port: MediaPort): void
  /** Opens a mixer. Rejects with an Error of `code` `closed` if the edge is closed. */
  openMixer(options?: MixerOptions): Promise<Mixer>
  /** Number of open mixers, recordings, taps and detections. */
  readonly busy: {
    readonly mixers: number
    readonly recordings: number
    readonly taps: number
    readonly detections: number
  }
  /**
   * Number of open carrier ports, and size of the range. `quarantined` ports were closed recently and are
   * opened again only if no other is free; `reused` counts how often that happened since the start.
   */
  usage(): {
    readonly used: number
    readonly total: number
    readonly quarantined: number
    readonly reused: number
  }
  /** Number of open ports of every kind. */
  readonly portCount: number
  /**
   * Sets the only listener for the death of a worker thread. The ports of the dead thread report nothing
   * more, and their pending results settle. A new thread starts with the next port.
   */
  onFailure(listener: (failure: EdgeFailure) => void): void
  close(): Promise<void>
}

/** Death of a worker thread. */
export interface EdgeFailure {
  readonly error: Error
  /** Ids of the ports that the thread held. */
  readonly ports: readonly string[]
}
