import { configuredName } from '../../config/agent-names.ts'
import type { AgentEngineConfig, AgentsConfig } from '../../config/types.ts'
import type { AgentOptions } from '../../handlers/verbs.ts'
import type { AgentLimits, EngineSet } from './agents.ts'
import type { Engine, EngineMessage } from './engine.ts'
import { makeEngine } from './engines/make-engine.ts'
import { PartStore, type PartsDeps } from './engines/part-store.ts'
import { complete } from './models/model.ts'

type Pipeline = Extract<AgentEngineConfig, { readonly kind: 'pipeline' }>

/**
 * Engines of one configuration. They are made when a conversation first needs them, and are shared by all
 * conversations.
 */
export class ConfiguredEngines implements EngineSet {
  readonly limits: AgentLimits
  readonly #config: AgentsConfig
  readonly #parts: PartStore
  readonly #deps: PartsDeps
  /** Engines by name; a pipeline also with the model and the recogniser of a document. */
  readonly #made = new Map<string, Engine>()

  constructor(config: AgentsConfig, deps: PartsDeps) {
    this.#config = config
    this.#deps = deps
    this.#parts = new PartStore(config, deps)
    const { callsPerProject: maxCalls, durationMs: maxMs, functionTimeoutMs, tokens } = config.limits
    this.limits = { maxCalls, maxMs, functionTimeoutMs, ...(tokens !== undefined && { maxTokens: tokens }) }
  }

  choose(
    options: Pick<AgentOptions, 'engine' | 'model' | 'recogniser' | 'answers'>,
    warn: (message: string) => void,
  ): Engine[] {
    if (options.answers === 'handler') return this.#speaking(options, warn)
    const chosen: Engine[] = []
    for (const name of this.#chain(options.engine, warn)) {
      const config = this.#config.engines[name]
      if (config) chosen.push(this.#engine(name, this.#withNames(config, options, warn)))
    }
    return chosen
  }

  complete(
    engine: Engine,
    messages: readonly EngineMessage[],
    instruction: string,
    signal: AbortSignal,
  ): Promise<string> {
    const config = this.#config.engines[engine.name]
    const own = config && 'models' in config ? config.models?.[0] : undefined
    const name = own ?? Object.keys(this.#config.models)[0]
    if (name === undefined) return Promise.reject(new Error('There is no language model in agents.models.'))
    const asked = [...messages, { role: 'system', content: instruction } as const]
    return complete(this.#parts.model(name), asked, {}, signal)
  }

  async close(): Promise<void> {
    await Promise.all([...this.#made.values()].map((engine) => engine.close()))
    await this.#parts.close()
  }

  /** Names of the engine and of its replacements, each once. */
  #chain(wanted: string | undefined, warn: (message: string) => void): readonly string[] {
    const { engines, default: usual } = this.#config
    const found = wanted === undefined ? undefined : configuredName(wanted, {}, Object.keys(engines))
    if (wanted !== undefined && found === undefined)
      warn(`There is no engine ${wanted}; the default is used.`)
    const names = new Set<string>()
    for (let name = found ?? usual; name !== undefined && !names.has(name); name = engines[name]?.fallback)
      names.add(name)
    return [...names]
  }

  /**
   * Returns pipelines without a model, for a handler that answers: those of the chain, or else all. Without a
   * pipeline in the configuration, its recognisers and voices make one.
   */
  #speaking(
    { engine, recogniser }: Pick<AgentOptions, 'engine' | 'recogniser'>,
    warn: (message: string) => void,
  ): Engine[] {
    const { engines, recognisers, voices } = this.#config
    const pipelinesOf = (names: readonly string[]) =>
      names.flatMap((name): readonly (readonly [string, Pipeline])[] => {
        const config = engines[name]
        return config?.kind === 'pipeline' ? [[name, config]] : []
      })
    const chosen = pipelinesOf(this.#chain(engine, warn))
    const pipelines = chosen.length > 0 ? chosen : pipelinesOf(Object.keys(engines))
    const all: Pipeline = {
      kind: 'pipeline',
      recognisers: Object.keys(recognisers),
      models: [],
      voices: [...Object.keys(voices), 'built-in'],
    }
    const usable =
      pipelines.length > 0 ? pipelines : all.recognisers.length > 0 ? [['speech', all] as const] : []
    return usable.map(([name, config]) =>
      this.#engine(name, {
        ...this.#withNames(config, { ...(recogniser && { recogniser }) }, warn),
        models: [],
      }),
    )
  }

  /** Puts the model and recogniser that a document names before those of a pipeline. */
  #withNames<T extends AgentEngineConfig>(
    config: T,
    { model, recogniser }: Pick<AgentOptions, 'model' | 'recogniser'>,
    warn: (message: string) => void,
  ): T {
    if (config.kind !== 'pipeline') return config
    const { names, models, recognisers } = this.#config
    const first = (
      wanted: string | undefined,
      map: Readonly<Record<string, string>>,
      from: object,
      what: string,
    ) => {
      if (wanted === undefined) return []
      const name = configuredName(wanted, map, Object.keys(from))
      if (name === undefined) warn(`There is no ${what} ${wanted}; that of the engine is used.`)
      return name === undefined ? [] : [name]
    }
    return {
      ...config,
      models: [...new Set([...first(model, names.models, models, 'model'), ...config.models])],
      recognisers: [
        ...new Set([
          ...first(recogniser, names.recognisers, recognisers, 'recogniser'),
          ...config.recognisers,
        ]),
      ],
    }
  }

  #engine(name: string, config: AgentEngineConfig): Engine {
    const key = config.kind === 'pipeline' ? JSON.stringify([name, config.models, config.recognisers]) : name
    const made = this.#made.get(key) ?? makeEngine(name, config, this.#parts, this.#deps)
    this.#made.set(key, made)
    return made
  }
}
