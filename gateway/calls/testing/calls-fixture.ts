import { pino } from 'pino'
import type { Handler } from '../../../handlers/handler.ts'
import type { CallControl } from '../../../handlers/verbs.ts'
import type { MediaPort } from '../../../media/types.ts'
import { FakeClock } from '../../core/clock.ts'
import type { Log } from '../../core/log.ts'
import { Metrics } from '../../core/metrics.ts'
import type { AddressBook, Target } from '../../model.ts'
import { FakeRecogniser } from '../../speech/testing/fake-recogniser.ts'
import { Player } from '../audio/player.ts'
import type { Arrival } from '../call/arrival.ts'
import { newCallId } from '../call/ids.ts'
import { LegDialer } from '../connect/leg-dialer.ts'
import { Bridges } from '../leg/bridges.ts'
import type { OutboundSip } from '../leg/outbound-request.ts'
import { LocalLegs } from '../local/local-legs.ts'
import type { CallCdr } from '../log/call-cdr.ts'
import { CallLog } from '../log/call-log.ts'
import type { CallRowStore } from '../log/call-rows.ts'
import { CdrWriter, type CdrWriterDeps } from '../log/cdr-writer.ts'
import { Calls } from '../session/calls.ts'
import { HandlerContexts } from '../session/handler-contexts.ts'
import { HandlerRunner } from '../session/handler-runner.ts'
import type { VerbServices } from '../verbs/call-controller-deps.ts'
import { CallControllers } from '../verbs/call-controllers.ts'
import { FakeMixer } from './conference-fixture.ts'
import { FakeCallRows } from './fake-call-rows.ts'
import { FakeCustomerServers } from './fake-customer-servers.ts'
import { type FakeLeg, FakeOutbound, FakePort, FakeVideos, fakeLeg } from './fake-legs.ts'
import { FakeStreams } from './fake-listeners.ts'
import { FakeRecordingStore } from './fake-recording-store.ts'

/** Waits for pending promises. */
export const settle = () => new Promise<void>((resolve) => setImmediate(resolve))

/** A short sound. */
export const prompt = { sampleRate: 8000, samples: new Int16Array(new SharedArrayBuffer(160)) } as const

/** Options of {@link setUp}. */
export interface CallsFixtureOptions
  extends Pick<VerbServices, 'detector' | 'conferences' | 'rooms' | 'queues'> {
  readonly rows?: CallRowStore
  readonly cdrUrl?: string
  readonly cdrs?: CdrWriterDeps['cdrs']
  readonly addresses?: AddressBook
  readonly log?: Log
  readonly maxCalls?: number
  readonly sip?: OutboundSip
}

/** Logger for tests, with the CDRs and the warnings that it has written. */
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

/**
 * Calls on fakes, for tests; `arrive` starts one with a script. `/public/phone` is an endpoint, which rings
 * at its `registered` contacts.
 */
export const setUp = (options: CallsFixtureOptions = {}) => {
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
  const recordingStore = new FakeRecordingStore()
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
  const { detector, conferences, rooms, queues, cdrUrl, cdrs, maxCalls = 2 } = options
  const logger = options.log ?? log
  const addresses = options.addresses ?? { resolve }
  const callLog = new CallLog({
    rows: options.rows ?? new FakeCallRows(),
    callbacks: customers.callbacks,
    nodeId: 'node-1',
    clock,
  })
  const dialer = new LegDialer({
    addresses,
    endpoints: { contacts: () => registered },
    sip: options.sip ?? outbound,
    subscribers: outbound,
    locals,
  })
  const controllers = new CallControllers(
    {
      services: {
        bridges,
        openMixer: async () => new FakeMixer(),
        player,
        streams,
        recordings: recordingStore,
        ...(detector && { detector }),
        ...(conferences && { conferences }),
        ...(rooms && { rooms }),
        ...(queues && { queues }),
      },
      dialer,
      callLog,
      metrics,
      clock,
    },
    { speech: { recogniser, sampleRate: 16_000 }, ringMs: 60_000 },
  )
  const contexts = new HandlerContexts(
    {
      documents: customers.documents,
      callbacks: customers.callbacks,
      isOwnHost: () => false,
      clock,
      metrics,
    },
    { region: 'eu' },
  )
  const calls: Calls = new Calls(
    {
      runner: new HandlerRunner({ script: handler, xml: handler }, contexts),
      controllers,
      addresses,
      callLog,
      cdrs: new CdrWriter({
        callbacks: customers.callbacks,
        ...(cdrs && { cdrs }),
        ...(cdrUrl !== undefined && { cdrUrl }),
        clock,
        log: logger,
        metrics,
      }),
      metrics,
      clock,
      log: logger,
    },
    { maxDurationMs: 14_400_000, maxCalls },
  )
  const plan: Arrival['plan'] = { kind: 'handler', handler: { kind: 'script', document: '{}', name: 'test' } }
  const arrive = (
    run: (call: CallControl) => Promise<void>,
    how: { dial?: string; kind?: 'sip' | 'browser' } & Partial<Pick<Arrival, 'plan' | 'userVariables'>> = {},
  ): FakeLeg => {
    script = run
    const callId = newCallId()
    const made = fakeLeg(clock, callId, { kind: how.kind })
    const chosen: Arrival['plan'] = how.dial ? { kind: 'dial', to: how.dial } : (how.plan ?? plan)
    const { userVariables } = how
    const variables = userVariables && { userVariables }
    calls.arrive({ leg: made.leg, callId, projectId: 'p', plan: chosen, headers: [], ...variables })
    return made
  }
  /** Starts a call whose handler waits, for tests of its verbs. */
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
    dialer,
    controllers,
    callLog,
    joined,
    arrive,
    wait,
    recogniser,
    streams,
    recordingStore,
    customers,
    records,
    registered,
    ports,
    warnings,
    /** Makes the opening of ports fail from now on. */
    refusePorts: (error: Error) => {
      portError = error
    },
    /** Sets the script of later documents. */
    script: (run: typeof script) => {
      script = run
    },
  })
}
