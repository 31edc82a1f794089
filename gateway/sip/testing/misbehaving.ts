import { Peer } from '@trunkline/sip-agent/testing/peer'
import { expect } from 'vitest'
import type { CarrierConfig } from '../../../config/types.ts'
import type { Leg } from '../../calls/leg/leg.ts'
import { FakeClock } from '../../core/clock.ts'
import { CarrierDirectory } from '../trunks/carrier-directory.ts'
import { AgentRelay, type Fate, type RelayedFrame } from './agent-relay.ts'
import { carrierSdp, type EdgeChanges, Heard, wish } from './bench.ts'
import { Carrier } from './carrier.ts'
import { testCarrier } from './test-carrier.ts'

/**
 * Maximum time for which state of a call may remain after its end. Covers the waits for the ACK, again for
 * the ACK before the BYE, and for the end of the BYE.
 */
export const boundMs = 125_000

/** Settings of {@link Misbehaving.start}. */
export interface MisbehavingOptions {
  readonly clock?: FakeClock
  readonly parts?: EdgeChanges
}

/** The SIP edge with a real agent behind a relay, a far side, and a clock that stands still. */
export class Misbehaving {
  readonly carrier: Carrier
  readonly relay: AgentRelay
  readonly clock: FakeClock
  readonly legs: Leg[] = []

  constructor(carrier: Carrier, relay: AgentRelay, clock: FakeClock) {
    this.carrier = carrier
    this.relay = relay
    this.clock = clock
  }

  /** `clock` is that of the edge; `parts` are changes of the edge. */
  static async start({ clock = new FakeClock(), parts = {} }: MisbehavingOptions = {}): Promise<Misbehaving> {
    let relay: AgentRelay | undefined
    const peer = await Peer.udp()
    const carriers = new CarrierDirectory([testCarrier(late(peer.port))], clock)
    peer.close()
    const carrier = await Carrier.start({
      parts: { clock, carriers, ...parts },
      between: async (agent) => {
        relay = await AgentRelay.between(agent)
        return relay.port
      },
    })
    return new Misbehaving(carrier, relay!, clock)
  }

  get peer(): Peer {
    return this.carrier.peer
  }

  /** Places a call of the far side, and waits for its leg. */
  async arrives(body = carrierSdp(), extra: Record<string, string> = {}) {
    const { call, branch } = this.carrier.invite({ body, extra })
    const { arrival } = await this.carrier.bench.arrival()
    const { leg } = arrival
    this.legs.push(leg)
    return { call, branch, leg }
  }

  /** Places a call of the far side, and waits until the far side has received the 200. */
  async answers(body = carrierSdp()) {
    const arrived = await this.arrives(body)
    void arrived.leg.answer()
    const to = (await this.peer.response(200, 'INVITE')).headers.first('to') ?? ''
    return { ...arrived, to }
  }

  /** Places a call to the far side, and waits for its INVITE. */
  async dials() {
    const uri = `sip:49301@127.0.0.1:${this.peer.port}`
    const leg = this.carrier.bench.sip.dial({ kind: 'sip', uri }, wish(uri))
    this.legs.push(leg)
    const heard = new Heard(leg)
    return { leg, heard, invite: await this.peer.request('INVITE') }
  }

  /** Frames of the agent, delivered or not. */
  async said(sip: string): Promise<void> {
    await expect
      .poll(() => this.relay.seen.some((frame) => frame.from === 'agent' && frame.sip === sip), patience)
      .toBe(true)
  }

  /** Waits until the application has sent this request to the agent. */
  async asked(sip: string): Promise<void> {
    await expect
      .poll(
        () => this.relay.seen.some((frame) => frame.from === 'application' && frame.sip === sip),
        patience,
      )
      .toBe(true)
  }

  /** Advances the clock, and lets the resulting messages arrive meanwhile. */
  async passes(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 5_000) {
      this.clock.advance(5_000)
      for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
    }
  }

  get left(): Record<string, number> {
    const { sip, edge } = this.carrier.bench
    const legs = this.legs.filter(({ isEnded }) => !isEnded).length
    return { dialogs: sip.legs, ports: edge.used, timers: this.clock.running, legs }
  }

  async close(): Promise<void> {
    this.relay.rule = () => 'pass'
    await this.carrier.close()
    this.relay.close()
  }
}

/** Interval and maximum time of polling. */
export const patience = { interval: 5, timeout: 10_000 }
const late = (port: number): Partial<CarrierConfig> => ({ targets: [`sip:127.0.0.1:${port}`] })
/** Value of {@link Misbehaving.left} when nothing is left. */
export const nothing = { dialogs: 0, ports: 0, timers: 0, legs: 0 }

/** A rule for frames of the agent alone. */
export const agent =
  (test: (frame: RelayedFrame) => boolean, fate: Fate = 'drop') =>
  (frame: RelayedFrame): Fate =>
    frame.from === 'agent' && test(frame) ? fate : 'pass'
/** Frames in which the agent delivers requests and responses of the far side. */
export const delivered =
  (...sips: readonly string[]) =>
  (frame: RelayedFrame): boolean =>
    frame.kind === 'sip' && sips.includes(frame.sip)
/** Frames of the agent about requests and responses of the edge. */
export const confirmed =
  (...sips: readonly string[]) =>
  (frame: RelayedFrame): boolean =>
    frame.kind === 'response' && sips.includes(frame.sip)
