import type { AgentSound, AgentText } from '../../handlers/verbs.ts'
import type { LoadSound } from './background.ts'
import type { EngineSound } from './engine.ts'

/** Text or sound that a handler wants to be said. */
export type Said = string | AgentText | AgentSound

/** Returns it for the engine. A sound is loaded at once, since other words may be heard before. */
export const saidOf = (said: Said, load: LoadSound): string | AgentText | EngineSound => {
  if (typeof said === 'string' || 'read' in said) return said
  const loading = load(said.url, new AbortController().signal)
  // A sound that is never played may fail unnoticed.
  loading.catch(() => {})
  return {
    loops: said.loops,
    load: () => loading,
  }
}
