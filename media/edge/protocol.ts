import type { MessagePort } from 'node:worker_threads'
import type { InputOptions } from '../mix/mixer-input.ts'
import type {
  BackgroundSound,
  DetectFinding,
  DetectRequest,
  FarEnd,
  ItemPosition,
  NearEnd,
  PcmRate,
  PortEvent,
  PortStats,
  RecordingResult,
  RecordRequest,
  ReflexRequest,
  Talk,
  TapEvent,
  TapFrame,
  TapRequest,
  Volumes,
} from '../types.ts'
import type { LinkOptions } from './frame-link.ts'
import type { ThreadPriority } from './realtime.ts'

/** Identifies ports, mixers, sounds, recordings and taps between the threads; unique within one edge. */
export type PortNumber = number

/** Opens a port. */
export interface OpenCommand {
  readonly op: 'open'
  readonly port: PortNumber
  /** Local addresses to bind, at most one per IP family. */
  readonly bind: readonly string[]
  /**
   * Even port, used with the following odd one. Absent: one socket on any port of the first address, for both
   * RTP and RTCP.
   */
  readonly rtpPort?: number
  readonly seed: { readonly ssrc: number; readonly sequence: number; readonly timestamp: number }
  readonly cname: string
  /** Time-outs in ms; absent: none. */
  readonly startTimeoutMs?: number
  readonly mediaTimeoutMs?: number
}

/** Commands about the sounds of a port or mixer. */
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

/** Command to an open tap: the operation and its values. */
export type TapAct =
  | { readonly op: 'speak'; readonly samples: Int16Array; readonly item?: number | undefined }
  | { readonly op: 'finishItem'; readonly item: number }
  /** Absent: the default duration. */
  | { readonly op: 'pauseSpeech' | 'resumeSpeech'; readonly fadeMs?: number | undefined }
  | { readonly op: 'spoken' | 'cutSpeech'; readonly request: number }
  | { readonly op: 'setReflex'; readonly reflex?: ReflexRequest | undefined }
  /** Absent: none. */
  | { readonly op: 'background'; readonly sound?: BackgroundSound | undefined }
  | { readonly op: 'allowFade'; readonly isAllowed: boolean }
  | { readonly op: 'clearSpeech' | 'closeTap' }

/** Command to a tap that is open on a port. */
export type TapCommand = TapAct & { readonly port: PortNumber; readonly tap: number }

/** Commands about the sinks of a port or mixer. */
export type SinkCommand =
  | TapCommand
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
      readonly act: RecordingControl
    }
  | { readonly op: 'tap'; readonly port: PortNumber; readonly tap: number; readonly request: TapRequest }
  | {
      readonly op: 'detect'
      readonly port: PortNumber
      readonly detection: number
      readonly request: DetectRequest
    }
  | { readonly op: 'stopDetection'; readonly port: PortNumber; readonly detection: number }
  /** Moves a recording or tap to this port. */
  | { readonly op: 'move'; readonly port: PortNumber; readonly listener: number }

/** Command to a recording: pause in one of two ways, resume or stop. */
export type RecordingControl = 'skip' | 'silence' | 'resume' | 'stop'

/** Commands about mixers. */
export type MixCommand =
  /** `rate` of the mix, in Hz. */
  | { readonly op: 'openMixer'; readonly mixer: PortNumber; readonly rate: PcmRate }
  /** `link` leads to the port's thread if that is another one. */
  | {
      readonly op: 'addInput'
      readonly mixer: PortNumber
      readonly port: PortNumber
      readonly options: InputOptions
      readonly link?: { readonly port: MessagePort; readonly options: LinkOptions }
    }
  | {
      readonly op: 'changeInput'
      readonly mixer: PortNumber
      readonly port: PortNumber
      readonly options: InputOptions
    }
  | { readonly op: 'removeInput'; readonly mixer: PortNumber; readonly port: PortNumber }
  /** Begins or ends the reports of the mix as Opus. */
  | { readonly op: 'encodeMix'; readonly mixer: PortNumber; readonly isOn: boolean }
  | { readonly op: 'closeMixer'; readonly mixer: PortNumber }

/** Command from the main thread to a media thread. Packets never cross. */
export type Command =
  | OpenCommand
  | PlayCommand
  | SinkCommand
  | MixCommand
  | { readonly op: 'setFar'; readonly port: PortNumber; readonly near: NearEnd; readonly far: FarEnd }
  | { readonly op: 'setVolumes'; readonly port: PortNumber; readonly volumes: Volumes }
  | { readonly op: 'join'; readonly port: PortNumber; readonly other: PortNumber }
  /** Connects a port with a port or mixer input in another thread, through `link`. */
  | {
      readonly op: 'link'
      readonly port: PortNumber
      readonly link: MessagePort
      readonly options: LinkOptions
    }
  | { readonly op: 'detach'; readonly port: PortNumber }
  | { readonly op: 'digits'; readonly port: PortNumber; readonly request: number; readonly digits: string }
  | { readonly op: 'stats'; readonly port: PortNumber; readonly request: number }
  | { readonly op: 'close'; readonly port: PortNumber; readonly request: number }

/** Last command to a media thread: close everything and end. */
export interface EndCommand {
  readonly op: 'end'
}

/** 20 ms of a mix as an Opus packet. `delayMs`: its age, see `Mixer.onPacket`. */
export interface MixPacket {
  readonly mixer: PortNumber
  readonly packet: Uint8Array
  readonly delayMs: number
}

/** Report from a media thread to the main thread. */
export type Report =
  /** Result of a thread that tried to get real-time priority. */
  | { readonly op: 'priority'; readonly priority: ThreadPriority }
  | { readonly op: 'opened'; readonly port: PortNumber; readonly rtpPort: number }
  /** `taken`: another program has bound the port. */
  | { readonly op: 'failed'; readonly port: PortNumber; readonly taken: boolean; readonly message: string }
  | { readonly op: 'event'; readonly port: PortNumber; readonly event: PortEvent }
  | { readonly op: 'played'; readonly port: PortNumber; readonly play: number }
  | { readonly op: 'digits'; readonly port: PortNumber; readonly request: number; readonly sent: boolean }
  /** The active speaker of a mixer has changed; undefined: none. */
  | { readonly op: 'speaker'; readonly mixer: PortNumber; readonly port: PortNumber | undefined }
  /** A port of a mixer begins or ends to talk, or leaves while it talks. */
  | {
      readonly op: 'talking'
      readonly mixer: PortNumber
      readonly port: PortNumber
      readonly talk: Talk
    }
  /** Packets of all encoded mixes of the thread. One message for all costs a fraction of one for each. */
  | { readonly op: 'encodedMixes'; readonly packets: readonly MixPacket[] }
  /** Answer to `stats` and `close`. */
  | { readonly op: 'stats'; readonly port: PortNumber; readonly request: number; readonly stats: PortStats }
  | { readonly op: 'recorded'; readonly record: number; readonly result: RecordingResult }
  | { readonly op: 'frame'; readonly tap: number; readonly frame: TapFrame }
  | { readonly op: 'spoken'; readonly tap: number; readonly request: number }
  /** Answer to `cutSpeech`. */
  | {
      readonly op: 'cut'
      readonly tap: number
      readonly request: number
      readonly positions: readonly ItemPosition[]
    }
  | { readonly op: 'tapEvent'; readonly tap: number; readonly event: TapEvent }
  | { readonly op: 'tapClosed'; readonly tap: number }
  | { readonly op: 'found'; readonly detection: number; readonly finding: DetectFinding }
  /** The detection has ended: conclusively, on command, or because the port was closed. */
  | { readonly op: 'detectionEnded'; readonly detection: number }
