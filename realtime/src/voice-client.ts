import type { Call } from './call.ts'
import { Client } from './client.ts'
import type { DevicePlan, PhoneDevice, SipDevice } from './devices.ts'
import type { RealtimeError } from './errors.ts'
import type { SessionOptions, Surroundings } from './session.ts'

/** What {@link VoiceClient} is made with. */
export interface VoiceClientOptions extends SessionOptions {
  /** Labels of the calls that it takes: those of the handlers of kind `realtime`. */
  readonly contexts?: readonly string[]
}

interface Events {
  readonly 'call.received': (call: Call) => void
  readonly error: (error: RealtimeError) => void
}

/** The first version of the interface: contexts, and the event `call.received`. It connects with its first listener or its first request. */
export class VoiceClient {
  readonly #client: Client
  readonly #contexts: readonly string[]
  readonly #listeners: { readonly [E in keyof Events]: Set<Events[E]> } = {
    'call.received': new Set(),
    error: new Set(),
  }

  /** Begun for a listener; its failure is told once. */
  #connecting: Promise<void> | undefined

  constructor({ contexts = [], ...options }: VoiceClientOptions, surroundings?: Surroundings) {
    const { 'call.received': received, error: failed } = this.#listeners
    const tell = {
      received: (call: Call) => {
        for (const listener of received) listener(call)
      },
      failed: (error: RealtimeError) => {
        for (const listener of failed) listener(error)
      },
    }
    this.#client = new Client(options, tell, surroundings)
    this.#contexts = contexts
  }

  /** `call.received`: a call comes in. `error`: it cannot be connected, or not any more. */
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

  /** Rejects with the reason when nobody answers. */
  async dial(devices: DevicePlan): Promise<Call> {
    await this.#connect()
    return this.#client.dial(devices)
  }

  /** As {@link dial}, one SIP URI. `timeout` is in seconds. */
  dialSip(device: SipDevice): Promise<Call> {
    return this.dial([[{ type: 'sip', ...device }]])
  }

  /** As {@link dial}, one number. */
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
