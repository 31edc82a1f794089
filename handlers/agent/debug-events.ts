import type { AgentEvent } from '../verbs.ts'
import type { DataMapEvent } from './data-map.ts'
import type { Json } from './document-types.ts'
import { defined } from './log.ts'

/** Event of the debug webhook: its name, its content, and the lowest level that reports it. */
export interface DebugEvent {
  readonly name: string
  readonly value: Json
  readonly level: 1 | 2
}

const event = (name: string, value: Json, level: 1 | 2 = 1): DebugEvent => ({
  name,
  value: defined(value),
  level,
})

/** Returns the debug events of an event of the conversation. */
export const debugEvents = (of: AgentEvent): readonly DebugEvent[] => {
  switch (of.kind) {
    case 'user':
      return [
        event('speech_detect', {
          text: of.text,
          confidence: of.confidence,
          lang: of.language,
          type: 'normal',
        }),
        event('conversation_add', { role: 'user', content: of.text }, 2),
      ]
    case 'answer':
      return [
        event('ai_completion', {
          text: of.isBarged ? of.heard : of.spoken,
          type: of.isBarged ? 'barged' : 'normal',
          given_up: of.isGivenUp,
          audio_played_ms: of.heardMs,
        }),
        event('conversation_add', { role: 'assistant', content: of.spoken }, 2),
      ]
    case 'barge':
      if (of.how === 'given-up') return [event('answer_given_up', { audio_played_ms: of.heardMs })]
      return [event('barge', { barge_type: of.how, barge_elapsed_ms: of.heardMs, text: of.text })]
    case 'function':
      return [
        event('function_call', {
          function: of.call.name,
          duration_ms: of.durationMs,
          outcome: of.outcome === 'finished' ? undefined : of.outcome,
        }),
      ]
    case 'filler':
      return [event('filler', { text: of.text })]
    case 'attention':
      return [event('attention_timeout', {})]
    case 'hold':
    case 'unhold':
      return [event('hold', { state: of.kind === 'hold' ? 'on' : 'off' })]
    case 'warning':
      return [event('warning', { code: of.code, message: of.message }, 2)]
    default:
      return []
  }
}

/** Returns the debug events of an event of a data map. */
export const dataMapEvents = (of: DataMapEvent): readonly DebugEvent[] => {
  switch (of.kind) {
    case 'input':
      return [event('input', { args: of.args })]
    case 'expression': {
      const { text: string, expression, isMatch: matched } = of
      const tried = event('expression', { string, expression, matched })
      return matched ? [tried, event('match', { string, expression })] : [tried]
    }
    case 'expression-fail':
      return [event('expression', { expression: of.expression, error: of.reason })]
    case 'webhook':
      return [event('webhook', { method: of.method, url: of.url })]
    case 'reply':
      return [event('webhook_reply', { http_code: of.status, body: of.text })]
    case 'fail':
      return [event('webhook_fail', { attempts: of.attempts, http_code: of.status, reason: of.reason })]
    case 'error-keys':
      return [event('error_keys', { key: of.key })]
    case 'output':
      return [event('output', { output: of.output })]
  }
}

/** Returns the body of a request to the debug webhook. */
export const debugBody = (call: Json, { name, value }: DebugEvent): Json => ({
  call_info: { ...call, content_type: 'text/json', content_disposition: 'post_data' },
  [name]: value,
})
