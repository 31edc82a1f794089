import { Call, type CallClient } from './call.ts'
import { type DevicePlan, devicesToWire, type PhoneDevice, type SipDevice } from './devices.ts'
import { notAnswered, RealtimeError } from './errors.ts'
import { Session, type SessionListener, type SessionOptions, type SessionTimers } from './session.ts'
import { textOf, type Values, valuesOf } from './wire.ts'

/**
 * Listener of a client. Errors that it throws or rejects with surface as unhandled ones of the application.
 */
export interface ClientListener {
  received(call: Call): void
  /** Handles a token that the gateway no longer accepts. */
  failed(error: RealtimeError): void
}

interface Dialling {
  answered(call: Call): void
  failed(error: RealtimeError): void
}

const prefix = 'calling.call.'

/** Common part of both interfaces: the session, its calls, and pending dials. */
export class Client implements CallClient, SessionListener {
  readonly session: Session
  readonly #listener: ClientListener
  readonly #calls = new Map<string, Call>()
  readonly #dials = new Map<string, Dialling>()
  /** Dials that were rejected because the connection was lost: their calls must be hung up once answered. */
  readonly #givenUp = new Set<string>()

  constructor(options: SessionOptions, listener: ClientListener, timers?: SessionTimers) {
    this.session = new Session(options, this, timers)
    this.#listener = listener
  }

  request(method: string, params: Values): Promise<Values> {
    return this.session.request(method, params)
  }

  /**
   * Dials devices; resolves with the call of the first that answers. Rejects with the reason if none does.
   */
  dial(devices: DevicePlan): Promise<Call> {
    const tag = crypto.randomUUID()
    const { promise, resolve, reject } = Promise.withResolvers<Call>()
    this.#dials.set(tag, { answered: resolve, failed: reject })
    this.request('calling.dial', { tag, devices: devicesToWire(devices) }).catch((error: RealtimeError) => {
      if (error.code === 'lost') this.#givenUp.add(tag)
      reject(error)
    })
    return promise.finally(() => this.#dials.delete(tag))
  }

  dialSip(device: SipDevice): Promise<Call> {
    return this.dial([[{ type: 'sip', ...device }]])
  }

  dialPhone(device: PhoneDevice): Promise<Call> {
    return this.dial([[{ type: 'phone', ...device }]])
  }

  callOf(params: Values): Call {
    const id = textOf(params, 'call_id')
    const call = this.#calls.get(id) ?? new Call(this, params)
    this.#calls.set(id, call)
    return call
  }

  event(type: string, params: Values): void {
    const kind = type.startsWith(prefix) ? type.slice(prefix.length) : ''
    if (kind === 'receive') this.#listener.received(this.callOf(params))
    else if (kind === 'dial') this.#dialled(params)
    else if (kind === 'state') this.#state(params)
    else if (kind !== '') this.#calls.get(textOf(params, 'call_id'))?.event(kind, params)
  }

  reset(): void {
    this.#loseAll(new RealtimeError('lost', 'The gateway does not know this call any more.'))
  }

  failed(error: RealtimeError): void {
    this.#loseAll(error)
    this.#listener.failed(error)
  }

  /** Ends the session and all calls; idempotent. */
  disconnect(): void {
    this.session.close()
    this.#loseAll(new RealtimeError('lost', 'The client is disconnected.'))
  }

  #state(params: Values): void {
    const call = this.callOf(params)
    if (params.call_state === 'ended') this.#calls.delete(call.id)
    call.event('state', params)
  }

  #dialled(params: Values): void {
    const tag = textOf(params, 'tag')
    const dial = this.#dials.get(tag)
    if (params.dial_state === 'failed') {
      this.#givenUp.delete(tag)
      dial?.failed(notAnswered(params, 'reason', 'The call was not answered.'))
    } else if (params.dial_state === 'answered') {
      const call = this.callOf(valuesOf(params.call))
      if (this.#givenUp.delete(tag)) call.hangup().catch(() => {})
      else dial?.answered(call)
    }
  }

  #loseAll(error: RealtimeError): void {
    const calls = [...this.#calls.values()]
    this.#calls.clear()
    this.#givenUp.clear()
    for (const dial of this.#dials.values()) dial.failed(error)
    for (const call of calls) call.lost(error)
  }
}
