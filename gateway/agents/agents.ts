import { randomUUID } from 'node:crypto'
import type { AgentOptions } from '../../handlers/verbs.ts'
import type { MediaPort, PcmRate, Prompt } from '../../media/types.ts'
import { verbFailed } from '../calls/leg/failures.ts'
import type { AgentSource, AgentStarter, VoiceAgent } from '../calls/verbs/call-agents.ts'
import type { SteadyClock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import type { Metrics } from '../core/metrics.ts'
import { Conversation } from './conversation.ts'
import type { ConversationObserver } from './conversation-deps.ts'
import type { SpeechDetector } from './detector/speech-detector.ts'
import type { Engine, EngineMessage } from './engine.ts'

/** Limits of agents. */
export interface AgentLimits {
  /** Maximum number of agents of one project at a time. */
  readonly maxCalls: number
  /** Maximum duration of a conversation in ms; a document may set a shorter one. */
  readonly maxMs: number
  /** Time-out of a function in ms. */
  readonly functionTimeoutMs: number
  /** Maximum number of tokens of language models in a conversation; absent: no limit. */
  readonly maxTokens?: number
}

/** Engines of the present configuration. */
export interface EngineSet {
  readonly limits: AgentLimits
  /**
   * Returns the engines for a conversation, in order of preference; empty if none is configured. Warns about
   * names that the configuration does not have.
   */
  choose(
    options: Pick<AgentOptions, 'engine' | 'model' | 'recogniser' | 'answers'>,
    warn: (message: string) => void,
  ): readonly Engine[]
  /** Answers an instruction about messages, outside of conversations. Rejects if no model can. */
  complete(
    engine: Engine,
    messages: readonly EngineMessage[],
    instruction: string,
    signal: AbortSignal,
  ): Promise<string>
  close(): Promise<void>
}

/** Collaborators of {@link Agents}. */
export interface AgentsDeps {
  /** Returns a phrase in the voice of the gateway; undefined if it cannot be spoken. Never rejects. */
  readonly render: (text: string, rate: PcmRate) => Promise<Int16Array | undefined>
  /** Fetches and decodes a sound of a project, as the verb `play` does. Rejects if that fails. */
  readonly loadSound: (
    url: string,
    options: { readonly port: MediaPort; readonly customer: string; readonly signal: AbortSignal },
  ) => Promise<Prompt>
  /** Returns the detector of the callers' voice; undefined without one. */
  readonly detector: () => SpeechDetector | undefined
  readonly clock: SteadyClock
  readonly log: Log
  readonly metrics: Pick<
    Metrics,
    'agentsEnded' | 'agentEngineFailures' | 'agentResponses' | 'agentInterruptions' | 'agentSounds'
  >
}

/** Maximum time for a summary, in ms. */
const maxSummaryMs = 15_000

/** Voice agents of all calls. */
export class Agents implements AgentStarter {
  readonly #deps: AgentsDeps
  #engines: EngineSet
  readonly #running = new Map<string, number>()
  /** Conversations with the engines that they use. */
  readonly #open = new Map<Conversation, EngineSet>()

  constructor(engines: EngineSet, deps: AgentsDeps) {
    this.#engines = engines
    this.#deps = deps
  }

  /** Number of agents in progress. */
  get running(): number {
    return this.#open.size
  }

  /** Uses other engines for later conversations. The former ones are closed with their last conversation. */
  change(engines: EngineSet): void {
    const former = this.#engines
    this.#engines = engines
    this.#closeIfUnused(former)
  }

  async start(source: AgentSource, options: AgentOptions): Promise<VoiceAgent> {
    const { projectId, callId, signal } = source
    const id = randomUUID()
    const log = this.#deps.log.child({ call: callId, agent: id })
    const { limits } = this.#engines
    const set = this.#engines
    const warnings: string[] = []
    const engines = set.choose(options, (message) => {
      warnings.push(message)
      log.warn({ event: 'agent.name-unknown', message }, 'name of an agent not configured')
    })
    if (engines.length === 0) throw verbFailed('agents_unavailable')
    const running = this.#running.get(projectId) ?? 0
    if (running >= limits.maxCalls)
      throw verbFailed('agent_busy', `The project has ${limits.maxCalls} agents at once already.`)
    const { turns } = options
    const hardStopMs = Math.min(turns.hardStopMs || limits.maxMs, limits.maxMs)
    const { functionTimeoutMs, maxTokens } = limits
    const detector = this.#deps.detector()
    const conversation = new Conversation(
      source.port,
      { ...options, turns: { ...turns, hardStopMs } },
      {
        id,
        projectId,
        engines,
        clock: this.#deps.clock,
        functionTimeoutMs,
        ...(maxTokens !== undefined && { maxTokens }),
        ...(detector && { detector }),
        warnings,
        render: this.#deps.render,
        loadSound: (url, port, stopped) =>
          this.#deps.loadSound(url, { port, customer: projectId, signal: stopped }),
        complete: (engine, messages, instruction) =>
          this.#inTime((limit) => set.complete(engine, messages, instruction, limit)),
        observer: this.#observer(log),
      },
    )
    this.#keep(conversation, projectId, log)
    const hangUp = () => conversation.hangUp()
    signal.addEventListener('abort', hangUp, { once: true })
    void conversation.ended.then(() => signal.removeEventListener('abort', hangUp))
    if (signal.aborted) hangUp()
    return conversation
  }

  /** Ends all conversations, and closes the engines. */
  async close(): Promise<void> {
    for (const conversation of this.#open.keys()) conversation.hangUp()
    await this.#engines.close()
  }

  /** Aborts a summary that takes too long. */
  async #inTime(complete: (limit: AbortSignal) => Promise<string>): Promise<string> {
    const abort = new AbortController()
    const timer = this.#deps.clock.after(maxSummaryMs, () => abort.abort())
    try {
      return await complete(abort.signal)
    } finally {
      timer.cancel()
    }
  }

  #closeIfUnused(engines: EngineSet): void {
    if (engines === this.#engines || [...this.#open.values()].includes(engines)) return
    engines
      .close()
      .catch((err: unknown) =>
        this.#deps.log.error({ event: 'gateway.close-failed', err }, 'engines not closed'),
      )
  }

  #keep(conversation: Conversation, projectId: string, log: Log): void {
    const engines = this.#engines
    this.#open.set(conversation, engines)
    this.#running.set(projectId, (this.#running.get(projectId) ?? 0) + 1)
    log.info({ event: 'agent.started' }, 'agent started')
    void conversation.ended.then((end) => {
      this.#open.delete(conversation)
      this.#closeIfUnused(engines)
      const left = (this.#running.get(projectId) ?? 1) - 1
      if (left > 0) this.#running.set(projectId, left)
      else this.#running.delete(projectId)
      this.#deps.metrics.agentsEnded.inc({ end: end.kind })
      if (end.kind === 'failed') log.error({ event: 'agent.failed', ...end }, 'agent failed')
      else log.info({ event: 'agent.ended', end: end.kind }, 'agent ended')
    })
  }

  #observer(log: Log): ConversationObserver {
    const { metrics } = this.#deps
    return {
      onEngineFailure: ({ name, kind }, failure) => {
        metrics.agentEngineFailures.inc({ engine: name, part: failure.part, failure: failure.kind })
        log.warn(
          { event: 'agent.engine-failed', engine: name, engineKind: kind, ...failure },
          'engine of an agent failed',
        )
      },
      onResponse: ({ name }, ms) => metrics.agentResponses.observe({ engine: name }, ms / 1000),
      onInterruption: (how) => metrics.agentInterruptions.inc({ how }),
      onSound: (verdict) => metrics.agentSounds.inc({ verdict }),
      onError: (err) => log.error({ event: 'gateway.listener-failed', err }, 'listener failed'),
    }
  }
}
