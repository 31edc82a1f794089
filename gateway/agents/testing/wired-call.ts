import pino from 'pino'
import type { AgentEngineConfig, AgentsConfig } from '../../../config/types.ts'
import type { DocumentRequest, FetchedDocument } from '../../../handlers/handler.ts'
import { createScriptHandler } from '../../../handlers/script/handler.ts'
import { Sandbox } from '../../../handlers/script/sandbox/sandbox.ts'
import { FakeCall } from '../../../handlers/testing/fake-call.ts'
import { FakeContext } from '../../../handlers/testing/fake-context.ts'
import type { AgentCommands, AgentOptions, CallAgent } from '../../../handlers/verbs.ts'
import { sine } from '../../../media/codecs/tone.ts'
import type { MediaPort, VoiceEngine } from '../../../media/types.ts'
import type { CustomerHttp } from '../../callbacks/customer-http.ts'
import { OperatorHttp } from '../../callbacks/operator-http.ts'
import type { VoiceAgent } from '../../calls/verbs/call-agents.ts'
import { FakeClock } from '../../core/clock.ts'
import { Metrics } from '../../core/metrics.ts'
import { openStandIns, type StandIns } from '../../stand-ins/open-stand-ins.ts'
import { scriptOf } from '../../stand-ins/read-script.ts'
import type { EngineName } from '../../stand-ins/script-types.ts'
import { noise } from '../../stand-ins/testing/caller-audio.ts'
import { Agents } from '../agents.ts'
import { ConfiguredEngines } from '../configured-engines.ts'
import { StreamingHttp } from '../streaming/streaming-http.ts'
import { PlayingTap } from './playing-tap.ts'

/** Engine of a {@link WiredCall}, by its kind in the configuration. */
export type WiredEngine = AgentEngineConfig['kind']

/** Plan of a {@link WiredCall}. */
export interface WiredPlan {
  readonly engine: WiredEngine
  /** Engine that follows after failures; default none. */
  readonly fallback?: WiredEngine
  /** Longest session of the engine, in ms; default its own. */
  readonly longestSessionMs?: number
  /** Rules of the stand-ins; further turns are answered by two seconds of a tone. */
  readonly rules?: readonly object[]
  /** Keys of `ai` besides those of every test. */
  readonly ai?: Readonly<Record<string, unknown>>
  readonly params?: Readonly<Record<string, unknown>>
  /** Client for the functions of the document, by `clock`; default functions cannot be reached. */
  readonly http?: CustomerHttp
  /** Default a new one. */
  readonly clock?: FakeClock
}

/** Line of the log. */
export type WiredLine = Readonly<Record<string, unknown>> & { readonly event?: string }

/** Pitch of the built-in voice, in Hz. */
export const builtInHz = 700
/** Duration of a character in the built-in voice, in ms. */
export const characterMs = 60
/** Pitch of the engines that speak by themselves, in Hz. */
export const engineHz = 440

const frameMs = 20
/** Maximum real time for the code of agents to load, in ms. */
const maxLoadingMs = 20_000
/** Voice after which its begin is reported, in ms. */
const beginMs = 60
/** Silence after which the end of voice is reported, in ms. */
const endMs = 200

/** Voice whose every character lasts as long. */
const toneVoice: VoiceEngine = {
  speak: async ({ text, rate }) => sine(builtInHz, text.length * characterMs, rate),
  close: async () => {},
}

/** Answer of the stand-ins that takes two seconds. */
export const answer = (text = 'Two seconds of an answer, no less.', ms = 2000): object => ({
  tone: { hz: engineHz, ms, text },
})

/** Returns the configuration of all engines, whose servers are the stand-ins. */
const configOf = (
  { url, wsUrl }: StandIns,
  { engine, fallback, longestSessionMs }: WiredPlan,
): AgentsConfig => {
  const key = 'k'
  const engines: Readonly<Record<WiredEngine, AgentEngineConfig>> = {
    pipeline: { kind: 'pipeline', recognisers: ['ears'], models: ['mind'], voices: ['built-in'] },
    'openai-realtime': { kind: 'openai-realtime', url: `${wsUrl}/v1/realtime`, model: 'gpt-realtime', key },
    'openai-live': { kind: 'openai-live', url: `${wsUrl}/v1/live/sessions`, models: ['mind'], key },
    'gemini-live': {
      kind: 'gemini-live',
      url: `${wsUrl}/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent`,
      model: 'gemini',
      key,
    },
    'deepgram-agent': { kind: 'deepgram-agent', url: `${wsUrl}/v1/agent/converse`, model: 'gpt', key },
    'elevenlabs-agent': {
      kind: 'elevenlabs-agent',
      url: `${wsUrl}/v1/convai/conversation?input_format=ulaw_8000&output_format=ulaw_8000`,
      agentId: 'a',
      key,
    },
    ultravox: { kind: 'ultravox', url: `${url}/api/calls`, key },
  }
  const limit = longestSessionMs === undefined ? {} : { longestSessionMs }
  const first = { ...engines[engine], ...(fallback && { fallback }), ...limit }
  return {
    default: engine,
    detector: { kind: 'level', runtime: 'onnxruntime-node', threshold: 0.5 },
    engines: { ...(fallback && { [fallback]: engines[fallback] }), [engine]: first },
    recognisers: { ears: { kind: 'vosk', url: `${wsUrl}/vosk` } },
    models: { mind: { kind: 'openai', url: `${url}/v1`, key, model: 'm', timeoutMs: 10_000 } },
    voices: {},
    silence: { endOfSpeechMs: 300, semantic: true },
    names: { models: {}, recognisers: {}, voices: {} },
    limits: { callsPerProject: 10, durationMs: 3_600_000, functionTimeoutMs: 4_000 },
  }
}

/** Context of a document that reaches the servers of a test. */
class WiredContext extends FakeContext {
  readonly #http: CustomerHttp | undefined
  readonly #clock: FakeClock

  constructor(http: CustomerHttp | undefined, clock: FakeClock) {
    super()
    this.#http = http
    this.#clock = clock
  }

  override fetchDocument(request: DocumentRequest): Promise<FetchedDocument> {
    return this.#http ? this.#http.document(request, 'demo') : super.fetchDocument(request)
  }

  override now(): number {
    return this.#clock.now()
  }
}

/**
 * Call of a test to an agent of a document. Everything from the document to the sockets of the engines is
 * real; the far end of the engines are the stand-ins. Time passes by {@link passes} only, for both sides.
 */
export class WiredCall {
  readonly clock: FakeClock
  readonly standIns: StandIns
  readonly call = new FakeCall()
  readonly context: FakeContext
  readonly metrics = new Metrics()
  readonly log: WiredLine[] = []
  /** Frames of the caller and of the agent so far. */
  frames = 0
  /** Commands of the agent from outside. */
  commands: AgentCommands | undefined
  agent: VoiceAgent | undefined
  readonly #agents: Agents
  readonly #http = new StreamingHttp('test')
  readonly #requests: OperatorHttp
  readonly #sandbox: Sandbox
  readonly #engines: ConfiguredEngines
  #tap: PlayingTap | undefined
  /** Sound that the caller makes, in frames. */
  #voice: Int16Array[] = []
  #voicedMs = 0
  #silentMs = 0
  #isVoiced = false
  #isOver = false

  private constructor(clock: FakeClock, standIns: StandIns, plan: WiredPlan) {
    this.clock = clock
    this.standIns = standIns
    this.context = new WiredContext(plan.http, clock)
    const write = (line: string) => void this.log.push(JSON.parse(line) as WiredLine)
    const log = pino({ level: 'debug', base: null }, { write })
    this.#requests = new OperatorHttp(clock, 'test')
    this.#sandbox = new Sandbox(clock)
    const send = this.#requests.send
    this.#engines = new ConfiguredEngines(configOf(standIns, plan), {
      voices: toneVoice,
      http: this.#http,
      send,
      clock,
      log,
    })
    this.#agents = new Agents(this.#engines, {
      render: (text, rate) => toneVoice.speak({ text, rate, voice: undefined, language: undefined }),
      loadSound: async () => ({ sampleRate: 8000, samples: sine(300, 500) }),
      detector: () => undefined,
      clock,
      log,
      metrics: this.metrics,
    })
    // The class has private members, which only the instance itself can have beside an own method.
    Object.defineProperty(this.call, 'startAgent', { value: (options: AgentOptions) => this.#start(options) })
  }

  /** Opens a call whose script is an agent, followed by a step that names its result. */
  static async open(plan: WiredPlan): Promise<WiredCall> {
    const { clock = new FakeClock() } = plan
    const rules = [...(plan.rules ?? []), { when: 'any', do: [answer()] }]
    const standIns = await openStandIns({ script: scriptOf({ rules }), clock })
    const call = new WiredCall(clock, standIns, plan)
    call.#run(plan)
    // The code of agents is loaded with the first of them.
    const end = performance.now() + maxLoadingMs
    while (!call.#tap && !call.isOver && performance.now() < end) await new Promise(setImmediate)
    await call.passes(100)
    return call
  }

  #run({ ai = {}, params = {} }: WiredPlan): void {
    const handler = createScriptHandler({
      nodeId: 'n-1',
      spaceId: 's-1',
      sandbox: this.#sandbox,
      timers: this.clock,
    })
    const agent = {
      prompt: { text: 'You help callers.' },
      params: { wait_for_user: true, attention_timeout: 0, end_of_speech_timeout: 300, ...params },
      ...ai,
    }
    const main = [{ ai: agent }, { play: { url: 'say:%{ai_result}' } }]
    const text = JSON.stringify({ version: '1.0.0', sections: { main } })
    void handler.run(this.call, { kind: 'inline', text, name: 'test' }, this.context).then(() => {
      this.#isOver = true
    })
  }

  async #start(options: AgentOptions): Promise<CallAgent> {
    this.commands = options.commands
    const port = {
      id: 'port',
      tap: ({ sampleRate }: { sampleRate: PlayingTap['rate'] }) => {
        this.#tap = new PlayingTap(sampleRate)
        return this.#tap
      },
    } as Partial<MediaPort> as MediaPort
    const { callId, projectId } = this.call.info
    this.agent = await this.#agents.start({ callId, projectId, port, signal: this.call.signal }, options)
    return this.agent
  }

  get tap(): PlayingTap {
    if (!this.#tap) throw new Error(`no agent was started: ${JSON.stringify(this.context.warnings)}`)
    return this.#tap
  }

  /** Result of the agent in the step after it; undefined before that step. */
  get result(): string | undefined {
    const step = this.call.verbs.find(([name]) => name === 'play')?.[1] as
      | { readonly sounds: readonly { readonly text?: string }[] }
      | undefined
    return step?.sounds[0]?.text
  }

  /** Whether the script has ended. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** Number of agents in progress. */
  get running(): number {
    return this.#agents.running
  }

  /** Texts of a role in the history that the model of the pipeline received last. */
  asked(role: string): readonly string[] {
    const last = this.standIns.log.received('POST', 'chat').at(-1)?.message as
      | { readonly messages: readonly { readonly role: string; readonly content?: string }[] }
      | undefined
    return (last?.messages ?? []).filter((each) => each.role === role).map(({ content }) => String(content))
  }

  /** Messages of one type that an engine received. */
  received(type: string, engine?: EngineName): readonly unknown[] {
    return this.standIns.log.received(type, engine).map(({ message }) => message)
  }

  /** Values of a counter by its labels, in the form `a=b c=d: 1`. */
  async counts(
    name: 'agentsEnded' | 'agentEngineFailures' | 'agentInterruptions',
  ): Promise<readonly string[]> {
    const { values } = await this.metrics[name].get()
    return values.map(
      ({ labels, value }) =>
        `${Object.entries(labels)
          .map(([key, of]) => `${key}=${of}`)
          .join(' ')}: ${value}`,
    )
  }

  /** Log events of agents so far, without those of usual conversations. */
  get faults(): readonly string[] {
    const usual = ['agent.started', 'agent.ended']
    return this.log.flatMap(({ event }) =>
      event?.startsWith('agent.') && !usual.includes(event) ? [event] : [],
    )
  }

  /** The caller speaks for some ms; the recognisers understand the text. */
  says(text: string, ms = 800): void {
    this.standIns.willHear(text)
    this.makes(noise(ms, this.tap.rate))
  }

  /** The caller makes a sound at the rate of the tap. */
  makes(samples: Int16Array): void {
    const length = (this.tap.rate * frameMs) / 1000
    for (let at = 0; at + length <= samples.length; at += length)
      this.#voice.push(samples.slice(at, at + length))
  }

  /** Lets time pass, in ms. */
  async passes(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= frameMs) await this.#frame()
  }

  /** Lets time pass until a condition is true. Returns the ms; throws after `maxMs`. */
  async until(what: string, isTrue: () => boolean, maxMs = 20_000): Promise<number> {
    for (let ms = 0; ms <= maxMs; ms += frameMs) {
      if (isTrue()) return ms
      await this.#frame()
    }
    throw new Error(`${what}: not within ${maxMs} ms; ${JSON.stringify(this.log)}`)
  }

  /** Waits until the agent is heard, from the present frame on. Returns the ms. */
  hears(what: string, maxMs = 20_000): Promise<number> {
    const from = this.tap.played.length
    return this.until(what, () => this.tap.sounds(from).length >= 3, maxMs)
  }

  /** Waits until the agent was silent for half a second. */
  isSilent(what: string, maxMs = 30_000): Promise<number> {
    return this.until(
      what,
      () => this.tap.played.length - (this.tap.sounds().at(-1) ?? 0) > 25 && this.tap.queuedMs === 0,
      maxMs,
    )
  }

  async #frame(): Promise<void> {
    const tap = this.#tap
    if (tap) {
      const said = this.#voice.shift()
      this.#detect(said !== undefined, tap)
      tap.deliver()
      tap.frame(said, this.frames * frameMs)
      this.frames++
    }
    this.clock.advance(frameMs)
    // The sockets of both sides are real.
    for (let turn = 0; turn < 4; turn++) await new Promise(setImmediate)
  }

  /** Reports the caller's voice as the media thread does. */
  #detect(isVoiced: boolean, tap: PlayingTap): void {
    const atMs = this.frames * frameMs
    this.#voicedMs = isVoiced ? this.#voicedMs + frameMs : 0
    this.#silentMs = isVoiced ? 0 : this.#silentMs + frameMs
    if (!this.#isVoiced && this.#voicedMs >= beginMs) {
      this.#isVoiced = true
      tap.voice(true, atMs - beginMs)
    } else if (this.#isVoiced && this.#silentMs >= endMs) {
      this.#isVoiced = false
      tap.voice(false, atMs - endMs)
    }
  }

  /** The caller hangs up. */
  hangUp(): void {
    this.call.end()
  }

  async close(): Promise<void> {
    this.call.end()
    await this.#agents.close()
    await this.#http.close()
    await this.#requests.close()
    await this.#sandbox.close()
    await this.standIns.close()
  }
}
