import type { AgentCommands, AgentReset } from '../../../handlers/verbs.ts'
import { type Fields, Refusal } from './command-fields.ts'
import type { CommandedCall } from './command-table.ts'

/** Default hold in seconds, also in place of a number below 0 or above {@link maxHoldSeconds}. */
const holdSeconds = 300
/** Longest hold in seconds. */
const maxHoldSeconds = 900

/** Roles of messages to an agent. */
export const messageRoles = ['system', 'user', 'assistant'] as const

/** Returns the commands to the running agent of a call. Throws 409 without one. */
const agentOf = ({ control }: CommandedCall): AgentCommands => {
  if (!control.agentCommands) throw new Refusal('409', 'the call has no running agent')
  return control.agentCommands
}

/** Puts the agent of a call on hold. */
export const holdAgent = (call: CommandedCall, params: Fields): void => {
  const prompt = params.text('prompt')
  const seconds = readHold(params)
  agentOf(call).hold(seconds, prompt)
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

/** Resumes the agent of a call. */
export const unholdAgent = (call: CommandedCall, params: Fields): void => {
  const prompt = params.text('prompt')
  agentOf(call).unhold(prompt)
}

/** Adds a message to the conversation, or changes the role and the data of the agent. */
export const messageAgent = (call: CommandedCall, params: Fields): void => {
  const role = params.oneOf('role', messageRoles) ?? 'system'
  const content = params.text('message_text')
  const reset = params.fields('reset')
  const globalData = params.fields('global_data')
  params.repeated('global_data')
  if (content === undefined && !reset && !globalData)
    throw params.wrong('message_text', 'it, or one of reset and global_data')
  const more = {
    ...(reset && { reset: readReset(reset) }),
    ...(globalData && { globalData: globalData.all }),
  }
  agentOf(call).message({ role, content: content ?? '' }, more)
}

const readReset = (reset: Fields): AgentReset => {
  const systemPrompt = reset.text('system_prompt')
  const userPrompt = reset.text('user_prompt')
  return {
    consolidate: false,
    fullReset: reset.flag('full_reset') ?? false,
    ...(systemPrompt !== undefined && { systemPrompt }),
    ...(userPrompt !== undefined && { userPrompt }),
  }
}

/** Ends the conversation. `control_id` is accepted for clients that have one; a call has one agent. */
export const stopAgent = (call: CommandedCall, params: Fields): void => {
  params.text('control_id')
  agentOf(call).stop()
}
