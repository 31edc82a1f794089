import type { AgentEvent, AgentTranscriptEvent } from '../verbs.ts'

/**
 * Creates a function that returns the events of the live transcript for each event of a conversation, in
 * order. Prompts, and results of functions, are in none of them.
 */
export const transcriptEvents = (): ((event: AgentEvent) => readonly AgentTranscriptEvent[]) => {
  /** Answer whose utterances were reported last: an empty one begins a new message. */
  let speaking: string | undefined
  return (event) => {
    switch (event.kind) {
      case 'started':
        return [{ type: 'start', params: {} }]
      case 'ended':
        return [{ type: 'stop', params: { reason: event.end.kind } }]
      case 'partial':
        return [{ type: 'partial_result', params: { text: event.text, barged: event.isBarge } }]
      case 'user':
        return event.merged > 0
          ? [{ type: 'transparent_barge', params: { combined_text: event.text } }]
          : [{ type: 'speech_detect', params: { text: event.text, type: 'normal' } }]
      case 'utterance': {
        if (event.text === '') return []
        const isFirst = event.answer !== speaking
        speaking = event.answer
        // Readers join the pieces as they are.
        const hasBlank = isFirst || event.isMore || /^\s/.test(event.text)
        const pieces = [...(isFirst ? [''] : []), hasBlank ? event.text : ` ${event.text}`]
        return pieces.map((utterance) => ({ type: 'response_utterance', params: { utterance } }))
      }
      case 'answer': {
        const { isBarged, isGivenUp, heard, spoken } = event
        if (spoken === '') return []
        const params = {
          text: isBarged ? heard : spoken,
          type: isBarged ? 'barged' : 'normal',
          ...(isGivenUp && { given_up: true }),
        }
        return [{ type: 'completion', params }]
      }
      case 'function': {
        const { call, durationMs, outcome } = event
        const params = { function: call.name, arguments: call.args, duration_ms: durationMs, outcome }
        return [{ type: 'function_call', params }]
      }
      case 'warning':
        return [{ type: 'warning', params: { code: event.code, message: event.message } }]
      default:
        return []
    }
  }
}
