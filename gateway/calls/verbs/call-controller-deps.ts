import type {
  CallControl,
  ConferenceOptions,
  ConferenceResult,
  DetectOptions,
  DetectResult,
  QueueOptions,
  QueueResult,
} from '../../../handlers/verbs.ts'
import type { Recogniser } from '../../../media/types.ts'
import type { Call } from '../call/call.ts'
import type { ConnectSessionDeps } from '../connect/connect-deps.ts'
import type { StreamStarter } from './call-streams.ts'
import type { RecordingStore } from './recording-store.ts'
import type { ScopableControl } from './scopable-control.ts'
import type { VerbMeter } from './verb-meter.ts'

/** The conferences of all projects. */
export interface Conferences {
  /** {@link CallControl.joinConference}: settles when the caller has left. `control` is the caller's. */
  join(call: Call, control: ScopableControl, options: ConferenceOptions): Promise<ConferenceResult>
}

/** The queues of all projects, as callers enter them. */
export interface CallQueues {
  /** {@link CallControl.enterQueue}. */
  enter(call: Call, control: ScopableControl, options: QueueOptions): Promise<QueueResult>
}

/** Listens to callers. */
export interface Detector {
  /** {@link CallControl.detect}. */
  detect(call: Call, options: DetectOptions): Promise<DetectResult>
}

/** What the verbs work with. */
export interface CallControllerDeps extends Omit<ConnectSessionDeps, 'controlOf'> {
  readonly recogniser: Recogniser
  /** Of what the recogniser gets, in Hz. */
  readonly recogniserRate: 8000 | 16000
  readonly streams: StreamStarter
  readonly recordings: RecordingStore
  readonly verbs: VerbMeter
  /** Without one, the verb fails with `verb_unavailable`. */
  readonly conferences?: Conferences
  /** As {@link conferences}. */
  readonly queues?: CallQueues
  /** As {@link conferences}. */
  readonly detector?: Detector
}
