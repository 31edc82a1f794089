import pino from 'pino'
import type { CarrierConfig } from '../../../config/types.ts'
import type { Leg } from '../../calls/leg/leg.ts'
import type { OutboundRequest } from '../../calls/leg/outbound-request.ts'
import { FakeClock } from '../../core/clock.ts'
import { Metrics } from '../../core/metrics.ts'
import type { Target } from '../../model.ts'
import type { SessionTimerSettings } from '../dialog/session-timer.ts'
import { GatewayHeaders } from '../gateway-headers.ts'
import { SipAudio } from '../media/sip-audio.ts'
import { Outbound } from '../outbound/outbound.ts'
import { TargetFamilies } from '../outbound/target-families.ts'
import { SipLegs } from '../sip-legs.ts'
import type { Headers } from '../srf.ts'
import { CarrierDirectory } from '../trunks/carrier-directory.ts'
import { DialPolicy } from '../trunks/dial-policy.ts'
import { Routing } from '../trunks/routing.ts'
import { Heard, wish } from './bench.ts'
import { TestEdge } from './fake-edge.ts'
import { FakeDialog, FakeRequest, FakeSrf, type FakeUac, farResponse, refusalOf } from './fake-srf.ts'

/** Sent INVITE whose far side the test controls. */
export class PlacedInvite {
  readonly uac: FakeUac
  readonly request: FakeRequest

  constructor(uac: FakeUac) {
    this.uac = uac
    const { headers, localSdp } = uac.options
    const sent = {
      from: headers.From ?? '',
      'call-id': headers['Call-ID'] ?? 'new-id',
      cseq: headers.CSeq ?? '7 INVITE',
    }
    const from = /;tag=/.test(sent.from) ? sent.from : `${sent.from};tag=ours`
    this.request = new FakeRequest('INVITE', uac.uri, localSdp, { ...sent, from })
  }

  get uri(): string {
    return this.uac.uri
  }

  /** Simulates that the agent has accepted the INVITE. */
  taken(): this {
    this.uac.progress.cbRequest(null, this.request)
    return this
  }

  provisional(status: number, body?: string, headers: Headers = {}): void {
    const response = farResponse(status, body, headers)
    this.request.emit('response', response)
    this.uac.progress.cbProvisional(response)
  }

  refuse(status: number, headers: Headers = {}): void {
    const refusal = refusalOf(status, headers)
    this.request.emit('response', refusal.res)
    this.uac.settle(refusal)
  }

  /** Simulates the agent's failure for an unreachable target; `problem`: its reason. */
  unreachable(status = 503, problem?: string): void {
    const { res } = refusalOf(status, problem === undefined ? {} : { Warning: `399 localhost "${problem}"` })
    this.uac.settle({ status, reason: 'Service Unavailable', res: { ...res!, source_address: '' } })
  }

  /** Sends a reliable provisional response, and returns the bodies of the PRACKs. */
  reliable(status: number, body?: string, headers: Headers = {}): (string | undefined)[] {
    const pracks: (string | undefined)[] = []
    const response = farResponse(status, body, { RSeq: '1', 'Content-Type': 'application/sdp', ...headers })
    response.has = (name) => response.get(name) !== undefined
    this.request.emit('response', response, (options: { body?: string } = {}) => pracks.push(options.body))
    // drachtio-srf continues in the same way.
    this.uac.progress.cbProvisional(response)
    if (response.has('RSeq')) pracks.push(undefined)
    return pracks
  }

  /**
   * Sends a 200 with an offer to an INVITE without one. `acks` are the bodies of the ACKs; `broken`: the 200
   * creates no dialog.
   */
  offer(
    sdp: string,
    headers: Headers = {},
    broken = false,
  ): { dialog: FakeDialog; acks: (string | undefined)[] } {
    const acks: (string | undefined)[] = []
    const res = farResponse(200, sdp, { 'Content-Type': 'application/sdp', ...headers })
    const dialog = Object.assign(new FakeDialog(sdp), { res })
    const ack = (localSdp: string | undefined) => {
      acks.push(localSdp)
      return broken ? Promise.reject(new Error('no Contact header in response')) : Promise.resolve(dialog)
    }
    this.uac.settle(null, { res, ack })
    return { dialog, acks }
  }

  answer(sdp?: string, headers: Headers = {}): FakeDialog {
    const dialog = Object.assign(new FakeDialog(sdp), { res: farResponse(200, sdp, headers) })
    this.uac.settle(null, dialog)
    return dialog
  }
}

/** Outbound legs alone, on a stand-in for drachtio-srf and a clock that stands still. */
export class OutboundRig {
  readonly srf = new FakeSrf()
  readonly clock = new FakeClock()
  readonly edge = new TestEdge()
  readonly legs: SipLegs
  readonly connection = { isAlive: true }
  readonly logged: Record<string, unknown>[] = []
  /** Addresses of names, in DNS. */
  readonly addresses: Record<string, readonly string[]> = {}
  readonly carriers: CarrierDirectory
  readonly outbound: Outbound
  #seen = 0

  constructor(carriers: readonly CarrierConfig[] = [], tryings = true, timers?: SessionTimerSettings) {
    const { srf, clock, edge, connection } = this
    this.carriers = new CarrierDirectory(carriers, clock)
    const capabilities = {
      hasReliableProvisionals: true,
      sessionTimers: 'agent' as const,
      reportsTrying: tryings,
      hasPrivateHeaders: true,
      handlesLateCancel: true,
      maxFrameBytes: 65_536,
    }
    const log = pino({ level: 'debug' }, { write: (line: string) => this.logged.push(JSON.parse(line)) })
    const headers = new GatewayHeaders({ userAgent: 'Trunkline', hasPrivateHeaders: true })
    this.legs = new SipLegs(clock)
    const routing = new Routing(
      { carriers: this.carriers, policy: new DialPolicy(this.carriers), headers, metrics: new Metrics() },
      { reportsTrying: tryings },
    )
    this.outbound = new Outbound(
      {
        context: { link: { srf, connection, capabilities }, headers, clock, log },
        legs: this.legs,
        routing,
        audio: new SipAudio(edge, clock),
        directory: {},
        families: new TargetFamilies({ clock, find: async (host) => this.addresses[host] ?? [] }),
      },
      timers,
    )
  }

  /** Dials, and waits until the INVITE is sent, if one is expected. */
  async dial(
    uri: string,
    destination: Partial<OutboundRequest['destination']> = {},
    target: Partial<Extract<Target, { kind: 'sip' }>> = {},
  ): Promise<{ leg: Leg; heard: Heard }> {
    const leg = this.outbound.dial({ kind: 'sip', uri, ...target }, wish(uri, destination))
    const heard = new Heard(leg)
    for (let turn = 0; turn < 40; turn++) await Promise.resolve()
    return { leg, heard }
  }

  /** Returns the next sent INVITE, taken by the agent. Throws without one. */
  next(): PlacedInvite {
    const uac = this.srf.invites[this.#seen]
    if (!uac) throw new Error('no further INVITE went out')
    this.#seen++
    return new PlacedInvite(uac).taken()
  }

  /** INVITEs that no test has looked at. */
  get waiting(): number {
    return this.srf.invites.length - this.#seen
  }

  /** Remaining state of all legs; every number should be zero. */
  get left(): number[] {
    const calls = this.carriers.all.map(({ load }) => load.calls)
    return [this.legs.size, this.edge.used, this.clock.running, ...calls]
  }
}
