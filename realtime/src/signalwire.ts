import type { Call } from './call.ts'
import { Client } from './client.ts'
import type { DevicePlan, PhoneDevice, SipDevice } from './devices.ts'
import type { RealtimeError } from './errors.ts'
import type { SessionOptions, SessionTimers } from './session.ts'

/** Options of {@link SignalWire}. */
export interface SignalWireOptions extends SessionOptions {
  /** Topics whose calls the client receives before any `listen`. */
  readonly topics?: readonly string[]
  /** Called when the gateway no longer accepts the token; all calls are lost. */
  readonly onAuthError?: (error: RealtimeError) => void
}

/** Topics to listen on, and their listeners. */
export interface ListenOptions {
  /** At least one. */
  readonly topics: readonly string[]
  readonly onCallReceived: (call: Call) => void
}

/** Calls of the second version of the interface. */
export class Voice {
  readonly #client: Client
  readonly #listeners: Set<ListenOptions>

  constructor(client: Client, listeners: Set<ListenOptions>) {
    this.#client = client
    this.#listeners = listeners
  }

  /** Receives the calls of topics until the returned function is called. */
  async listen(options: ListenOptions): Promise<() => Promise<void>> {
    this.#listeners.add(options)
    try {
      await this.#client.session.listen(options.topics)
    } catch (error) {
      this.#listeners.delete(options)
      throw error
    }
    return () => this.#unlisten(options)
  }

  /** Dials devices. Rejects with the reason if none answers. */
  dial(devices: DevicePlan): Promise<Call> {
    return this.#client.dial(devices)
  }

  /** Dials one SIP URI; see {@link dial}. `timeout` is in seconds. */
  dialSip(device: SipDevice): Promise<Call> {
    return this.#client.dialSip(device)
  }

  /** Dials one number; see {@link dial}. */
  dialPhone(device: PhoneDevice): Promise<Call> {
    return this.#client.dialPhone(device)
  }

  /** Keeps topics that another listener still uses. */
  async #unlisten(options: ListenOptions): Promise<void> {
    if (!this.#listeners.delete(options)) return
    const wanted = new Set([...this.#listeners].flatMap(({ topics }) => topics))
    const unwanted = options.topics.filter((topic) => !wanted.has(topic))
    if (unwanted.length > 0) await this.#client.session.unlisten(unwanted)
  }
}

/** Client of the second version. */
export interface RealtimeClient {
  readonly voice: Voice
  /** Ends the session and all calls; idempotent. */
  disconnect(): void
}

/** Connects. Rejects with `unauthorized` for a wrong token, or `lost` if the gateway cannot be reached. */
export const SignalWire = async (
  { topics = [], onAuthError, ...options }: SignalWireOptions,
  timers?: SessionTimers,
): Promise<RealtimeClient> => {
  const listeners = new Set<ListenOptions>()
  const received = (call: Call) => {
    for (const listener of [...listeners])
      if (listener.topics.includes(call.context)) listener.onCallReceived(call)
  }
  const client = new Client(options, { received, failed: (error) => onAuthError?.(error) }, timers)
  await client.session.connect(topics)
  return { voice: new Voice(client, listeners), disconnect: () => client.disconnect() }
}
