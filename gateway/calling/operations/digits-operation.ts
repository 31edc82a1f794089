import { failureCode, type Operation, type OperationCall } from './operation-types.ts'

/** `calling.send_digits`: finished, or failed. */
export class DigitsOperation implements Operation {
  readonly kind = 'send_digits'
  readonly #sendEvent: OperationCall['sendEvent']
  readonly #id: string
  readonly #send: (signal: AbortSignal) => Promise<void>
  readonly #abort = new AbortController()

  /** `send` sends the digits, on the caller's leg or on a callee's. */
  constructor(
    sendEvent: OperationCall['sendEvent'],
    id: string,
    send: (signal: AbortSignal) => Promise<void>,
  ) {
    this.#sendEvent = sendEvent
    this.#id = id
    this.#send = send
  }

  async run(): Promise<void> {
    const report = (state: string, error?: string) =>
      this.#sendEvent('calling.call.send_digits', { control_id: this.#id, state, ...(error && { error }) })
    try {
      await this.#send(this.#abort.signal)
      report('finished')
    } catch (error) {
      report('failed', failureCode(error))
    }
  }

  stop(): void {
    this.#abort.abort()
  }
}
