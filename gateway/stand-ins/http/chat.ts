import { isJsonObject, readJsonObject } from '../../core/json.ts'
import type { OfferedFunction, Trigger } from '../dialogue.ts'
import { perform } from '../perform.ts'
import { type HttpCall, type HttpEngine, sendError } from '../stand.ts'
import { ChatPerformer } from './chat-performer.ts'

/** Chat completions of OpenAI and of compatible servers, streamed or whole. */
export const chat: HttpEngine = {
  name: 'chat',
  method: 'POST',
  serves: (path) => path === '/v1/chat/completions' || path === '/chat/completions',
  answer: async (call) => {
    const request = readRequest(call.body)
    if (typeof request === 'string') return sendError(call, 'refused', request)
    const trigger = triggerOf(request.messages)
    const answer = call.stand.dialogue.choose('chat', trigger, request.functions)
    const performer = new ChatPerformer(call, request)
    if (answer) await perform(answer, performer, call.stand, call.signal)
    performer.end()
  },
}

/** Request for a completion. */
export interface ChatRequest {
  readonly model: string
  readonly isStreamed: boolean
  readonly wantsUsage: boolean
  readonly messages: readonly Record<string, unknown>[]
  readonly functions: readonly OfferedFunction[]
}

/** Reads a request. Returns the fault as a sentence if there is one. */
const readRequest = (body: HttpCall['body']): ChatRequest | string => {
  let read: Record<string, unknown>
  try {
    read = readJsonObject(body.toString())
  } catch {
    return 'We could not parse the JSON body of your request.'
  }
  const { model, messages, stream, stream_options, tools } = read
  if (typeof model !== 'string') return 'you must provide a model parameter'
  if (!Array.isArray(messages) || messages.length === 0 || !messages.every(isJsonObject))
    return "Invalid 'messages': a list of at least one object expected."
  const fault = toolFault(messages)
  if (fault !== undefined) return fault
  return {
    model,
    isStreamed: stream === true,
    wantsUsage: isJsonObject(stream_options) && stream_options.include_usage === true,
    messages,
    functions: chatFunctions(tools),
  }
}

/** Returns a sentence if a result has no call before it, which OpenAI's server refuses. */
const toolFault = (messages: readonly Record<string, unknown>[]): string | undefined => {
  const open = new Set<unknown>()
  for (const message of messages) {
    for (const call of callsOf(message)) open.add(call.id)
    if (message.role === 'tool' && !open.has(message.tool_call_id))
      return "messages with role 'tool' must be a response to a preceding message with 'tool_calls'."
  }
  return undefined
}

const callsOf = ({ tool_calls }: Record<string, unknown>): readonly Record<string, unknown>[] =>
  Array.isArray(tool_calls) ? tool_calls.filter(isJsonObject) : []

/** Returns the functions of a list of tools. */
const chatFunctions = (tools: unknown): readonly OfferedFunction[] =>
  (Array.isArray(tools) ? tools : [])
    .map((tool: unknown) => (isJsonObject(tool) ? tool.function : undefined))
    .filter(isJsonObject)
    .map(({ name, parameters }) => ({ name: String(name), parameters }))

const triggerOf = (messages: readonly Record<string, unknown>[]): Trigger => {
  const turn = messages.filter(({ role }) => role === 'user').length
  const last = messages.at(-1) ?? {}
  if (last.role === 'tool') {
    const call = messages.flatMap(callsOf).find(({ id }) => id === last.tool_call_id)
    const name = isJsonObject(call?.function) ? String(call.function.name) : ''
    return { on: 'result', turn, name, result: textOf(last.content) }
  }
  return turn === 0 ? { on: 'begin' } : { on: 'turn', turn, text: textOf(last.content) }
}

const textOf = (content: unknown): string => {
  if (typeof content === 'string') return content
  const parts = Array.isArray(content) ? content.filter(isJsonObject) : []
  return parts.map(({ text }) => (typeof text === 'string' ? text : '')).join('')
}
