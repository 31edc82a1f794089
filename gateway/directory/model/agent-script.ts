import type { Config } from '../../../config/types.ts'
import type { AgentDetails } from './resource-types.ts'

/** Turn-taking of agents whose `params` have none of their own; `agents.silence` of the configuration. */
export type AgentSilence = Config['agents']['silence']

/** Default of {@link AgentSilence}, equal to that of the configuration. */
export const defaultSilence: AgentSilence = { endOfSpeechMs: 300, semantic: true }

/** Maximum size of an agent's settings in bytes of JSON: with them, its script has the permitted size. */
export const maxAgentBytes = 65_000

/** Returns the script of an agent as JSON text: it answers the call, and starts the agent. */
export const agentScript = (settings: AgentDetails['settings'], silence: AgentSilence): string => {
  const { params } = settings
  const own = typeof params === 'object' && params !== null ? params : {}
  const defaults = { end_of_speech_timeout: silence.endOfSpeechMs, enable_turn_detection: silence.semantic }
  const ai = { ...settings, params: { ...defaults, ...own } }
  return JSON.stringify({ version: '1.0.0', sections: { main: [{ answer: {} }, { ai }] } })
}
