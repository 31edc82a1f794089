import { failureCode, type Operation, type OperationCall } from './operation-types.ts'

/** `calling.send_digits`: finished, or failed. */
export class DigitsOperation implements Operation {
  readonly kind = 'send_digits'
  readonly #tell: OperationCall['sendEvent']
  readonly #id: string
  readonly #send: (signal: AbortSignal) => Promise<void>
  readonly #abort = new AbortController()

  /** `send` sends the digits, on the caller's leg or on a callee's. */
  constructor(tell: OperationCall['sendEvent'], id: string, send: (signal: AbortSignal) => Promise<void>) {
    this.#tell = tell
    this.#id = id
    this.#send = send
  }

  async run(): Promise<void> {
    const tell = (state: string, error?: string) =>
      this.#tell('calling.call.send_digits', { control_id: this.#id, state, ...(error && { error }) })
    try {
      await this.#send(this.#abort.signal)
      tell('finished')
    } catch (error) {
      tell('failed', failureCode(error))
    }
  }

  stop(): void {
    this.#abort.abort()
  }
}
