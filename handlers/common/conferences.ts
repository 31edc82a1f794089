import type { CallInfo, ConferenceEvent } from '../verbs.ts'
import { type Fields, timestamp } from './forms.ts'

/** Longest name of a conference or a queue. */
export const longestName = 128

/** A room's name or address, as a pattern: `north` stands for `/public/north`. */
export const roomPattern = '^(/[^\\s/?#]{1,100}/)?[^\\s/?#]{1,100}$'

/** Whether the others hear a beep, by the word of documents. */
export const beeps = { true: 'both', false: 'none', onEnter: 'enter', onExit: 'exit' } as const

/** A word by which documents choose events of conferences. */
export type ConferenceWord = 'start' | 'end' | 'join' | 'leave' | 'mute' | 'hold' | 'speaker'

const events: Readonly<Record<ConferenceEvent['kind'], readonly [ConferenceWord, string]>> = {
  start: ['start', 'conference-start'],
  end: ['end', 'conference-end'],
  join: ['join', 'participant-join'],
  leave: ['leave', 'participant-leave'],
  mute: ['mute', 'participant-mute'],
  unmute: ['mute', 'participant-unmute'],
  hold: ['hold', 'participant-hold'],
  unhold: ['hold', 'participant-unhold'],
  speaker: ['speaker', 'participant-speech-start'],
}

/** The word that chooses an event, and its name in callbacks. */
export const conferenceEvent = ({
  kind,
}: ConferenceEvent): { readonly word: ConferenceWord; readonly name: string } => {
  const [word, name] = events[kind]
  return { word, name }
}

/** The form that tells of an event; `at` is the time now in ms. */
export const conferenceFields = (event: ConferenceEvent, { projectId }: CallInfo, at: number): Fields => ({
  ConferenceSid: event.conferenceId,
  FriendlyName: event.name,
  AccountSid: projectId,
  SequenceNumber: String(event.sequence),
  Timestamp: timestamp(at),
  StatusCallbackEvent: conferenceEvent(event).name,
  ...(event.callId !== undefined && {
    CallSid: event.callId,
    Muted: String(event.muted),
    Hold: String(event.held),
  }),
})
