import { type SipAgent, type SipAgentOptions, startSipAgent } from '@trunkline/sip-agent'
import { sameThread } from '@trunkline/sip-agent/testing/same-thread'
import { routed } from '@trunkline/sip-agent/testing/srf'
import type Srf from 'drachtio-srf'
import pino from 'pino'
import type { Arrival, Arrivals } from '../../calls/call/arrival.ts'
import { newCallId } from '../../calls/call/ids.ts'
import type { Leg, LegOwner } from '../../calls/leg/leg.ts'
import type { OutboundRequest } from '../../calls/leg/outbound-request.ts'
import { type Clock, SystemClock } from '../../core/clock.ts'
import { Metrics } from '../../core/metrics.ts'
import type { DomainApp } from '../../directory/model/callers.ts'
import { Trust } from '../admission/trust.ts'
import { type AgentAddress, AgentLink } from '../agent-link.ts'
import {
  type InboundRules,
  type RegistrarSettings,
  SipEdge,
  type SipEdgeDeps,
  type SipEdgeOptions,
} from '../sip-edge.ts'
import { createSrf, type SrfLike } from '../srf.ts'
import { CarrierDirectory } from '../trunks/carrier-directory.ts'
import { DialPolicy } from '../trunks/dial-policy.ts'
import { TestEdge } from './fake-edge.ts'

/** A domain application for tests. */
export const testApp = (changes: Partial<DomainApp> = {}): DomainApp => ({
  id: 'app-1',
  projectId: 'project-1',
  domain: 'demo.example',
  allow: undefined,
  handler: { kind: 'script', document: '{}', name: 'test' },
  maxCalls: undefined,
  ...changes,
})

/** Session description of a carrier. */
export const carrierSdp = (
  changes: { formats?: string; lines?: string[]; address?: string; version?: number } = {},
): string => {
  const { formats = '0 8 101', lines = [], address = '127.0.0.1', version = 1 } = changes
  return [
    'v=0',
    `o=- 7 ${version} IN IP4 127.0.0.1`,
    's=-',
    `c=IN ${address.includes(':') ? 'IP6' : 'IP4'} ${address}`,
    't=0 0',
    `m=audio 4000 RTP/AVP ${formats}`,
    'a=rtpmap:101 telephone-event/8000',
    ...lines,
    '',
  ].join('\r\n')
}

/** Owner of a leg that records its events. */
export class Heard implements LegOwner {
  readonly events: string[] = []
  #waiting: { event: string; resolve: () => void }[] = []

  constructor(leg: Leg) {
    leg.own(this)
  }

  /** Resolves after an event that begins with `event`. */
  async until(event: string): Promise<void> {
    if (this.events.some((each) => each.startsWith(event))) return
    await new Promise<void>((resolve) => this.#waiting.push({ event, resolve }))
  }

  legEarly(_leg: Leg, media: boolean): void {
    this.#hear(media ? 'early media' : 'ringing')
  }

  legAnswered(): void {
    this.#hear('answered')
  }

  legHeld(): void {}

  legDigit(_leg: Leg, digit: string): void {
    this.#hear(`digit ${digit}`)
  }

  legEnded(leg: Leg): void {
    const { state } = leg
    if (state.kind === 'ended') this.#hear(`ended ${state.cause.code} by ${state.by}`)
  }

  #hear(event: string): void {
    this.events.push(event)
    for (const waiting of this.#waiting.filter((each) => event.startsWith(each.event))) waiting.resolve()
    this.#waiting = this.#waiting.filter((each) => !event.startsWith(each.event))
  }
}

/** SIP edge with a real agent; all other collaborators are test doubles. */
export interface Bench {
  readonly agent: SipAgent
  readonly sip: SipEdge
  readonly edge: TestEdge
  readonly arrivals: Arrival[]
  readonly metrics: Metrics
  /** Log lines, parsed. */
  readonly logged: Record<string, unknown>[]
  readonly udp: number
  readonly tcp: number
  /** Resolves with the next arriving call. */
  arrival(): Promise<{ arrival: Arrival; heard: Heard }>
  close(): Promise<void>
}

/** Collaborators and settings of the edge that a test may change. */
export interface EdgeChanges extends Partial<SipEdgeOptions>, Partial<InboundRules> {
  readonly srf?: SrfLike
  /** Time from the loss of the agent to the end of its calls. */
  readonly graceMs?: number
  readonly directory?: SipEdgeDeps['directory']
  readonly arrivals?: Arrivals
  readonly carriers?: CarrierDirectory
  readonly registrar?: RegistrarSettings
  readonly clock?: Clock
}

const noNetworks = { domains: [], carriers: [], sip: { registrar: { domains: [] } } }

/** Makes a SIP edge of these parts; `counts` counts calls in progress. */
export const makeEdge = (
  agent: AgentAddress,
  parts: EdgeChanges & Pick<SipEdgeDeps, 'directory' | 'media' | 'log' | 'metrics'> & { arrivals: Arrivals },
  count: () => number,
): SipEdge => {
  const { srf, graceMs, directory, media, log, metrics, arrivals, registrar } = parts
  const { clock = new SystemClock(), trust = new Trust(noNetworks), busyPercent, recordOffense } = parts
  const { carriers = new CarrierDirectory([], clock), maxCalls = 100, userAgent = 'Trunkline' } = parts
  return new SipEdge(
    {
      link: new AgentLink({ agent, clock, log, graceMs, srf }),
      calls: {
        arrive: (arrival) => arrivals.arrive(arrival),
        get count() {
          return count()
        },
      },
      directory,
      media,
      inbound: { trust, busyPercent, recordOffense },
      outbound: { carriers, policy: new DialPolicy(carriers) },
      registrar,
      clock,
      log,
      metrics,
    },
    { ...parts, maxCalls, userAgent },
  )
}

/** Settings that a test may change. */
export interface BenchOptions {
  readonly apps?: readonly DomainApp[]
  readonly agent?: Partial<SipAgentOptions>
  readonly parts?: EdgeChanges
  /**
   * Opens a relay between the edge and its agent, and returns the port that the edge connects to. Default
   * none.
   */
  readonly between?: (agent: { readonly host: string; readonly port: number }) => Promise<number>
}

/** Starts an agent on free ports and connects a SIP edge to it. */
export const startBench = async (options: BenchOptions = {}): Promise<Bench> => {
  const { apps = [testApp()] } = options
  const listen = [
    { transport: 'udp', address: '127.0.0.1', port: 0 },
    { transport: 'tcp', address: '127.0.0.1', port: 0 },
  ] as const
  const agent = await startSipAgent({ listen, ...options.agent }, sameThread)
  const { host, secret } = agent
  const port = options.between ? await options.between(agent) : agent.port
  const edge = new TestEdge()
  const metrics = new Metrics()
  const arrivals: Arrival[] = []
  const logged: Record<string, unknown>[] = []
  const waiting: (() => void)[] = []
  const taken: Arrival[] = []
  const srf = options.parts?.srf ?? createSrf()
  const sip = makeEdge(
    { host, port, secret, isEmbedded: true },
    {
      directory: {
        domainApp: (name) => apps.find(({ domain }) => domain === name),
        endpointByName: () => undefined,
        resolve: () => undefined,
      },
      media: { edge },
      arrivals: {
        arrive: (arrival) => {
          arrivals.push(arrival)
          arrival.leg.whenGone(() => arrival.onOver?.())
          for (const resolve of waiting.splice(0)) resolve()
        },
      },
      metrics,
      log: pino({ level: 'info' }, { write: (line: string) => logged.push(JSON.parse(line)) }),
      ...options.parts,
      srf,
    },
    () => arrivals.filter(({ leg }) => !leg.isEnded).length,
  )
  await sip.start()
  await routed(srf as unknown as Srf)
  const portOf = (transport: string) =>
    agent.addresses.find((each) => each.transport === transport)?.port ?? 0
  return {
    agent,
    sip,
    edge,
    arrivals,
    metrics,
    logged,
    udp: portOf('udp'),
    tcp: portOf('tcp'),
    arrival: async () => {
      while (arrivals.length === taken.length) await new Promise<void>((resolve) => waiting.push(resolve))
      const arrival = arrivals[taken.length]!
      taken.push(arrival)
      return { arrival, heard: new Heard(arrival.leg) }
    },
    close: async () => {
      // The agent closes first, so that no call of the test delays the end.
      await agent.close()
      while (sip.isConnected) await new Promise((resolve) => setImmediate(resolve))
      await sip.close()
    },
  }
}

/** Number of rejections with a code. */
export const rejected = async (metrics: Metrics, code: string): Promise<number> => {
  const { values } = await metrics.rejections.get()
  return values.find(({ labels }) => labels.code === code)?.value ?? 0
}

/** Returns a request for an outbound leg. */
export const wish = (
  uri: string,
  destination: Partial<OutboundRequest['destination']> = {},
): OutboundRequest => ({
  destination: { to: uri, ...destination },
  projectId: 'p1',
  callId: newCallId(),
  codec: 'PCMA',
  from: { uri: 'sip:+4930123@caller.example', user: '+4930123', name: 'Ann "A" Caller' },
})
