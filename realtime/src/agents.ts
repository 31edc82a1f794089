import { type Action, type ActionCall, Doing, failure, type Outcome } from './actions.ts'
import { numberOf, textOf, type Values, valuesOf } from './wire.ts'

/** Document of a voice agent: the keys of the script's method `ai` or `amazon_bedrock`, as they are there. */
export interface AgentDocument {
  readonly prompt: Values
  readonly [key: string]: unknown
}

/** Events of a voice agent's live transcript, with their contents. */
export interface AgentEvents {
  /** Begin of a conversation. */
  readonly start: object
  /** Words of the caller so far. `isBarge`: they interrupted the agent. */
  readonly partial: { readonly text: string; readonly isBarge: boolean }
  /** Complete turn of the caller. `isJoined`: it contains the turn before. */
  readonly user: { readonly text: string; readonly isJoined: boolean }
  /** Next piece that the agent says, with its blanks; an empty one begins a new message. */
  readonly utterance: { readonly text: string }
  /**
   * Answer of the agent, as far as it was heard. `isBarged`: it was cut. With `isGivenUp`, the caller did not
   * cut it: the engine did not go on.
   */
  readonly answer: { readonly text: string; readonly isBarged: boolean; readonly isGivenUp: boolean }
  /** Function that the model called, after its end. `args`: JSON as the model wrote it. */
  readonly function: {
    readonly name: string
    readonly args: string
    readonly durationMs: number
    readonly outcome: string
  }
  /** Fault that does not end the conversation. */
  readonly warning: { readonly code: string; readonly message: string }
  /** End of a conversation: stopped, hangup, inactive, limit or failed. */
  readonly stop: { readonly reason: string }
}

/** One of the {@link AgentEvents}. */
export type AgentEvent = {
  readonly [K in keyof AgentEvents]: { readonly type: K } & AgentEvents[K]
}[keyof AgentEvents]

/** Running voice agent: a promise of its end. `started` resolves when the conversation begins. */
export type Agent = Action<void> & {
  /**
   * Calls `listener` on every event of a type, until the returned function is called. Also receives events of
   * agents that scripts of its actions start.
   */
  on<K extends keyof AgentEvents>(type: K, listener: (event: AgentEvents[K]) => void): () => void
  /** Adds a message; the agent answers, unless the role is `assistant`. Default `system`. */
  message(text: string, role?: 'system' | 'user' | 'assistant'): Promise<void>
  /** Makes the caller hear music after the spoken prompt. `timeout` in s: default 300, at most 900. */
  hold(options?: { readonly timeout?: number; readonly prompt?: string }): Promise<void>
  /** Ends a hold. The agent answers the instruction. */
  unhold(prompt?: string): Promise<void>
}

/** Hands the call to a voice agent. */
export const startAgent = (
  call: ActionCall,
  method: 'calling.ai' | 'calling.amazon_bedrock',
  document: AgentDocument,
): Agent => {
  const listeners = new Set<(event: AgentEvent) => void>()
  const read = (_type: string, params: Values): Outcome<void> | undefined => {
    if (params.state === 'finished') return { result: undefined }
    if (params.state === 'error') return { error: failure('The agent', params) }
    const event = readAgentEvent(params)
    if (event) for (const listener of [...listeners]) listener(event)
    return event?.type === 'start' ? { begun: true } : undefined
  }
  const doing = new Doing<void>(call, read).begin(method, document)
  const ask = async (command: string, params: Values) => void (await call.ask(command, params))
  return doing.with('calling.ai.stop', {
    on: <K extends keyof AgentEvents>(type: K, listener: (event: AgentEvents[K]) => void) => {
      const receive = (event: AgentEvent) => {
        if (event.type === type) listener(event as AgentEvents[K])
      }
      listeners.add(receive)
      return () => void listeners.delete(receive)
    },
    message: (text: string, role: 'system' | 'user' | 'assistant' = 'system') =>
      ask('calling.ai_message', { role, message_text: text }),
    hold: ({ timeout, prompt }: { readonly timeout?: number; readonly prompt?: string } = {}) =>
      ask('calling.ai_hold', {
        ...(timeout !== undefined && { timeout }),
        ...(prompt !== undefined && { prompt }),
      }),
    unhold: (prompt?: string) => ask('calling.ai_unhold', prompt === undefined ? {} : { prompt }),
  })
}

/** Returns the event in the params of `calling.call.ai`; undefined for other states of an agent. */
export const readAgentEvent = ({ state, result }: Values): AgentEvent | undefined => {
  const given = valuesOf(result)
  const text = textOf(given, 'text')
  switch (state) {
    case 'start':
      return { type: 'start' }
    case 'partial_result':
      return { type: 'partial', text, isBarge: given.barged === true }
    case 'speech_detect':
      return { type: 'user', text, isJoined: false }
    case 'transparent_barge':
      return { type: 'user', text: textOf(given, 'combined_text'), isJoined: true }
    case 'response_utterance':
      return { type: 'utterance', text: textOf(given, 'utterance') }
    case 'completion':
      return { type: 'answer', text, isBarged: given.type === 'barged', isGivenUp: given.given_up === true }
    case 'function_call':
      return {
        type: 'function',
        name: textOf(given, 'function'),
        args: textOf(given, 'arguments'),
        durationMs: numberOf(given, 'duration_ms'),
        outcome: textOf(given, 'outcome'),
      }
    case 'warning':
      return { type: 'warning', code: textOf(given, 'code'), message: textOf(given, 'message') }
    case 'stop':
      return { type: 'stop', reason: textOf(given, 'reason') }
    default:
      return undefined
  }
}
