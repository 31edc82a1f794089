import { pino } from 'pino'
import type { CalleeState, CallInfo, ConnectOptions, Destination } from '../../../handlers/verbs.ts'
import { FakeClock } from '../../core/clock.ts'
import type { Target } from '../../model.ts'
import { Player } from '../audio/player.ts'
import { Call } from '../call/call.ts'
import { newCallId } from '../call/ids.ts'
import type { ScopableControl } from '../call/scopable-control.ts'
import { type ConnectOutcome, ConnectSession, type ConnectSessionDeps } from '../connect/connect-session.ts'
import { LegDialer } from '../connect/leg-dialer.ts'
import type { QueuedCaller, QueuedCallers } from '../connect/queued-callers.ts'
import { Bridges } from '../leg/bridges.ts'
import type { Leg } from '../leg/leg.ts'
import { prompt, settle } from './calls-fixture.ts'
import { FakeMixer } from './conference-fixture.ts'
import { FakeOutbound, FakeVideos, fakeLeg } from './fake-legs.ts'

/** Queue without callers until the test adds one. */
export class FakeQueuedCallers implements QueuedCallers {
  readonly requested: string[] = []
  joined = 0
  released = 0
  #found: (caller: QueuedCaller | undefined) => void = () => {}

  take({ name }: { readonly name: string }, signal: AbortSignal): Promise<QueuedCaller | undefined> {
    this.requested.push(name)
    const { promise, resolve } = Promise.withResolvers<QueuedCaller | undefined>()
    this.#found = resolve
    signal.addEventListener('abort', () => resolve(undefined))
    return promise
  }

  arrives(call: Call): void {
    const place = { queueId: 'q', name: 'support', position: 1, size: 0, waitedMs: 1_000, averageWaitMs: 0 }
    this.#found({
      call,
      control: controlOver(call),
      place,
      over: call.signal,
      join: () => this.joined++,
      release: () => this.released++,
    })
  }
}

const infoOf = (callId: string): CallInfo => ({
  callId,
  direction: 'inbound',
  type: 'sip',
  from: 'sip:caller@carrier.example',
  to: '',
  fromUser: '',
  toUser: '',
  fromName: '',
  headers: [],
  projectId: 'p',
})

/**
 * Collaborators of a connect session, on fakes. `/public/phone` is an endpoint, `/public/nobody` is unknown,
 * and all else a SIP URI.
 */
export const connectDeps = () => {
  const clock = new FakeClock()
  const outbound = new FakeOutbound(clock)
  const queuedCallers = new FakeQueuedCallers()
  const registered: Extract<Target, { kind: 'sip' }>[] = []
  const joined: (readonly [unknown, unknown])[] = []
  const parted: unknown[] = []
  const videos = new FakeVideos()
  const edge = {
    join: (a: unknown, b: unknown) => {
      if (a === b) throw new Error('a port cannot be joined to itself')
      joined.push([a, b])
    },
    detach: (a: unknown) => parted.push(a),
  }
  const bridges = new Bridges(edge, videos)
  const mixers: FakeMixer[] = []
  const resolve = (to: string): Target | undefined => {
    if (to === '/public/nobody') return undefined
    return to === '/public/phone'
      ? { kind: 'endpoint', endpointId: 'e1', address: to }
      : { kind: 'sip', uri: to }
  }
  const deps: ConnectSessionDeps = {
    fork: {
      dialer: new LegDialer({
        addresses: { resolve },
        endpoints: { contacts: () => registered },
        sip: outbound,
        subscribers: outbound,
        locals: outbound,
      }),
      queuedCallers,
      controlOf: (call) => controlOver(call),
      callLog: { called: () => undefined },
      clock,
      ringMs: 60_000,
    },
    bridges,
    openMixer: async () => {
      const mixer = new FakeMixer()
      mixers.push(mixer)
      return mixer
    },
    player: new Player(
      { prepare: async () => prompt, close: async () => {} },
      { bytes: async () => ({ bytes: new Uint8Array() }) },
    ),
    clock,
  }
  return { clock, outbound, queuedCallers, registered, joined, parted, videos, bridges, mixers, deps }
}

/** A call of such a caller; `ended` has an entry once it is over. */
export const callOf = (leg: Leg, clock: FakeClock) => {
  const ended: string[] = []
  const callId = newCallId()
  const call = new Call({
    info: infoOf(callId),
    caller: leg,
    clock,
    log: pino({ level: 'silent' }),
    observer: { callEnded: () => ended.push('ended') },
    maxDurationMs: 14_400_000,
  })
  return { call, ended }
}

/** Connect sessions on fakes, for tests. */
export const setUp = async () => {
  const fixture = connectDeps()
  const { clock, outbound, bridges, deps } = fixture
  /** A caller of its own call, answered. */
  const caller = async () => {
    const made = fakeLeg(clock, 'group')
    const { call } = callOf(made.leg, clock)
    await made.leg.answer()
    return { ...made, call }
  }
  const a = await caller()
  const outcomes: (ConnectOutcome | Error)[] = []
  const states: string[] = []
  /** Destination whose states the test records. */
  const to = (uri: string, more: Partial<Destination> = {}): Destination => ({
    to: uri,
    onState: (state) => states.push(textOf(uri, state)),
    ...more,
  })
  const fork = async (steps: ConnectOptions['steps'], more: Partial<ConnectOptions> = {}) => {
    new ConnectSession(deps, a.call, { steps, ...more }).run().then(
      (outcome) => outcomes.push(outcome),
      (error) => outcomes.push(error),
    )
    await settle()
    return outbound.dialled
  }
  const left = () => [bridges.count, clock.running, a.call.legs.size]
  return { ...fixture, a, fork, outcomes, states, to, left, caller }
}

/** Verbs that a confirmation of the tests uses. */
const controlOver = (call: Call): ScopableControl =>
  ({
    info: call.info,
    signal: call.signal,
    hangup: async () => call.end({ code: 'normal' }),
    unhold: async () => call.caller.hold(false, 'us'),
    sleep: (ms: number) => call.whileUp(new Promise(() => {}).then(() => void ms)),
    scoped: () => controlOver(call),
  }) as unknown as ScopableControl

const textOf = (uri: string, state: CalleeState): string =>
  state.kind === 'ended'
    ? `${uri} ended ${state.outcome} ${state.code} ${state.durationMs}`
    : `${uri} ${state.kind}`
