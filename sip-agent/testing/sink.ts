import type { SipMessage } from '../message/message.ts'
import type { SipParseError } from '../message/sip-parse-error.ts'
import type { Flow, TransportSink } from '../transport/types.ts'

/** Records the events of the transports, and lets a test wait for them. */
export class TestSink implements TransportSink {
  readonly messages: { readonly message: SipMessage; readonly flow: Flow }[] = []
  readonly faults: { readonly error: SipParseError; readonly flow: Flow }[] = []
  readonly losses: string[] = []
  readonly errors: unknown[] = []
  #waiting: { readonly ready: () => boolean; readonly wake: () => void }[] = []

  received(message: SipMessage, flow: Flow): void {
    this.messages.push({ message, flow })
    this.#wake()
  }

  malformed(error: SipParseError, flow: Flow): void {
    this.faults.push({ error, flow })
    this.#wake()
  }

  lost(_flow: Flow, reason: string): void {
    this.losses.push(reason)
    this.#wake()
  }

  fault(error: unknown): void {
    this.errors.push(error)
    this.#wake()
  }

  /** Waits for events until `ready` returns true. */
  until(ready: () => boolean): Promise<void> {
    if (ready()) return Promise.resolve()
    return new Promise((wake) => this.#waiting.push({ ready, wake }))
  }

  /** Resolves with the flow of the message with this index, once it has arrived. */
  async flow(index = 0): Promise<Flow> {
    await this.until(() => this.messages.length > index)
    return (this.messages[index] as { flow: Flow }).flow
  }

  #wake(): void {
    for (const each of [...this.#waiting]) {
      if (!each.ready()) continue
      this.#waiting = this.#waiting.filter((other) => other !== each)
      each.wake()
    }
  }
}
