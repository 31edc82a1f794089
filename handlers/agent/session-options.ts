import type { AgentOptions } from '../verbs.ts'
import type { SessionState } from './session-state.ts'

/** Language of a document without languages. */
const defaultLanguage = { name: 'English', code: 'en-US' }

/**
 * Returns the silence in milliseconds after which the agent speaks before the first turn; 0 is off. The
 * callee of an outbound call has longer.
 */
export const initialAttention = ({ document, host }: SessionState): number => {
  const { params, turns } = document
  const direction = params.direction ?? host.call.info.direction
  return direction === 'outbound' ? params.outboundAttentionMs : turns.attentionMs
}

/**
 * Returns the options of the agent without what the session adds: functions to call, and events. `earlier`:
 * what is known of earlier conversations.
 */
export const agentOptions = (
  state: SessionState,
  earlier?: string,
): Omit<AgentOptions, 'runFunction' | 'onEvent' | 'signal' | 'commands'> => {
  const { document } = state
  const { params, prompt, languages } = document
  return {
    ...(params.engine !== undefined && { engine: params.engine }),
    ...(params.model !== undefined && { model: params.model }),
    ...(params.recogniser !== undefined && { recogniser: params.recogniser }),
    prompt: state.prompt,
    functions: state.shown,
    languages: languages.length > 0 ? languages : [defaultLanguage],
    hints: document.hints,
    pronounce: document.pronounce,
    corrections: document.corrections,
    modelSettings: prompt.settings,
    turns: { ...document.turns, attentionMs: initialAttention(state) },
    ...(params.greeting && { greeting: { ...params.greeting, text: state.fill(params.greeting.text) } }),
    waitForUser: params.waitForUser,
    initialDelayMs: params.initialDelayMs,
    isPaused: params.isPaused,
    history: [
      ...(earlier === undefined
        ? []
        : [{ role: 'system' as const, content: `Earlier conversation: ${earlier}` }]),
      ...params.history,
    ],
    volumeDb: params.volumeDb,
  }
}
