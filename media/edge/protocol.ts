import type { FarEnd, NearEnd, PortEvent, PortStats } from '../types.ts'

/** Names a port between the threads; never used twice by one edge. */
export type PortNumber = number

/** Opens a port. */
export interface OpenCommand {
  readonly op: 'open'
  readonly port: PortNumber
  /** Local address to bind. */
  readonly bind: string
  /** Even port with the odd one after it; absent: one socket on any port, for both RTP and RTCP. */
  readonly rtpPort?: number
  readonly seed: { readonly ssrc: number; readonly sequence: number; readonly timestamp: number }
  readonly cname: string
  /** In ms; absent: waits for ever. */
  readonly startTimeoutMs?: number
  readonly mediaTimeoutMs?: number
}

/** What the main thread tells a media thread. Packets never cross. */
export type Command =
  | OpenCommand
  | { readonly op: 'far'; readonly port: PortNumber; readonly near: NearEnd; readonly far: FarEnd }
  | { readonly op: 'join'; readonly port: PortNumber; readonly other: PortNumber }
  | { readonly op: 'part'; readonly port: PortNumber }
  | {
      readonly op: 'play'
      readonly port: PortNumber
      readonly play: number
      readonly samples: Int16Array
      readonly loop: number
      readonly volumeDb: number
    }
  | { readonly op: 'stop'; readonly port: PortNumber; readonly play: number }
  | { readonly op: 'digits'; readonly port: PortNumber; readonly request: number; readonly digits: string }
  | { readonly op: 'stats'; readonly port: PortNumber; readonly request: number }
  | { readonly op: 'close'; readonly port: PortNumber; readonly request: number }

/** What a media thread tells the main thread. */
export type Report =
  | { readonly op: 'opened'; readonly port: PortNumber; readonly rtpPort: number }
  /** `taken`: somebody else has bound the port. */
  | { readonly op: 'failed'; readonly port: PortNumber; readonly taken: boolean; readonly message: string }
  | { readonly op: 'event'; readonly port: PortNumber; readonly event: PortEvent }
  | { readonly op: 'played'; readonly port: PortNumber; readonly play: number }
  | { readonly op: 'digits'; readonly port: PortNumber; readonly request: number; readonly sent: boolean }
  /** Answers `stats` and `close`. */
  | { readonly op: 'stats'; readonly port: PortNumber; readonly request: number; readonly stats: PortStats }
