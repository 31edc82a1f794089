import type {
  AgentTranscriptEvent,
  CalleeState,
  ConnectedCallee,
  ConnectOptions,
  ConnectResult,
  Destination,
} from '../../../handlers/verbs.ts'
import type { Fields } from '../../calling/operations/command-fields.ts'
import { endReasonOf } from '../../calling/operations/end-reasons.ts'
import { failureCode, type Operation, type OperationCall } from '../../calling/operations/operation-types.ts'
import { readRingback } from '../../calling/operations/play-request.ts'
import { textOf } from '../../core/errors/catalogue.ts'
import type { LegEvent } from './call-state-event.ts'
import { LegReporter } from './leg-reporter.ts'
import { type RequestedDevice, readDevices, type WireDevice } from './wire-devices.ts'

/** Params of `calling.connect`. */
export interface ConnectRequest {
  readonly tag: string
  readonly steps: readonly (readonly RequestedDevice[])[]
  readonly ringback: ConnectOptions['ringback']
}

/** Reads the params of `calling.connect`. */
export const readConnect = (params: Fields): ConnectRequest => ({
  tag: params.needed('tag'),
  steps: readDevices(params),
  ringback: readRingback(params),
})

/** Leg of the callee. Applications address it as a call by its own id. */
export interface ConnectedPeer {
  readonly id: string
  readonly tag: string
  readonly device: WireDevice
  readonly connected: ConnectedCallee
}

/** Methods of a call that {@link ConnectOperation} uses. */
export interface ConnectingCall extends OperationCall {
  /** Sends `calling.call.state` for a leg that is not yet a call of the application. */
  sendLegState(leg: LegEvent): void
  /** Permits requests about the peer until {@link removePeer}. */
  addPeer(peer: ConnectedPeer): void
  removePeer(peer: ConnectedPeer): void
  /** Returns a function that sends the transcripts of the voice agents that a callee's address runs. */
  transcriptOfPeer(peerId: string): (event: AgentTranscriptEvent) => void
}

/** Runs `calling.connect`, and reports its state and that of every leg. */
export class ConnectOperation implements Operation {
  readonly kind = 'connect'
  readonly #call: ConnectingCall
  readonly #request: ConnectRequest
  readonly #abort = new AbortController()
  readonly #legs: LegReporter
  /** Devices of the request, by the call id of their legs. */
  readonly #devices = new Map<string, WireDevice>()
  #peer: ConnectedPeer | undefined

  constructor(call: ConnectingCall, request: ConnectRequest) {
    this.#call = call
    this.#request = request
    this.#legs = new LegReporter((leg) => call.sendLegState(leg))
  }

  async run(): Promise<void> {
    this.#sendState('connecting')
    try {
      this.#settle(await this.#call.control.connect(this.#options()))
    } catch (error) {
      this.#finish('error', failureCode(error))
    }
  }

  /** Disconnects the peer, or cancels the attempt while it rings. */
  stop(): void {
    if (this.#peer) this.#peer.connected.hangup()
    else this.#abort.abort()
  }

  #options(): ConnectOptions {
    const { steps, ringback } = this.#request
    return {
      steps: steps.map((step) => step.map((device) => this.#watched(device))),
      answerOnBridge: true,
      signal: this.#abort.signal,
      ...(ringback && { ringback }),
      onConnected: (connected) => this.#connected(connected),
    }
  }

  #watched({ destination, device }: RequestedDevice): Destination {
    let sendTranscript: ((event: AgentTranscriptEvent) => void) | undefined
    return {
      ...destination,
      onState: (state) => {
        if (state.callee) sendTranscript ??= this.#call.transcriptOfPeer(state.callee.callId)
        this.#legState(state, device)
      },
      onTranscript: (event) => sendTranscript?.(event),
    }
  }

  #legState(state: CalleeState, device: WireDevice): void {
    const { callee } = state
    if (!callee) return
    this.#devices.set(callee.callId, device)
    const leg = { callId: callee.callId, tag: this.#request.tag, device }
    if (state.kind === 'ended')
      this.#legs.report({ ...leg, state: 'ended', endReason: outcomeReasons[state.outcome] })
    else this.#legs.report({ ...leg, state: state.kind === 'initiated' ? 'created' : state.kind })
  }

  #connected(connected: ConnectedCallee): void {
    const { tag } = this.#request
    const { callee } = connected
    const device = this.#devices.get(callee.callId) ?? {
      type: 'sip',
      params: { from: callee.from, to: callee.to },
    }
    this.#peer = { id: callee.callId, tag, device, connected }
    this.#legs.setAnswered(callee.callId)
    this.#call.addPeer(this.#peer)
    this.#sendState('connected', this.#peerFields)
  }

  #settle(result: ConnectResult): void {
    if (result.kind === 'connected') this.#finish('hangup')
    else this.#finish(endReasonOf(result.code), result.code)
  }

  #finish(reason: string, code?: string): void {
    const peer = this.#peer
    this.#legs.over()
    if (!peer) {
      this.#sendState('failed', {
        failed_reason: reason,
        ...(code && { error: code, message: textOf(code) }),
      })
      return
    }
    this.#sendState('disconnected', this.#peerFields)
    this.#call.removePeer(peer)
  }

  get #peerFields(): Readonly<Record<string, unknown>> {
    if (!this.#peer) return {}
    const { id, tag, device } = this.#peer
    return { peer: { call_id: id, tag, device } }
  }

  #sendState(state: string, fields: Readonly<Record<string, unknown>> = {}): void {
    this.#call.sendEvent('calling.call.connect', { tag: this.#request.tag, connect_state: state, ...fields })
  }
}

const outcomeReasons = {
  completed: 'hangup',
  busy: 'busy',
  'no-answer': 'noAnswer',
  declined: 'decline',
  canceled: 'cancel',
  failed: 'error',
} as const
