import { type AgentKind, engineKinds, modelKinds, recogniserKinds, voiceKinds } from './agent-kinds.ts'
import type { agents as agentsSchema } from './schema/agents-schema.ts'
import type { LoadedValue } from './schema/values.ts'
import type { AgentsConfig } from './types.ts'

/** Name of the voice that needs neither a server nor an entry. */
export const builtInVoice = 'built-in'

/** Returns `agents` with the URLs of hosted services, the only engine as default, and the built-in voice. */
export const buildAgents = (loaded: LoadedValue<typeof agentsSchema>): AgentsConfig => {
  const engines = withUrls(loaded.engines, engineKinds)
  const only = Object.keys(engines)[0]
  const byName = Object.entries(engines).map(([name, engine]) => [
    name,
    engine.kind === 'pipeline' || engine.output === 'text' ? { voices: [builtInVoice], ...engine } : engine,
  ])
  // The rules have checked that each kind has its keys.
  return {
    ...loaded,
    ...(only !== undefined && { default: loaded.default ?? only }),
    engines: Object.fromEntries(byName),
    recognisers: withUrls(loaded.recognisers, recogniserKinds),
    models: withUrls(loaded.models, modelKinds),
    voices: withUrls(loaded.voices, voiceKinds),
  } as AgentsConfig
}

const withUrls = <E extends { readonly kind: string }>(
  entries: Readonly<Record<string, E>>,
  kinds: Readonly<Record<string, AgentKind>>,
): Readonly<Record<string, E>> =>
  Object.fromEntries(
    Object.entries(entries).map(([name, entry]) => {
      const url = kinds[entry.kind]?.url
      return [name, { ...(url !== undefined && { url }), ...entry }]
    }),
  )
