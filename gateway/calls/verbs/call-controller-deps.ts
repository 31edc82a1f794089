import type { Mixer, Recogniser } from '../../../media/types.ts'
import type { SteadyClock } from '../../core/clock.ts'
import type { Player } from '../audio/player.ts'
import type { RecordingStore } from '../audio/recording-store.ts'
import type { ProjectConferences } from '../conference/conferences.ts'
import type { ForkDialerDeps } from '../connect/fork-types.ts'
import type { Bridges } from '../leg/bridges.ts'
import type { ProjectQueues } from '../queue/queues.ts'
import type { ProjectRooms } from '../room/project-rooms.ts'
import type { AgentStarter } from './call-agents.ts'
import type { CallDetector } from './call-detector.ts'
import type { StreamStarter } from './call-streams.ts'
import type { VerbMeter } from './verb-meter.ts'

/** Services that verbs use. A verb without its service fails with `verb_unavailable`. */
export interface VerbServices {
  readonly bridges: Bridges
  readonly openMixer: () => Promise<Mixer>
  readonly player: Player
  readonly streams: StreamStarter
  readonly recordings: RecordingStore
  readonly conferences?: Pick<ProjectConferences, 'join'>
  readonly rooms?: Pick<ProjectRooms, 'join'>
  readonly queues?: Pick<ProjectQueues, 'enter' | 'take'>
  readonly agents?: AgentStarter
  readonly detector?: Pick<CallDetector, 'detect'>
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
  readonly clock: SteadyClock
}
