import type {
  ConferenceOptions,
  ConferenceResult,
  DetectOptions,
  DetectResult,
  QueueOptions,
  QueueResult,
} from '../../../handlers/verbs.ts'
import type { Recogniser } from '../../../media/types.ts'
import type { Clock } from '../../core/clock.ts'
import type { Call } from '../call/call.ts'
import type { ForkDialerDeps } from '../connect/fork-types.ts'
import type { Bridges } from '../leg/bridges.ts'
import type { StreamStarter } from './call-streams.ts'
import type { Player } from './player.ts'
import type { RecordingStore } from './recording-store.ts'
import type { ScopableControl } from './scopable-control.ts'
import type { VerbMeter } from './verb-meter.ts'

/** The conferences of all projects. */
export interface Conferences {
  /** Implements `CallControl.joinConference`; `control` is the caller's. Settles when the caller has left. */
  join(call: Call, control: ScopableControl, options: ConferenceOptions): Promise<ConferenceResult>
}

/** The queues of all projects, for callers who enter them. */
export interface CallQueues {
  /** Implements `CallControl.enterQueue`. */
  enter(call: Call, control: ScopableControl, options: QueueOptions): Promise<QueueResult>
}

/** Detection of machines, fax tones and digits. */
export interface Detector {
  /** Implements `CallControl.detect`. */
  detect(call: Call, options: DetectOptions): Promise<DetectResult>
}

/** Services that verbs use. A verb without its service fails with `verb_unavailable`. */
export interface VerbServices {
  readonly bridges: Bridges
  readonly player: Player
  readonly streams: StreamStarter
  readonly recordings: RecordingStore
  readonly conferences?: Conferences
  readonly queues?: CallQueues
  readonly detector?: Detector
}

/** Speech recognition. */
export interface Speech {
  readonly recogniser: Recogniser
  /** Sample rate of the recogniser's input, in Hz. */
  readonly sampleRate: 8000 | 16000
}

/** Collaborators of a call's verbs. */
export interface CallControllerDeps {
  readonly services: VerbServices
  readonly speech: Speech
  readonly fork: ForkDialerDeps
  readonly meter: VerbMeter
  readonly clock: Clock
}
