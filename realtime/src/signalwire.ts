import type { Call } from './call.ts'
import { Client } from './client.ts'
import type { DevicePlan, PhoneDevice, SipDevice } from './devices.ts'
import type { RealtimeError } from './errors.ts'
import type { SessionOptions, Surroundings } from './session.ts'

/** What {@link SignalWire} is called with. */
export interface SignalWireOptions extends SessionOptions {
  /** Labels of the calls that it takes, before any `listen`. */
  readonly topics?: readonly string[]
  /** The gateway does not take the token any more; every call is lost then. */
  readonly onAuthError?: (error: RealtimeError) => void
}

/** What to listen on, and who is told. */
export interface ListenOptions {
  /** At least one. */
  readonly topics: readonly string[]
  readonly onCallReceived: (call: Call) => void
}

/** Calls, of the second version. */
export class Voice {
  readonly #client: Client
  readonly #listeners: Set<ListenOptions>

  constructor(client: Client, listeners: Set<ListenOptions>) {
    this.#client = client
    this.#listeners = listeners
  }

  /** Takes the calls of some topics, until the function that comes back is called. */
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

  /** Rejects with the reason when nobody answers. */
  dial(devices: DevicePlan): Promise<Call> {
    return this.#client.dial(devices)
  }

  /** As {@link dial}, one SIP URI. `timeout` is in seconds. */
  dialSip(device: SipDevice): Promise<Call> {
    return this.#client.dialSip(device)
  }

  /** As {@link dial}, one number. */
  dialPhone(device: PhoneDevice): Promise<Call> {
    return this.#client.dialPhone(device)
  }

  /** Topics that another listener still wants go on. */
  async #unlisten(options: ListenOptions): Promise<void> {
    if (!this.#listeners.delete(options)) return
    const wanted = new Set([...this.#listeners].flatMap(({ topics }) => topics))
    const unwanted = options.topics.filter((topic) => !wanted.has(topic))
    if (unwanted.length > 0) await this.#client.session.unlisten(unwanted)
  }
}

/** A client of the second version. */
export interface RealtimeClient {
  readonly voice: Voice
  /** Ends everything; idempotent. */
  disconnect(): void
}

/** Connects. Rejects with `unauthorized` for a wrong token, and with `lost` when the gateway cannot be reached. */
export const SignalWire = async (
  { topics = [], onAuthError, ...options }: SignalWireOptions,
  surroundings?: Surroundings,
): Promise<RealtimeClient> => {
  const listeners = new Set<ListenOptions>()
  const received = (call: Call) => {
    for (const listener of [...listeners])
      if (listener.topics.includes(call.context)) listener.onCallReceived(call)
  }
  const client = new Client(options, { received, failed: (error) => onAuthError?.(error) }, surroundings)
  await client.session.connect(topics)
  return { voice: new Voice(client, listeners), disconnect: () => client.disconnect() }
}
