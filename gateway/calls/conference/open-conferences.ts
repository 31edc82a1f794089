import type { WaitHook } from '../audio/waiting-audio.ts'
import type { CallParticipant } from './call-participant.ts'
import type { Conference } from './conference.ts'
import type { ProjectConferences } from './conferences.ts'

/** Change of a participant; absent fields stay. */
export interface ParticipantChange {
  readonly beepOnExit?: boolean
  readonly endOnExit?: boolean
  /** Call id of the only participant who hears this one; null for all. */
  readonly coach?: string | null
  /** Runs repeatedly during the wait for the start, in place of the present audio. */
  readonly wait?: WaitHook
}

/**
 * Participant of a conference, for control from outside its call. After it has left, calls have no effect.
 */
export type Participant = Pick<
  CallParticipant,
  | 'callId'
  | 'joinedAt'
  | 'isMuted'
  | 'isHeld'
  | 'options'
  | 'mute'
  | 'hold'
  | 'change'
  | 'announce'
  | 'remove'
>

/** A conference in progress, for control from outside its calls. */
export type OpenConference = Pick<
  Conference,
  'id' | 'name' | 'openedAt' | 'isStarted' | 'participants' | 'end'
>

/** Conferences of all projects, for control from outside their calls. */
export type OpenConferences = Pick<ProjectConferences, 'of'>
