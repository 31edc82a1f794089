import type { CallControl } from '../../../handlers/verbs.ts'
import { CallOperations } from '../../calling/operations/call-operations.ts'
import { Refusal } from '../../calling/operations/command-fields.ts'
import type { CommandedCall } from '../../calling/operations/command-table.ts'
import { type EndReason, hangupReasons } from '../../calling/operations/end-reasons.ts'
import type { ClientQuirks } from '../../calling/operations/operation-types.ts'
import type { Clock } from '../../core/clock.ts'
import type { Application } from './application.ts'
import { callState, type LegEvent, type WireState } from './call-state-event.ts'
import type { ConnectedPeer, ConnectingCall } from './connect-operation.ts'
import type { WireDevice } from './wire-devices.ts'

/** What a call of an application is made from. */
export interface AppCallOptions {
  readonly control: CallControl
  readonly application: Application
  readonly device: WireDevice
  /** Of the dial that made it; an inbound call has none. */
  readonly tag?: string
  readonly clock: Clock
}

/**
 * What became of an offer: the client did something with the call, passed it, did nothing in time, lost its
 * connection, or the caller gave up.
 */
export type OfferOutcome = 'taken' | 'passed' | 'silent' | 'lost' | 'over'

/** Clients whose promises settle with success alone. */
const successOnly = /^@signalwire\/nodejs\/realtime-api\/4\.2\./

/** One call in the hands of one application: its operations and its events. */
export class AppCall implements ConnectingCall, CommandedCall {
  readonly id: string
  readonly control: CallControl
  readonly application: Application
  readonly tag: string | undefined
  readonly operations = new CallOperations()
  readonly #device: WireDevice
  readonly #clock: Clock
  readonly #startedAt: number
  readonly #over = Promise.withResolvers<void>()
  readonly #unlisten: () => void
  readonly #onEnd = () => void this.#end()
  #offer: ((outcome: OfferOutcome) => void) | undefined
  #state: WireState = 'created'
  #endReason: EndReason | undefined

  constructor({ control, application, device, tag, clock }: AppCallOptions) {
    this.id = control.info.callId
    this.control = control
    this.application = application
    this.tag = tag
    this.#device = device
    this.#clock = clock
    this.#startedAt = clock.now()
    application.calls.set(this.id, this)
    this.#unlisten = control.onVerb(() => this.#noteAnswer())
    control.signal.addEventListener('abort', this.#onEnd, { once: true })
    // It may be over already; whoever made this tells first that it was there.
    if (control.signal.aborted) queueMicrotask(this.#onEnd)
  }

  /** Resolves when the call is over and the application has been told everything. */
  get over(): Promise<void> {
    return this.#over.promise
  }

  get state(): WireState {
    return this.#state
  }

  /** It has been offered, and the application has not decided. */
  get isOffered(): boolean {
    return this.#offer !== undefined
  }

  /** Offers the call, and waits for what the application makes of it; `silent` after `ms`. */
  async offer(context: string, ms: number): Promise<OfferOutcome> {
    const { promise, resolve } = Promise.withResolvers<OfferOutcome>()
    this.#offer = resolve
    const { start_time: _, ...params } = callState(this.application.nodeId, this.#event('created'))
    // An offer that is over, or that went to somebody else, must not ring at who comes back.
    const isStale = () => !this.isOffered
    this.application.emit('calling.call.receive', { ...params, context }, isStale)
    const timer = this.#clock.after(ms, () => this.#decide('silent'))
    try {
      return await promise
    } finally {
      timer.cancel()
    }
  }

  /** The application asks something of the call: it is its own from now on. */
  take(): void {
    this.#decide('taken')
  }

  /** The application leaves the call to others. */
  pass(): void {
    if (!this.#offer) throw new Refusal('409', 'the call is not on offer any more')
    this.#decide('passed')
  }

  /** The application has no connection at the moment. */
  unreachable(): void {
    this.#decide('lost')
  }

  /** Takes the call from the application: for it, the call is over. */
  withdraw(): void {
    this.#leave()
    this.#tellState('ended', 'cancel')
  }

  /** The application is gone for good: what it left unfinished is hung up. */
  abandoned(): void {
    void this.hangup('error').catch(() => {})
  }

  /** Ends the call. */
  async hangup(reason: EndReason): Promise<void> {
    this.#endReason = reason
    await this.control.hangup(hangupReasons[reason])
  }

  /** The call has been answered; told once. */
  answered(): void {
    if (this.#state !== 'created' && this.#state !== 'ringing') return
    this.#tellState('answered')
  }

  get nodeId(): string {
    return this.application.nodeId
  }

  get quirks(): ClientQuirks {
    return { reportsSuccessOnly: successOnly.test(this.application.agent) }
  }

  sendEvent(type: string, params: Readonly<Record<string, unknown>>): void {
    this.#noteAnswer()
    this.application.emit(type, { call_id: this.id, node_id: this.nodeId, ...params })
  }

  tellLeg(leg: LegEvent): void {
    this.application.emit('calling.call.state', callState(this.application.nodeId, leg))
  }

  joined(peer: ConnectedPeer): void {
    this.application.peers.set(peer.id, { peer, call: this })
  }

  parted(peer: ConnectedPeer): void {
    this.application.peers.delete(peer.id)
  }

  #decide(outcome: OfferOutcome): void {
    const resolve = this.#offer
    if (!resolve) return
    this.#offer = undefined
    // Nothing may be asked of it while it is on its way to somebody else.
    if (outcome !== 'taken' && outcome !== 'over') this.application.calls.delete(this.id)
    resolve(outcome)
  }

  #noteAnswer(): void {
    if (this.control.isAnswered && !this.isOffered) this.answered()
  }

  /** The clients settle nothing from a call's end: every operation says first how it ended. */
  async #end(): Promise<void> {
    this.#decide('over')
    this.#tellState('ending', this.#reason)
    await this.operations.stop()
    this.#leave()
    this.#tellState('ended', this.#reason)
  }

  get #reason(): EndReason {
    return this.#endReason ?? (this.control.isAnswered ? 'hangup' : 'cancel')
  }

  #leave(): void {
    this.#unlisten()
    this.control.signal.removeEventListener('abort', this.#onEnd)
    this.application.calls.delete(this.id)
    this.#over.resolve()
  }

  #tellState(state: WireState, endReason?: EndReason): void {
    this.#state = state
    const event = this.#event(state)
    this.tellLeg({
      ...event,
      ...(endReason && { endReason }),
      ...(state === 'ended' && { endedAt: this.#clock.now() }),
    })
  }

  #event(state: WireState): LegEvent {
    return {
      callId: this.id,
      device: this.#device,
      startedAt: this.#startedAt,
      state,
      ...(this.tag !== undefined && { tag: this.tag }),
    }
  }
}
