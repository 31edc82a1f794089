import type { CallControl } from './call-control.ts'
import type { Cancellable } from './cancel.ts'
import type { RecordingStatusTarget, RecordResult } from './recording.ts'

/** Event of a conference. */
export interface ConferenceEvent {
  readonly kind: 'start' | 'end' | 'join' | 'leave' | 'mute' | 'unmute' | 'hold' | 'unhold' | 'speaker'
  readonly conferenceId: string
  readonly name: string
  /** Sequence number of the event within the conference, from 0. */
  readonly sequence: number
  /** Call id of the participant; absent for `start` and `end`. */
  readonly callId?: string
  readonly isMuted: boolean
  readonly isHeld: boolean
  /** Number of participants after the event. */
  readonly size: number
}

/** Participation of one call in a conference. Its methods have no effect after the call has left. */
export interface ConferenceParticipant {
  readonly conferenceId: string
  readonly name: string
  mute(isMuted: boolean): void
  /**
   * Puts the participant on hold if `isHeld`, otherwise resumes. On hold the participant is muted and hears
   * hold music only.
   */
  hold(isHeld: boolean): void
  leave(): void
}

/**
 * Options of {@link CallControl.joinConference}. The first participant creates the conference of the project;
 * the last one to leave removes it. Some options are those of the first participant for the life of the
 * conference.
 */
export interface ConferenceOptions extends Cancellable {
  /** Name of the conference, 1 to 128 characters. */
  readonly name: string
  /** Whether the caller joins muted; default false. */
  readonly isMuted?: boolean
  /** Occasions on which the participants hear a beep: the caller joins, leaves, or both; default `both`. */
  readonly beepOn?: 'both' | 'enter' | 'exit' | 'none'
  /**
   * Whether the caller can start the conference. It starts when it has two participants and one of them has
   * this option; until then all participants wait. Default true.
   */
  readonly startOnEnter?: boolean
  /** Whether the conference ends for all participants when the caller leaves; default false. */
  readonly endOnExit?: boolean
  /** Maximum number of participants; default 100. The first participant's value counts. */
  readonly maxParticipants?: number
  /**
   * Function that runs on the caller while the conference has not started; default hold music, `none` is
   * silence. The function repeats at most once a second. Its verbs reject as soon as the conference starts.
   */
  readonly wait?: ((call: CallControl) => Promise<void>) | 'none'
  /** Call id of the only participant who hears the caller (whisper). */
  readonly coach?: string
  /**
   * Whether the conference is recorded from its start; default false. The first participant's value counts.
   */
  readonly record?: boolean
  /** Whether silence is trimmed from both ends of the recording; default true. */
  readonly trim?: boolean
  /** Called when the caller has joined. */
  readonly onJoined?: (participant: ConferenceParticipant) => void
  /**
   * Receives the events of the conference from its start to its end. The first participant's listener counts,
   * also after that participant has left.
   */
  readonly onEvent?: (event: ConferenceEvent) => void
  /** Called at the start of the recording. The first participant's listener counts. */
  readonly onRecording?: (recording: Pick<RecordResult, 'id' | 'url'>) => void
  /** Called at the end of the recording. The first participant's listener counts. */
  readonly onRecorded?: (recording: RecordResult) => void
  /**
   * Status callback that {@link onRecorded} sends. If the gateway dies first, its next run or another gateway
   * sends the callback.
   */
  readonly recordingStatusTarget?: RecordingStatusTarget
}

/** Result of a conference for the caller. */
export interface ConferenceResult {
  /**
   * Reason for the end. `left`: by a verb, a signal or a digit. `removed`: by another party. `ended`: the
   * conference ended. `full`: it had its maximum number of participants.
   */
  readonly kind: 'left' | 'removed' | 'ended' | 'full'
  readonly conferenceId: string
  readonly durationMs: number
}
