import type { ConferenceOptions } from '../../../handlers/verbs.ts'
import type { WaitHook } from './waiting-audio.ts'

/** What of a participant changes; what is not named stays. */
export interface ParticipantChange {
  readonly beepOnExit?: boolean
  readonly endOnExit?: boolean
  /** Call id of who alone hears it; null: everybody does. */
  readonly coach?: string | null
  /** Run again and again on it while it waits for the beginning, in place of what it hears now. */
  readonly wait?: WaitHook
}

/** One who takes part in a conference, as it is seen and driven from outside the call. What is told to one that has left does nothing. */
export interface Participant {
  readonly callId: string
  /** ms since the epoch. */
  readonly joinedAt: number
  readonly isMuted: boolean
  readonly isHeld: boolean
  readonly options: Pick<ConferenceOptions, 'coach' | 'startOnEnter' | 'endOnExit'>
  mute(muted: boolean): void
  /** `hears`: run again and again on who is held, in place of hold music. */
  hold(held: boolean, hears?: WaitHook): void
  change(change: ParticipantChange): void
  /** Runs on it beside the conference; given up when it leaves. A failure is logged. */
  announce(hears: WaitHook): void
  /** Takes it out. */
  remove(): void
}

/** A conference in progress. */
export interface OpenConference {
  readonly id: string
  readonly name: string
  /** ms since the epoch. */
  readonly openedAt: number
  /** They hear each other; until then they wait. */
  readonly isStarted: boolean
  readonly participants: readonly Participant[]
  /** Takes everybody out. */
  end(): void
}

/** A queue in which somebody waits. */
export interface OpenQueue {
  readonly id: string
  readonly name: string
  /** ms since the epoch. */
  readonly openedAt: number
  /** Most callers at once; undefined while none has come. */
  readonly maxSize: number | undefined
  /** Mean wait of those who were served lately; 0 while nobody was. */
  readonly averageWaitMs: number
  /** Who waits, the next one first. `since` in ms since the epoch. */
  readonly members: readonly { readonly callId: string; readonly since: number }[]
}

/** The conferences of all projects, seen from outside their calls; implemented by `ProjectConferences`. */
export interface OpenConferences {
  of(projectId: string): Promise<readonly OpenConference[]>
}

/** The queues of all projects, seen from outside their calls; implemented by `ProjectQueues`. */
export interface OpenQueues {
  of(projectId: string): readonly OpenQueue[]
}
