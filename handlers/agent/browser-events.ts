import type { AgentEvent } from '../verbs.ts'
import type { Json } from './document-types.ts'

/** Event to the browser of the caller. */
export interface BrowserEvent {
  readonly type: string
  readonly params: Json
}

/** Creates a function that returns the browser's events of each event of a conversation, in order. */
export const browserEvents = (): ((event: AgentEvent) => readonly BrowserEvent[]) => {
  /** Answer whose utterances the browser receives: an empty one begins a new message. */
  let speaking: string | undefined
  return (event) => {
    switch (event.kind) {
      case 'started':
        return [{ type: 'ai.start', params: {} }]
      case 'ended':
        return [{ type: 'ai.stop', params: { reason: event.end.kind } }]
      case 'partial':
        return [{ type: 'ai.partial_result', params: { text: event.text, barged: event.isBarge } }]
      case 'user':
        return event.merged > 0
          ? [{ type: 'ai.transparent_barge', params: { combined_text: event.text } }]
          : [{ type: 'ai.speech_detect', params: { text: event.text, type: 'normal' } }]
      case 'utterance': {
        const said = { type: 'ai.response_utterance', params: { utterance: event.text } }
        if (event.answer === speaking) return [said]
        speaking = event.answer
        return [{ type: said.type, params: { utterance: '' } }, said]
      }
      case 'answer': {
        const { isBarged, heard, spoken } = event
        if (spoken === '') return []
        return [
          {
            type: 'ai.completion',
            params: { text: isBarged ? heard : spoken, type: isBarged ? 'barged' : 'normal' },
          },
        ]
      }
      case 'warning':
        return [{ type: 'ai.warning', params: { code: event.code, message: event.message } }]
      default:
        return []
    }
  }
}
