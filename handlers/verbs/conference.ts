import type { CallControl } from '../verbs.ts'
import type { Cancellable } from './cancel.ts'
import type { RecordingStatus, RecordResult } from './recording.ts'

/** What happens in a conference. */
export interface ConferenceEvent {
  readonly kind: 'start' | 'end' | 'join' | 'leave' | 'mute' | 'unmute' | 'hold' | 'unhold' | 'speaker'
  readonly conferenceId: string
  readonly name: string
  /** Counts the events of the conference, from 0. */
  readonly sequence: number
  /** Whom it is about; absent for `start` and `end`. */
  readonly callId?: string
  readonly muted: boolean
  readonly held: boolean
  /** Parties there, after the event. */
  readonly size: number
}

/** One's place in a conference. What is told to one that has left does nothing. */
export interface ConferenceSeat {
  readonly conferenceId: string
  readonly name: string
  mute(muted: boolean): void
  /** Neither hears nor is heard; hears hold music meanwhile. */
  hold(held: boolean): void
  leave(): void
}

/** How to take part in a conference of the project. It is made by the first who joins, and gone with the last who leaves. */
export interface ConferenceOptions extends Cancellable {
  /** 1 to 128 characters. */
  readonly name: string
  /** Is not heard; default false. */
  readonly muted?: boolean
  /** Who hears a beep when the caller comes or goes; default `both`. */
  readonly beep?: 'both' | 'enter' | 'exit' | 'none'
  /** The conference begins when somebody with this joins as one of two; until then all wait. Default true. */
  readonly startOnEnter?: boolean
  /** Ends for all when this caller leaves; default false. */
  readonly endOnExit?: boolean
  /** Default 100; those of who made it hold. */
  readonly maxParticipants?: number
  /**
   * Run on who waits for the beginning, again and again, at most once a second; its verbs reject as soon as it begins. Default: hold music. `none`: silence.
   */
  readonly wait?: ((call: CallControl) => Promise<void>) | 'none'
  /** Call id of a participant: only that one hears the caller (whisper). */
  readonly coach?: string
  /** Records all of it from its beginning; default false. Those of who made it hold. */
  readonly record?: boolean
  /** Cuts silence off the recording's ends; default true. */
  readonly trim?: boolean
  /** Told when the caller has its place. */
  readonly onJoined?: (seat: ConferenceSeat) => void
  /** Told what happens in the conference, from its beginning to its end; that of who made it holds, also after that one has left. */
  readonly onEvent?: (event: ConferenceEvent) => void
  /** With `record`: told of the recording when it begins; that of who made the conference holds. */
  readonly onRecording?: (recording: Pick<RecordResult, 'id' | 'url'>) => void
  /** The same when it is over. */
  readonly onRecorded?: (recording: RecordResult) => void
  /** Whom {@link onRecorded} tells: where the gateway dies before that, it is told there all the same. */
  readonly recordedTo?: RecordingStatus
}

/** What the conference of a room is joined with, by whoever comes. */
export type RoomConference = Pick<ConferenceOptions, 'name' | 'maxParticipants' | 'record'>

/** How it ended for the caller: it left (by a verb, a signal or a key), it was taken out, the conference ended, or there was no room. */
export interface ConferenceResult {
  readonly kind: 'left' | 'removed' | 'ended' | 'full'
  readonly conferenceId: string
  readonly durationMs: number
}
