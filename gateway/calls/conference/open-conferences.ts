import type { ConferenceOptions } from '../../../handlers/verbs.ts'
import type { WaitHook } from '../audio/waiting-audio.ts'

/** Change of a participant; absent fields stay. */
export interface ParticipantChange {
  readonly beepOnExit?: boolean
  readonly endOnExit?: boolean
  /** Call id of the only participant who hears it; null for all. */
  readonly coach?: string | null
  /** Runs repeatedly during the wait for the start, in place of the present audio. */
  readonly wait?: WaitHook
}

/**
 * Participant of a conference, for control from outside its call. After it has left, calls have no effect.
 */
export interface Participant {
  readonly callId: string
  /** ms since the epoch. */
  readonly joinedAt: number
  readonly isMuted: boolean
  readonly isHeld: boolean
  readonly options: Pick<ConferenceOptions, 'coach' | 'startOnEnter' | 'endOnExit'>
  mute(isMuted: boolean): void
  /** Holds or resumes. `hook`: runs repeatedly during the hold, in place of hold music. */
  hold(isHeld: boolean, hook?: WaitHook): void
  change(change: ParticipantChange): void
  /** Runs beside the conference; canceled when the participant leaves. A failure is logged. */
  announce(hook: WaitHook): void
  /** Removes it from the conference. */
  remove(): void
}

/** A conference in progress. */
export interface OpenConference {
  readonly id: string
  readonly name: string
  /** ms since the epoch. */
  readonly openedAt: number
  /** Whether the participants hear each other; until then they wait. */
  readonly isStarted: boolean
  readonly participants: readonly Participant[]
  /** Removes all participants. */
  end(): void
}

/** Conferences of all projects, for control from outside their calls; implemented by `ProjectConferences`. */
export interface OpenConferences {
  of(projectId: string): Promise<readonly OpenConference[]>
}
