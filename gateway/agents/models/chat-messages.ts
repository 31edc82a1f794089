import type { AgentFunction } from '../../../handlers/verbs.ts'
import type { EngineCall, EngineMessage } from '../engine.ts'

/** Message of the chat completions interface. */
export type ChatMessage = Readonly<Record<string, unknown>>

/** Text in place of a result that is not there: each call of a request must have one. */
const noResult = 'No result yet: the function still runs.'

/**
 * Returns the messages of a request. Results follow the answer that called, as servers demand; a call without
 * a result has a placeholder. System messages after the first have the role `laterRole`.
 */
export const chatMessages = (
  messages: readonly EngineMessage[],
  laterRole: 'system' | 'developer' | 'user' = 'system',
): readonly ChatMessage[] => {
  const results = new Map(
    messages.flatMap((each) => (each.role === 'tool' ? [[each.callId, each.content] as const] : [])),
  )
  const called = new Set(messages.flatMap((each) => callsOf(each).map(({ id }) => id)))
  return messages.flatMap((message, at): readonly ChatMessage[] => {
    if (message.role === 'tool') {
      if (called.has(message.callId)) return []
      return [{ role: 'user', content: `Result of the function ${message.name}: ${message.content}` }]
    }
    const calls = callsOf(message)
    if (calls.length === 0) {
      const isLater = at > 0 && message.role === 'system'
      return [{ role: isLater ? laterRole : message.role, content: message.content }]
    }
    return [
      { role: 'assistant', content: message.content || null, tool_calls: calls.map(toolCall) },
      ...calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: results.get(id) ?? noResult })),
    ]
  })
}

/** Returns the functions of a request. */
export const chatTools = (functions: readonly AgentFunction[]): readonly ChatMessage[] =>
  functions.map(({ name, description, parameters }) => ({
    type: 'function',
    function: { name, description, parameters },
  }))

const callsOf = (message: EngineMessage): readonly EngineCall[] =>
  message.role === 'assistant' ? (message.calls ?? []) : []

// Templates of self-hosted models parse the arguments, and fail for faulty ones.
const toolCall = ({ id, name, args }: EngineCall): ChatMessage => ({
  id,
  type: 'function',
  function: { name, arguments: isObject(args) ? args : '{}' },
})

const isObject = (json: string): boolean => {
  try {
    const value: unknown = JSON.parse(json)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}
