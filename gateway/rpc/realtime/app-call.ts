import type { AgentTranscriptEvent, CallControl } from '../../../handlers/verbs.ts'
import type { RunAgent } from '../../calling/operations/agent-operation.ts'
import { CallOperations } from '../../calling/operations/call-operations.ts'
import { Refusal } from '../../calling/operations/command-fields.ts'
import type { CommandedCall } from '../../calling/operations/command-table.ts'
import { type EndReason, hangupReasons } from '../../calling/operations/end-reasons.ts'
import type { ClientQuirks } from '../../calling/operations/operation-types.ts'
import type { Application } from './application.ts'
import { callState, type LegEvent, type WireState } from './call-state-event.ts'
import type { ConnectedPeer, ConnectingCall } from './connect-operation.ts'
import { transcriptSender } from './transcript-sender.ts'
import type { WireDevice } from './wire-devices.ts'

/** Facts of an {@link AppCall}. */
export interface AppCallOptions {
  readonly control: CallControl
  readonly application: Application
  readonly device: WireDevice
  /** Tag of the dial; undefined for an inbound call. */
  readonly tag?: string
  readonly runAgent: RunAgent
}

/**
 * Outcome of an offer: the application took or passed the call, did not respond in time, lost its connection,
 * or the caller hung up.
 */
export type OfferOutcome = 'taken' | 'passed' | 'silent' | 'lost' | 'over'

/** Client versions whose promises settle only on success. */
const successOnly = /^@signalwire\/nodejs\/realtime-api\/4\.2\./

/** Call that one application controls, with its operations and events. */
export class AppCall implements ConnectingCall, CommandedCall {
  readonly id: string
  readonly control: CallControl
  readonly application: Application
  readonly tag: string | undefined
  readonly operations = new CallOperations()
  /** Runs voice agents on the call. */
  readonly runAgent: RunAgent
  readonly #device: WireDevice
  readonly #startedAt: number
  readonly #over = Promise.withResolvers<void>()
  readonly #unlisten: () => void
  readonly #onEnd = () => void this.#end()
  #offer: ((outcome: OfferOutcome) => void) | undefined
  #state: WireState = 'created'
  #endReason: EndReason | undefined

  constructor({ control, application, device, tag, runAgent }: AppCallOptions) {
    this.id = control.info.callId
    this.control = control
    this.application = application
    this.tag = tag
    this.runAgent = runAgent
    this.#device = device
    this.#startedAt = application.clock.now()
    application.calls.set(this.id, this)
    this.#unlisten = control.onVerb(() => this.#noteAnswer())
    control.signal.addEventListener('abort', this.#onEnd, { once: true })
    // The call may have ended already; its `created` event must still come first.
    if (control.signal.aborted) queueMicrotask(this.#onEnd)
  }

  /** Resolves when the call has ended and all of its events were sent. */
  get over(): Promise<void> {
    return this.#over.promise
  }

  get state(): WireState {
    return this.#state
  }

  /** Whether the offer is open. */
  get isOffered(): boolean {
    return this.#offer !== undefined
  }

  /** Offers the call and waits for the outcome; the outcome is `silent` after `ms`. */
  async offer(context: string, ms: number): Promise<OfferOutcome> {
    const { promise, resolve } = Promise.withResolvers<OfferOutcome>()
    this.#offer = resolve
    const { start_time: _, ...params } = callState(this.application.nodeId, this.#event('created'))
    // A reconnecting application must not receive an offer that has closed.
    const isStale = () => !this.isOffered
    this.application.emit('calling.call.receive', { ...params, context }, { isStale })
    const timer = this.application.clock.after(ms, () => this.#decide('silent'))
    try {
      return await promise
    } finally {
      timer.cancel()
    }
  }

  /** Accepts the offer; called for the application's first request about the call. */
  take(): void {
    this.#decide('taken')
  }

  /** Declines the offer. Throws if the offer has closed. */
  pass(): void {
    if (!this.#offer) throw new Refusal('409', 'the offer of the call has closed')
    this.#decide('passed')
  }

  /** Closes the offer because the application lost its connection. */
  unreachable(): void {
    this.#decide('lost')
  }

  /** Ends the call for this application, for example so that another application can be offered the call. */
  withdraw(): void {
    this.#leave()
    this.#sendState('ended', 'cancel')
  }

  /** Hangs up because the application did not reconnect in time. */
  abandoned(): void {
    void this.hangup('error').catch(() => {})
  }

  /** Ends the call. */
  async hangup(reason: EndReason): Promise<void> {
    this.#endReason = reason
    await this.control.hangup(hangupReasons[reason])
  }

  /** Sends the `answered` state, at most once. */
  answered(): void {
    if (this.#state !== 'created' && this.#state !== 'ringing') return
    this.#sendState('answered')
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

  /** Returns a function that sends the transcript of an agent. `controlId`: id of its operation. */
  transcriptOf(controlId: string): (event: AgentTranscriptEvent) => void {
    const send = transcriptSender(this.application, { call_id: this.id, control_id: controlId })
    return (event) => {
      this.#noteAnswer()
      send(event)
    }
  }

  transcriptOfPeer(peerId: string): (event: AgentTranscriptEvent) => void {
    const send = transcriptSender(this.application, { call_id: peerId })
    // The peer can outlive the control of the application.
    return (event) => {
      if (!this.control.signal.aborted) send(event)
    }
  }

  sendLegState(leg: LegEvent): void {
    this.application.emit('calling.call.state', callState(this.application.nodeId, leg))
  }

  addPeer(peer: ConnectedPeer): void {
    this.application.peers.set(peer.id, { peer, call: this })
  }

  removePeer(peer: ConnectedPeer): void {
    this.application.peers.delete(peer.id)
  }

  #decide(outcome: OfferOutcome): void {
    const resolve = this.#offer
    if (!resolve) return
    this.#offer = undefined
    // The application must not control the call while it is offered to another.
    if (outcome !== 'taken' && outcome !== 'over') this.application.calls.delete(this.id)
    resolve(outcome)
  }

  #noteAnswer(): void {
    if (this.control.isAnswered && !this.isOffered) this.answered()
  }

  /** Ends every operation before the call: clients settle no operation when a call ends. */
  async #end(): Promise<void> {
    this.#decide('over')
    this.#sendState('ending', this.#reason)
    await this.operations.stop()
    this.#leave()
    this.#sendState('ended', this.#reason)
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

  #sendState(state: WireState, endReason?: EndReason): void {
    this.#state = state
    const event = this.#event(state)
    this.sendLegState({
      ...event,
      ...(endReason && { endReason }),
      ...(state === 'ended' && { endedAt: this.application.clock.now() }),
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
