import type { ReferOptions, ReferResult } from '../../../handlers/verbs.ts'
import type { Fields } from './command-fields.ts'
import { failureCode, type OperationCall } from './operation-types.ts'
import { VerbOperation } from './verb-operation.ts'

/** Reads `calling.refer`: a SIP device. */
export const readRefer = (params: Fields): ReferOptions => {
  const given = params.fields('device')
  given?.oneOf('type', ['sip'])
  const device = given?.fields('params')
  if (!device) throw params.wrong('device', 'an object with type sip and params')
  const username = device.text('username')
  const password = device.text('password')
  const to = device.needed('to')
  return { to, ...(username !== undefined && { username }), ...(password !== undefined && { password }) }
}

const states: Readonly<Record<ReferResult['kind'], string>> = {
  completed: 'success',
  busy: 'busy',
  'no-answer': 'noAnswer',
  canceled: 'cancel',
  failed: 'error',
}

/** `calling.refer`: in_progress, then the outcome. */
export class ReferOperation extends VerbOperation {
  readonly kind = 'refer'
  readonly #options: ReferOptions

  constructor(call: OperationCall, id: string, options: ReferOptions) {
    super(call, id)
    this.#options = options
  }

  async run(): Promise<void> {
    this.#send('in_progress')
    try {
      const result = await this.call.control.refer({ ...this.#options, signal: this.abort.signal })
      const { kind, status, notifyStatus } = result
      this.#send(states[kind], {
        sip_refer_response_code: String(status),
        ...(notifyStatus !== undefined && { sip_notify_response_code: String(notifyStatus) }),
      })
    } catch (error) {
      this.#send('error', { error: failureCode(error) })
    }
  }

  #send(state: string, more: Readonly<Record<string, unknown>> = {}): void {
    this.sendEvent('refer', { state, sip_refer_to: this.#options.to, ...more })
  }
}
