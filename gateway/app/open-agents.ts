import { isDeepStrictEqual } from 'node:util'
import type { AgentsConfig } from '../../config/types.ts'
import type { AgentOptions } from '../../handlers/verbs.ts'
import type { PcmRate, Sounds, VoiceEngine } from '../../media/types.ts'
import type { Agents, AgentsDeps } from '../agents/agents.ts'
import type { ConfiguredEngines } from '../agents/configured-engines.ts'
import type { SpeechDetector } from '../agents/detector/speech-detector.ts'
import type { StreamingHttp } from '../agents/streaming/streaming-http.ts'
import { OperatorHttp } from '../callbacks/operator-http.ts'
import type { Player } from '../calls/audio/player.ts'
import { verbFailed } from '../calls/leg/failures.ts'
import type { AgentSource, AgentStarter, VoiceAgent } from '../calls/verbs/call-agents.ts'
import type { Metrics } from '../core/metrics.ts'
import type { AppContext } from './open.ts'

/** Loaded code of agents with the engines of the present configuration. */
interface OpenedAgents {
  readonly agents: Agents
  readonly http: StreamingHttp
  readonly requests: OperatorHttp
}

/**
 * Starter of agents that loads their code with the first agent, or at once if an engine is configured.
 * Without one, nothing is loaded.
 */
class LazyAgents implements AgentStarter {
  readonly #base: AppContext
  readonly #sounds: Sounds
  readonly #loadSound: AgentsDeps['loadSound']
  readonly #metrics: Metrics
  #config: AgentsConfig
  #opened: Promise<OpenedAgents> | undefined
  #running: Agents | undefined
  #detector: SpeechDetector | undefined
  /** Changes of the configuration, one after another. */
  #changing: Promise<void> = Promise.resolve()

  constructor(base: AppContext, sounds: Sounds, loadSound: AgentsDeps['loadSound'], metrics: Metrics) {
    this.#base = base
    this.#sounds = sounds
    this.#loadSound = loadSound
    this.#metrics = metrics
    this.#config = base.config.agents
    if (this.#hasEngines) void this.#open()
  }

  get running(): number {
    return this.#running?.running ?? 0
  }

  async start(source: AgentSource, options: AgentOptions): Promise<VoiceAgent> {
    if (!this.#hasEngines) throw verbFailed('agents_unavailable')
    await this.#changing
    const { agents } = await this.#open()
    return agents.start(source, options)
  }

  /** Uses another configuration for later conversations, which wait for it. */
  change(config: AgentsConfig): Promise<void> {
    const former = this.#config
    if (isDeepStrictEqual(config, former)) return this.#changing
    this.#config = config
    const changed = this.#changing.then(() => this.#apply(config, former))
    this.#changing = changed.catch(() => {})
    return changed
  }

  async #apply(config: AgentsConfig, former: AgentsConfig): Promise<void> {
    const opened = await this.#opened
    if (!opened) {
      if (this.#hasEngines) await this.#open()
      return
    }
    if (!isDeepStrictEqual(config.detector, former.detector)) await this.#openDetector(config.detector)
    opened.agents.change(await this.#engines(opened))
  }

  async close(): Promise<void> {
    const opened = await this.#opened
    await opened?.agents.close()
    await this.#detector?.close()
    await opened?.http.close()
    await opened?.requests.close()
  }

  /** Whether agents can talk: recognisers are enough for one that its handler answers. */
  get #hasEngines(): boolean {
    const { engines, recognisers } = this.#config
    return Object.keys(engines).length > 0 || Object.keys(recognisers).length > 0
  }

  #open(): Promise<OpenedAgents> {
    this.#opened ??= this.#load()
    return this.#opened
  }

  async #load(): Promise<OpenedAgents> {
    const { Agents } = await import('../agents/agents.ts')
    const { StreamingHttp } = await import('../agents/streaming/streaming-http.ts')
    const { clock, log, config } = this.#base
    const http = new StreamingHttp(config.sip.userAgent)
    const requests = new OperatorHttp(clock, config.sip.userAgent)
    const engines = await this.#engines({ http, requests })
    const render = async (text: string, rate: PcmRate) => {
      const spoken = await this.#sounds.prepare({ kind: 'speech', text }, rate).catch(() => undefined)
      return spoken?.samples
    }
    await this.#openDetector(this.#config.detector)
    const loadSound = this.#loadSound
    const detector = () => this.#detector
    const agents = new Agents(engines, { render, loadSound, detector, clock, log, metrics: this.#metrics })
    this.#running = agents
    return { agents, http, requests }
  }

  /** Opens a detector in place of the former one. Calls in progress go on without one. */
  async #openDetector({ kind, folder, ...others }: AgentsConfig['detector']): Promise<void> {
    const former = this.#detector
    this.#detector = undefined
    await former?.close()
    if (kind !== 'silero' || folder === undefined) return
    const { openDetector } = await import('../agents/detector/open-detector.ts')
    const { clock, log } = this.#base
    this.#detector = openDetector({ folder, ...others }, { clock, log, metrics: this.#metrics })
  }

  async #engines({ http, requests }: Omit<OpenedAgents, 'agents'>): Promise<ConfiguredEngines> {
    const { ConfiguredEngines } = await import('../agents/configured-engines.ts')
    const { clock, log } = this.#base
    const sounds = this.#sounds
    const voices: VoiceEngine = {
      speak: async ({ text, voice, language, rate, customer }, signal) => {
        const source = {
          kind: 'speech',
          text,
          ...(voice && { voice }),
          ...(language && { language }),
        } as const
        const options = { ...(customer && { customer }), ...(signal && { signal }) }
        return (await sounds.prepare(source, rate, options)).samples
      },
      close: async () => {},
    }
    return new ConfiguredEngines(this.#config, { voices, http, send: requests.send, clock, log })
  }
}

/** Opens the voice agents of all calls. */
export const openAgents = (
  base: AppContext,
  sounds: Sounds,
  player: Pick<Player, 'prepare'>,
  metrics: Metrics,
): AgentStarter => {
  const loadSound: AgentsDeps['loadSound'] = (url, how) => player.prepare({ kind: 'audio', url }, how)
  const agents = new LazyAgents(base, sounds, loadSound, metrics)
  base.closing.add('agents', agents, (open) => open.close())
  base.followers.change('agents', ({ agents: next }) => void agents.change(next))
  metrics.gauge('agents', () => agents.running)
  return agents
}
