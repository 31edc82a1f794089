import { openStandIns, type StandIns } from '../../gateway/stand-ins/open-stand-ins.ts'
import { scriptOf } from '../../gateway/stand-ins/read-script.ts'
import type { EngineName } from '../../gateway/stand-ins/script-types.ts'
import { AgentCall, type Json, textsOf } from './agent-call.ts'
import { application, scriptText } from './applications.ts'
import { type DocumentRequest, DocumentServer } from './documents.ts'
import { Gateway, type GatewayOptions } from './gateway.ts'
import { RtpPeer } from './rtp-peer.ts'
import { SipCaller } from './sip-caller.ts'
import { SpokenWords } from './spoken-words.ts'
import { until } from './until.ts'

/** Domains whose document is that of the dialled user. */
const domains = { script: 'agents.test', flow: 'flows.test', xml: 'relays.test' } as const

/**
 * Agents of a test file: one gateway, one server of a customer, and lanes. Each lane has stand-ins of its
 * own, so that the tests of one lane run beside those of the others.
 */
export class AgentDesk {
  readonly gateway: Gateway
  readonly server: DocumentServer
  readonly lanes: readonly AgentLane[]
  readonly #words: SpokenWords

  constructor(gateway: Gateway, server: DocumentServer, lanes: readonly AgentLane[], words: SpokenWords) {
    this.gateway = gateway
    this.server = server
    this.lanes = lanes
    this.#words = words
  }

  /** Opens a desk with lanes of these names. `more`: further keys of the gateway's configuration. */
  static async open(names: readonly string[], more: GatewayOptions = {}): Promise<AgentDesk> {
    const server = await DocumentServer.open()
    const words = new SpokenWords()
    const documents = new Map<string, string>()
    const url = server.put('/script', (request) => documents.get(userOf(request)) ?? scriptText('hangup'))
    const standIns = await Promise.all(names.map(() => openStandIns({ script: scriptOf({}) })))
    const gateway = await Gateway.start({
      limits: { documentNetworks: ['127.0.0.0/8'] },
      agents: agentsOf(names, standIns),
      domains: Object.entries(domains).map(([kind, domain]) => application(domain, { kind, url })),
      ...more,
    })
    const shared = { gateway, server, words, documents }
    const lanes = names.map((name, at) => new AgentLane(name, standIns[at]!, shared))
    return new AgentDesk(gateway, server, lanes, words)
  }

  /** Returns the lane of a name. */
  lane(name: string): AgentLane {
    const lane = this.lanes.find((each) => each.name === name)
    if (!lane) throw new Error(`there is no lane ${name}`)
    return lane
  }

  async close(): Promise<void> {
    await this.gateway.stop()
    await Promise.all(this.lanes.map(({ standIns }) => standIns.close()))
    await this.server.close()
    await this.#words.close()
  }
}

/** Returns the user that was dialled, of a request for a document. */
const userOf = ({ body, fields }: DocumentRequest): string => {
  const to = fields.To ?? (JSON.parse(body) as { call?: Json }).call?.to
  return /^sip:([^@]+)@/.exec(String(to))?.[1] ?? ''
}

/**
 * Engines of the lanes, by the name of the lane. `parts-…` is a pipeline, `whole-…` a server that hears and
 * speaks, `written-…` one that hears and writes. `chain-…` is a server that the pipeline replaces after
 * failures; nothing replaces `single-…`.
 */
const agentsOf = (names: readonly string[], standIns: readonly StandIns[]): Json => {
  const each = (make: (name: string, at: StandIns) => Record<string, object>) =>
    Object.assign({}, ...names.map((name, at) => make(name, standIns[at]!))) as Record<string, object>
  return {
    default: `parts-${names[0]}`,
    engines: each((name, { wsUrl }) => {
      const model = 'gpt-realtime-2'
      const whole = { kind: 'openai-realtime', url: `${wsUrl}/v1/realtime`, key: 'k', model }
      return {
        [`parts-${name}`]: { kind: 'pipeline', recognisers: name, models: name, voices: 'built-in' },
        [`whole-${name}`]: whole,
        [`written-${name}`]: { ...whole, output: 'text', voices: 'built-in' },
        [`chain-${name}`]: { ...whole, fallback: `parts-${name}` },
        [`single-${name}`]: whole,
      }
    }),
    recognisers: each((name, { wsUrl }) => ({ [name]: { kind: 'vosk', url: `${wsUrl}/vosk` } })),
    models: each((name, { url }) => ({
      [name]: { kind: 'openai', url: `${url}/v1`, key: 'k', model: 'any' },
    })),
    limits: { functionTimeout: '5s' },
  }
}

/** Request to the model of a pipeline. */
export interface ChatRequest {
  readonly messages: readonly Json[]
  readonly tools?: readonly Json[]
}

/** Parts that the lanes of a desk share. */
interface Shared {
  readonly gateway: Gateway
  readonly server: DocumentServer
  readonly words: SpokenWords
  /** Scripts by the dialled user. */
  readonly documents: Map<string, string>
}

/** Document of a call: the keys of `ai`, and the steps around it. */
export interface AgentPlan {
  readonly ai?: Json
  readonly engine?: 'parts' | 'whole' | 'written' | 'chain' | 'single'
  /** Keys of `params` besides those of every test. */
  readonly params?: Json
  readonly before?: readonly unknown[]
  readonly after?: readonly unknown[]
}

let calls = 0

/** Place of tests that run one after the other: stand-ins whose rules each test sets. */
export class AgentLane {
  readonly name: string
  readonly standIns: StandIns
  readonly #shared: Shared
  #last: AgentCall | undefined

  constructor(name: string, standIns: StandIns, shared: Shared) {
    this.name = name
    this.standIns = standIns
    this.#shared = shared
  }

  get gateway(): Gateway {
    return this.#shared.gateway
  }

  get server(): DocumentServer {
    return this.#shared.server
  }

  /** Begins a test: the stand-ins follow these rules, with an empty log. Ends the call of a failed test. */
  async begin(...rules: readonly object[]): Promise<void> {
    await this.#last?.hangUp()
    this.#last = undefined
    this.standIns.log.clear()
    this.standIns.follow(
      scriptOf({ rules: [...rules, { when: 'any', do: [{ say: 'Please go on.' }] }] }).rules,
    )
  }

  /** Returns the settings of an agent of this lane, which reports to the path `/report/<user>`. */
  agent({ ai = {}, engine = 'parts', params = {} }: AgentPlan, user: string): Json {
    return {
      prompt: { text: 'You help callers.' },
      post_prompt_url: this.server.put(`/report/${user}`, '{}'),
      params: {
        end_of_speech_timeout: 300,
        engine: `${engine}-${this.name}`,
        attention_timeout: 0,
        ...params,
      },
      ...ai,
    }
  }

  /** Calls a new user whose script is this plan. */
  dial(plan: AgentPlan = {}): Promise<AgentCall> {
    const user = `u${calls + 1}`
    const { before = [], after = [] } = plan
    const steps = [{ answer: {} }, ...before, { ai: this.agent(plan, user) }, ...after]
    return this.call(this.serves(scriptText(...steps)), user)
  }

  /** Puts a document at a new user. Returns its SIP URI. */
  serves(document: string, kind: keyof typeof domains = 'script'): string {
    const user = `u${++calls}`
    this.#shared.documents.set(user, document)
    return `sip:${user}@${domains[kind]}`
  }

  /** Calls a URI. `user`: name of the report; `headers`: further lines of the INVITE. */
  async call(uri: string, user: string, headers: readonly string[] = []): Promise<AgentCall> {
    const { gateway, words } = this.#shared
    const peer = await RtpPeer.open('PCMU')
    const caller = await SipCaller.open(gateway.sipPort, '127.0.0.1')
    const media = { address: '127.0.0.1', port: peer.port }
    const placed = await caller.call(uri, { media, hasKeys: true, headers })
    if (placed.status !== 200) throw new Error(`${uri}: ${placed.response}`)
    peer.send(Number(/^m=audio (\d+)/m.exec(placed.response)?.[1]), 0)
    this.#last = new AgentCall({ lane: this, peer, caller, placed, words, user })
    return this.#last
  }

  /** Bodies that the model of the pipeline received. */
  get asked(): readonly ChatRequest[] {
    return this.standIns.log.received('POST', 'chat').map(({ message }) => message as never)
  }

  /** Waits until the model of the pipeline is asked after a turn with this text, and returns the request. */
  async isAsked(text: string): Promise<ChatRequest> {
    const isOf = ({ messages }: ChatRequest) => textsOf(messages, 'user').at(-1) === text
    const request = await until(`a request after: ${text}`, () => this.asked.findLast(isOf))
    return request as ChatRequest
  }

  /** Messages of one type that a server received. */
  received(type: string, engine: EngineName = 'realtime'): readonly Json[] {
    return this.standIns.log.received(type, engine).map(({ message }) => message as Json)
  }
}
