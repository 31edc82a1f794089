import type { AgentCommand, CallAgent } from '../../../handlers/verbs.ts'
import { type Fields, Refusal } from './command-fields.ts'
import type { CommandedCall } from './command-table.ts'

/** Default hold in seconds, also in place of a number below 0 or above {@link maxHoldSeconds}. */
const holdSeconds = 300
/** Longest hold in seconds. */
const maxHoldSeconds = 900

/** Roles of messages to an agent. */
export const messageRoles = ['system', 'user', 'assistant'] as const

/** Holds that wait until the agent has spoken. A later hold or unhold replaces them. */
const pendingHolds = new WeakMap<CallAgent, symbol>()

/** Returns the running agent of a call. Throws 409 without one. */
const agentOf = (call: CommandedCall): CallAgent => {
  const { agent } = call.control
  if (!agent) throw new Refusal('409', 'the call has no running agent')
  return agent
}

/** Puts the agent on hold, after its answer to `prompt` if there is one. */
export const holdAgent = (call: CommandedCall, params: Fields): void => {
  const prompt = params.text('prompt')
  const ms = readHold(params) * 1000
  const agent = agentOf(call)
  const mark = Symbol('hold')
  pendingHolds.set(agent, mark)
  const begin = () => {
    if (pendingHolds.get(agent) === mark) agent.hold(ms)
  }
  if (prompt === undefined) begin()
  else {
    agent.message({ role: 'system', content: prompt }, true)
    void agent.quiet().then(begin)
  }
}

/** Reads the duration of a hold in seconds. SDKs send it as text. */
const readHold = (params: Fields): number => {
  const given = params.raw('timeout')
  if (given === undefined) return holdSeconds
  const seconds = typeof given === 'string' && /^-?\d{1,9}$/.test(given) ? Number(given) : given
  if (typeof seconds !== 'number' || !Number.isInteger(seconds))
    throw params.wrong('timeout', 'a whole number of seconds')
  return seconds < 0 || seconds > maxHoldSeconds ? holdSeconds : seconds
}

/** Resumes the agent, which then answers to `prompt` if there is one. */
export const unholdAgent = (call: CommandedCall, params: Fields): void => {
  const prompt = params.text('prompt')
  const agent = agentOf(call)
  pendingHolds.delete(agent)
  agent.unhold()
  if (prompt !== undefined) agent.message({ role: 'system', content: prompt }, true)
}

/**
 * Adds a message to the conversation, after changes of the global data and of the role. The model answers
 * messages of a user or of the system.
 */
export const messageAgent = (call: CommandedCall, params: Fields): void => {
  const role = params.oneOf('role', messageRoles) ?? 'system'
  const content = params.text('message_text')
  const command = readCommand(params)
  if (content === undefined && !command)
    throw params.wrong('message_text', 'it, or one of reset and global_data')
  const agent = agentOf(call)
  if (command && agent.command?.(command) !== true)
    throw new Refusal('409', 'the agent takes neither reset nor global_data')
  if (content !== undefined) agent.message({ role, content }, role !== 'assistant')
}

const readCommand = (params: Fields): AgentCommand | undefined => {
  const reset = params.fields('reset')
  const globalData = params.fields('global_data')
  params.repeated('global_data')
  if (!reset && !globalData) return undefined
  return {
    ...(globalData && { globalData: globalData.all }),
    ...(reset && { reset: readReset(reset) }),
  }
}

const readReset = (reset: Fields): NonNullable<AgentCommand['reset']> => {
  const systemPrompt = reset.text('system_prompt')
  const userPrompt = reset.text('user_prompt')
  return {
    isFull: reset.flag('full_reset') ?? false,
    ...(systemPrompt !== undefined && { systemPrompt }),
    ...(userPrompt !== undefined && { userPrompt }),
  }
}

/** Ends the conversation. `control_id` is accepted for clients that have one; a call has one agent. */
export const stopAgent = (call: CommandedCall, params: Fields): void => {
  params.text('control_id')
  const agent = agentOf(call)
  pendingHolds.delete(agent)
  agent.stop()
}
