import type { Call } from './call.ts'
import { Client } from './client.ts'
import type { DevicePlan, PhoneDevice, SipDevice } from './devices.ts'
import type { RealtimeError } from './errors.ts'
import type { SessionOptions, SessionTimers } from './session.ts'

/** Options of {@link VoiceClient}. */
export interface VoiceClientOptions extends SessionOptions {
  /** Contexts whose calls the client receives, as named by handlers of kind `realtime`. */
  readonly contexts?: readonly string[]
}

interface Events {
  readonly 'call.received': (call: Call) => void
  readonly error: (error: RealtimeError) => void
}

/**
 * Interface of the first version: contexts, and the event `call.received`. It connects with its first
 * listener or request.
 */
export class VoiceClient {
  readonly #client: Client
  readonly #contexts: readonly string[]
  readonly #listeners: { readonly [E in keyof Events]: Set<Events[E]> } = {
    'call.received': new Set(),
    error: new Set(),
  }

  /** Connection started for a listener; its failure is reported once. */
  #connecting: Promise<void> | undefined

  constructor({ contexts = [], ...options }: VoiceClientOptions, timers?: SessionTimers) {
    const { 'call.received': received, error: failed } = this.#listeners
    const tell = {
      received: (call: Call) => {
        for (const listener of received) listener(call)
      },
      failed: (error: RealtimeError) => {
        for (const listener of failed) listener(error)
      },
    }
    this.#client = new Client(options, tell, timers)
    this.#contexts = contexts
  }

  /** Adds a listener. `call.received`: an incoming call. `error`: the connection failed for good. */
  on<E extends keyof Events>(event: E, listener: Events[E]): this {
    this.#listeners[event].add(listener)
    this.#connecting ??= this.#connect()
      .catch((error) => {
        for (const each of this.#listeners.error) each(error)
      })
      .finally(() => {
        this.#connecting = undefined
      })
    return this
  }

  off<E extends keyof Events>(event: E, listener: Events[E]): this {
    this.#listeners[event].delete(listener)
    return this
  }

  async addContexts(contexts: readonly string[]): Promise<void> {
    await this.#connect()
    await this.#client.session.listen(contexts)
  }

  async removeContexts(contexts: readonly string[]): Promise<void> {
    await this.#connect()
    await this.#client.session.unlisten(contexts)
  }

  /** Dials devices. Rejects with the reason if none answers. */
  async dial(devices: DevicePlan): Promise<Call> {
    await this.#connect()
    return this.#client.dial(devices)
  }

  /** Dials one SIP URI; see {@link dial}. `timeout` is in seconds. */
  dialSip(device: SipDevice): Promise<Call> {
    return this.dial([[{ type: 'sip', ...device }]])
  }

  /** Dials one number; see {@link dial}. */
  dialPhone(device: PhoneDevice): Promise<Call> {
    return this.dial([[{ type: 'phone', ...device }]])
  }

  disconnect(): void {
    this.#client.disconnect()
  }

  #connect(): Promise<void> {
    return this.#client.session.connect(this.#contexts)
  }
}
