import type {
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

/** Methods of a call that connecting uses. */
export interface ConnectingCall extends OperationCall {
  /** Sends `calling.call.state` for a leg that is not yet a call of the application. */
  tellLeg(leg: LegEvent): void
  /** Permits requests about the peer until `parted`. */
  joined(peer: ConnectedPeer): void
  parted(peer: ConnectedPeer): void
}

/** Runs `calling.connect`, and reports its state and that of every leg. */
export class ConnectOperation implements Operation {
  readonly kind = 'connect'
  readonly #call: ConnectingCall
  readonly #wishes: ConnectRequest
  readonly #abort = new AbortController()
  readonly #legs: LegReporter
  #peer: ConnectedPeer | undefined

  constructor(call: ConnectingCall, wishes: ConnectRequest) {
    this.#call = call
    this.#wishes = wishes
    this.#legs = new LegReporter((leg) => call.tellLeg(leg))
  }

  async run(): Promise<void> {
    this.#tell('connecting')
    try {
      this.#settled(await this.#call.control.connect(this.#options()))
    } catch (error) {
      this.#over('error', failureCode(error))
    }
  }

  /** Disconnects the peer, or cancels the attempt while it rings. */
  stop(): void {
    if (this.#peer) this.#peer.connected.hangup()
    else this.#abort.abort()
  }

  #options(): ConnectOptions {
    const { steps, ringback } = this.#wishes
    return {
      steps: steps.map((step) => step.map((wanted) => this.#watched(wanted))),
      answerOnBridge: true,
      signal: this.#abort.signal,
      ...(ringback && { ringback }),
      onConnected: (connected) => this.#connected(connected),
    }
  }

  #watched({ destination, device }: RequestedDevice): Destination {
    return { ...destination, onState: (state) => this.#legState(state, device) }
  }

  #legState(state: CalleeState, device: WireDevice): void {
    const { callee } = state
    if (!callee) return
    const leg = { callId: callee.callId, tag: this.#wishes.tag, device }
    if (state.kind === 'ended')
      this.#legs.tell({ ...leg, state: 'ended', endReason: outcomeReasons[state.outcome] })
    else this.#legs.tell({ ...leg, state: state.kind === 'initiated' ? 'created' : state.kind })
  }

  #connected(connected: ConnectedCallee): void {
    const { tag, steps } = this.#wishes
    const { callee } = connected
    const wanted = steps.flat().find(({ destination }) => destination.to === callee.to)
    const device = wanted?.device ?? { type: 'sip', params: { from: callee.from, to: callee.to } }
    this.#peer = { id: callee.callId, tag, device, connected }
    this.#legs.take(callee.callId)
    this.#call.joined(this.#peer)
    this.#tell('connected', this.#peerFields)
  }

  #settled(result: ConnectResult): void {
    if (result.kind === 'connected') this.#over('hangup')
    else this.#over(endReasonOf(result.code), result.code)
  }

  #over(reason: string, code?: string): void {
    const peer = this.#peer
    this.#legs.over()
    if (!peer) {
      this.#tell('failed', { failed_reason: reason, ...(code && { error: code }) })
      return
    }
    this.#tell('disconnected', this.#peerFields)
    this.#call.parted(peer)
  }

  get #peerFields(): Readonly<Record<string, unknown>> {
    if (!this.#peer) return {}
    const { id, tag, device } = this.#peer
    return { peer: { call_id: id, tag, device } }
  }

  #tell(state: string, more: Readonly<Record<string, unknown>> = {}): void {
    this.#call.sendEvent('calling.call.connect', { tag: this.#wishes.tag, connect_state: state, ...more })
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
