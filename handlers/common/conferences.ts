import type { CallInfo, ConferenceEvent } from '../verbs.ts'
import { type Fields, timestamp } from './forms.ts'

/** Maximum length of the name of a conference or queue, in characters. */
export const maxNameLength = 128

/** Pattern of a room's name or address; the name `north` means `/public/north`. */
export const roomPattern = '^(/[^\\s/?#]{1,100}/)?[^\\s/?#]{1,100}$'

/** Beep options of the verbs, by their words in documents. */
export const beeps = { true: 'both', false: 'none', onEnter: 'enter', onExit: 'exit' } as const

/** Word by which documents select events of a conference. */
export type ConferenceEventGroup = 'start' | 'end' | 'join' | 'leave' | 'mute' | 'hold' | 'speaker'

const events: Readonly<Record<ConferenceEvent['kind'], readonly [ConferenceEventGroup, string]>> = {
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

/** Returns the word that selects an event, and the event's name in callbacks. */
export const conferenceEvent = ({
  kind,
}: ConferenceEvent): { readonly word: ConferenceEventGroup; readonly name: string } => {
  const [word, name] = events[kind]
  return { word, name }
}

/** Form fields of a conference event at a time in milliseconds since the epoch. */
export const conferenceFields = (event: ConferenceEvent, { projectId }: CallInfo, at: number): Fields => ({
  ConferenceSid: event.conferenceId,
  FriendlyName: event.name,
  AccountSid: projectId,
  SequenceNumber: String(event.sequence),
  Timestamp: timestamp(at),
  StatusCallbackEvent: conferenceEvent(event).name,
  ...(event.callId !== undefined && {
    CallSid: event.callId,
    Muted: String(event.isMuted),
    Hold: String(event.isHeld),
  }),
})
