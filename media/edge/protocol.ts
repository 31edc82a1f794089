import type { MessagePort } from 'node:worker_threads'
import type { SeatOptions } from '../mix/seat.ts'
import type {
  DetectFinding,
  DetectRequest,
  FarEnd,
  NearEnd,
  PcmRate,
  PortEvent,
  PortStats,
  RecordingResult,
  RecordRequest,
  TapFrame,
  TapRequest,
  Volumes,
} from '../types.ts'

/** Names a port or a mixer between the threads, and what plays, records and taps there; never used twice by one edge. */
export type PortNumber = number

/** Opens a port. */
export interface OpenCommand {
  readonly op: 'open'
  readonly port: PortNumber
  /** Local addresses to bind, one of each IP family at most. */
  readonly bind: readonly string[]
  /** Even port with the odd one after it; absent: one socket on any port of the first address, for both RTP and RTCP. */
  readonly rtpPort?: number
  readonly seed: { readonly ssrc: number; readonly sequence: number; readonly timestamp: number }
  readonly cname: string
  /** In ms; absent: waits for ever. */
  readonly startTimeoutMs?: number
  readonly mediaTimeoutMs?: number
}

/** About what a port, or a mixer by its own number, plays. */
export type PlayCommand =
  | {
      readonly op: 'play'
      readonly port: PortNumber
      readonly play: number
      readonly samples: Int16Array
      readonly sampleRate: PcmRate
      readonly loop: number
      readonly volumeDb: number
    }
  | { readonly op: 'stop' | 'pause' | 'resume'; readonly port: PortNumber; readonly play: number }
  | { readonly op: 'volume'; readonly port: PortNumber; readonly play: number; readonly volumeDb: number }

/** About those who listen to a port, or to a mixer by its own number. */
export type ListenCommand =
  | {
      readonly op: 'record'
      readonly port: PortNumber
      readonly record: number
      readonly request: RecordRequest
    }
  | {
      readonly op: 'recording'
      readonly port: PortNumber
      readonly record: number
      readonly act: RecordingAct
    }
  | { readonly op: 'tap'; readonly port: PortNumber; readonly tap: number; readonly request: TapRequest }
  | { readonly op: 'speak'; readonly port: PortNumber; readonly tap: number; readonly samples: Int16Array }
  | { readonly op: 'spoken'; readonly port: PortNumber; readonly tap: number; readonly request: number }
  | { readonly op: 'silence' | 'untap'; readonly port: PortNumber; readonly tap: number }
  | {
      readonly op: 'detect'
      readonly port: PortNumber
      readonly detection: number
      readonly request: DetectRequest
    }
  | { readonly op: 'undetect'; readonly port: PortNumber; readonly detection: number }
  /** A recording or a tap listens here from now on, and where it did no more. */
  | { readonly op: 'move'; readonly port: PortNumber; readonly listener: number }

/** What a recording is told: to pause in one of two ways, to go on, or to end. */
export type RecordingAct = 'skip' | 'silence' | 'resume' | 'stop'

/** About mixers. */
export type MixCommand =
  | { readonly op: 'mixer'; readonly mixer: PortNumber }
  /** `link` leads to the port's thread where that is another one. */
  | {
      readonly op: 'seat'
      readonly mixer: PortNumber
      readonly port: PortNumber
      readonly options: SeatOptions
      readonly link?: MessagePort
    }
  | {
      readonly op: 'reseat'
      readonly mixer: PortNumber
      readonly port: PortNumber
      readonly options: SeatOptions
    }
  | { readonly op: 'unseat'; readonly mixer: PortNumber; readonly port: PortNumber }
  | { readonly op: 'unmix'; readonly mixer: PortNumber }

/** What the main thread tells a media thread. Packets never cross. */
export type Command =
  | OpenCommand
  | PlayCommand
  | ListenCommand
  | MixCommand
  | { readonly op: 'far'; readonly port: PortNumber; readonly near: NearEnd; readonly far: FarEnd }
  | { readonly op: 'volumes'; readonly port: PortNumber; readonly volumes: Volumes }
  | { readonly op: 'join'; readonly port: PortNumber; readonly other: PortNumber }
  /** Joins a port, or a mixer's seat, in another thread: `link` leads there. */
  | { readonly op: 'link'; readonly port: PortNumber; readonly link: MessagePort }
  | { readonly op: 'part'; readonly port: PortNumber }
  | { readonly op: 'digits'; readonly port: PortNumber; readonly request: number; readonly digits: string }
  | { readonly op: 'stats'; readonly port: PortNumber; readonly request: number }
  | { readonly op: 'close'; readonly port: PortNumber; readonly request: number }

/** The last that a media thread is told: it closes what is open in it, and ends by itself. */
export interface EndCommand {
  readonly op: 'end'
}

/** What a media thread tells the main thread. */
export type Report =
  | { readonly op: 'opened'; readonly port: PortNumber; readonly rtpPort: number }
  /** `taken`: somebody else has bound the port. */
  | { readonly op: 'failed'; readonly port: PortNumber; readonly taken: boolean; readonly message: string }
  | { readonly op: 'event'; readonly port: PortNumber; readonly event: PortEvent }
  | { readonly op: 'played'; readonly port: PortNumber; readonly play: number }
  | { readonly op: 'digits'; readonly port: PortNumber; readonly request: number; readonly sent: boolean }
  /** Somebody else speaks in a mixer; undefined: nobody has for a while. */
  | { readonly op: 'speaker'; readonly mixer: PortNumber; readonly port: PortNumber | undefined }
  /** Answers `stats` and `close`. */
  | { readonly op: 'stats'; readonly port: PortNumber; readonly request: number; readonly stats: PortStats }
  | { readonly op: 'recorded'; readonly record: number; readonly result: RecordingResult }
  | { readonly op: 'frame'; readonly tap: number; readonly frame: TapFrame }
  | { readonly op: 'spoken'; readonly tap: number; readonly request: number }
  | { readonly op: 'untapped'; readonly tap: number }
  | { readonly op: 'found'; readonly detection: number; readonly finding: DetectFinding }
  /** Nothing more will be found, or the port is closed, or it was told to end. */
  | { readonly op: 'detected'; readonly detection: number }
