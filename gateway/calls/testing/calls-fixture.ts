import { pino } from 'pino'
import type { Handler } from '../../../handlers/handler.ts'
import type { CallControl } from '../../../handlers/verbs.ts'
import type { MediaPort } from '../../../media/types.ts'
import { FakeClock } from '../../core/clock.ts'
import { Metrics } from '../../core/metrics.ts'
import type { Target } from '../../model.ts'
import { FakeRecogniser } from '../../speech/testing/fake-recogniser.ts'
import { Calls, type CallsDeps } from '../call/calls.ts'
import { newCallId } from '../call/ids.ts'
import type { Arrival } from '../call-ports.ts'
import { Bridges } from '../leg/bridges.ts'
import { LocalLegs } from '../local/local-legs.ts'
import type { CallCdr } from '../log/call-cdr.ts'
import { Player } from '../verbs/player.ts'
import { FakeCustomerServers } from './fake-customer-servers.ts'
import { type FakeLeg, FakeOutbound, FakePort, FakeVideos, fakeLeg } from './fake-legs.ts'
import { FakeStreams } from './fake-listeners.ts'
import { FakeRecordingStore } from './fake-recording-store.ts'

/** Lets what waits for promises go on, however many there are one after the other. */
export const settle = () => new Promise<void>((resolve) => setImmediate(resolve))

/** A short sound. */
export const prompt = { sampleRate: 8000, samples: new Int16Array(new SharedArrayBuffer(160)) } as const

/** What a logger of tests writes to, and the records of calls that came there. */
const recorder = () => {
  const records: CallCdr[] = []
  const warnings: { readonly code?: string }[] = []
  const write = (text: string) => {
    const line = JSON.parse(text)
    if (line.msg === 'call ended') records.push(line)
    if (line.level === 40) warnings.push(line)
  }
  return { records, warnings, log: pino({ level: 'info', base: null }, { write }) }
}

/** Calls on fakes, for tests; `arrive` starts one with a script. `/public/phone` is an endpoint, which rings where it is `registered`. */
export const setUp = (
  more: Pick<CallsDeps, 'detector' | 'conferences' | 'queues' | 'waiters' | 'cdrUrl' | 'cdrs' | 'book'> &
    Partial<Pick<CallsDeps, 'addresses' | 'log' | 'maxCalls' | 'sip'>> = {},
) => {
  const made = { preparing: Promise.resolve(prompt) }
  const clock = new FakeClock()
  const metrics = new Metrics()
  const outbound = new FakeOutbound(clock)
  const joined: string[] = []
  const edge = {
    join: (a: MediaPort, b: MediaPort) => joined.push(`join ${a.id} ${b.id}`),
    detach: (a: MediaPort) => joined.push(`part ${a.id}`),
  }
  const bridges = new Bridges(edge, new FakeVideos())
  const player = new Player(
    { prepare: () => made.preparing, close: async () => {} },
    { bytes: async () => ({ bytes: new Uint8Array() }) },
  )
  let script: (call: CallControl) => Promise<void> = async () => {}
  const handler: Handler = { run: (call) => script(call) }
  const resolve = (to: string): Target | undefined =>
    to.startsWith('sip:')
      ? { kind: 'sip', uri: to }
      : to === '/public/alice' || to === '/private/ann'
        ? { kind: 'subscriber', subscriberId: 'a', address: to }
        : to === '/public/phone'
          ? { kind: 'endpoint', endpointId: 'e1', address: to }
          : to === '/public/menu'
            ? { kind: 'handler', address: to, handler: { kind: 'script', document: '{}', name: 'menu' } }
            : undefined
  const registered: Extract<Target, { kind: 'sip' }>[] = []
  const { records, warnings, log } = recorder()
  const recogniser = new FakeRecogniser()
  const streams = new FakeStreams()
  const keeper = new FakeRecordingStore()
  const customers = new FakeCustomerServers()
  const ports: FakePort[] = []
  let portError: Error | undefined
  const openPort = async ({ group }: { readonly group: string }) => {
    if (portError) throw portError
    const port = new FakePort(group)
    ports.push(port)
    return port
  }
  const locals = new LocalLegs({
    edge: { open: openPort },
    arrivals: { arrive: (arrival) => calls.arrive(arrival) },
    limits: { maxDepth: 3, maxCalls: 4 },
    metrics,
    clock,
    log,
  })
  const calls: Calls = new Calls({
    recogniser,
    recogniserRate: 16_000,
    streams,
    recordings: keeper,
    addresses: { resolve },
    rooms: { room: (name) => ({ name: `room:${name}` }) },
    hosts: { isOwnHost: () => false },
    endpoints: { contacts: () => registered },
    sip: outbound,
    subscribers: outbound,
    locals,
    bridges,
    player,
    clock,
    metrics,
    log,
    ringMs: 60_000,
    callDurationMs: 14_400_000,
    maxCalls: 2,
    handlers: { script: handler, xml: handler },
    ...customers,
    envs: { region: 'eu' },
    ...more,
  })
  const plan: Arrival['plan'] = { kind: 'handler', handler: { kind: 'script', document: '{}', name: 'test' } }
  const arrive = (
    run: (call: CallControl) => Promise<void>,
    options: { dial?: string; kind?: 'sip' | 'browser' } & Partial<
      Pick<Arrival, 'plan' | 'userVariables'>
    > = {},
  ): FakeLeg => {
    script = run
    const callId = newCallId()
    const made = fakeLeg(clock, callId, { kind: options.kind })
    const how: Arrival['plan'] = options.dial ? { kind: 'dial', to: options.dial } : (options.plan ?? plan)
    const { userVariables } = options
    const said = userVariables && { userVariables }
    calls.arrive({ leg: made.leg, callId, projectId: 'p', plan: how, headers: [], ...said })
    return made
  }
  /** Starts a call whose handler waits, for whoever asks it for verbs. */
  const wait = async () => {
    const ready = Promise.withResolvers<CallControl>()
    const side = arrive(async (call) => {
      ready.resolve(call)
      await call.sleep(10_000_000)
    })
    return { ...side, call: await ready.promise }
  }
  return Object.assign(made, {
    clock,
    metrics,
    outbound,
    bridges,
    calls,
    joined,
    arrive,
    wait,
    recogniser,
    streams,
    keeper,
    customers,
    records,
    registered,
    ports,
    warnings,
    /** No port can be opened for calls to addresses from now on. */
    refusePorts: (error: Error) => {
      portError = error
    },
    /** What documents do from now on. */
    script: (run: typeof script) => {
      script = run
    },
  })
}
