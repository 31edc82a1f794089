import { VerbFailed } from '../../verbs.ts'
import { codes } from '../codes.ts'
import type { Method } from '../method.ts'
import { anything } from '../schema-builders.ts'

/** Methods of the language without a verb in the gateway, and their result variables, if any. */
const names: Readonly<Record<string, string | undefined>> = {
  denoise: 'denoise_result',
  stop_denoise: 'denoise_result',
  live_transcribe: undefined,
  live_translate: undefined,
  transcribe: 'transcribe_result',
  transcribe_stop: 'transcribe_stop_result',
  send_fax: 'send_fax_result',
  receive_fax: 'receive_fax_result',
  send_sms: 'send_sms_result',
  pay: 'pay_result',
  ai_sidecar: undefined,
}

const absentMethod = (name: string, result: string | undefined): Method => ({
  description: 'Not supported: it fails, and the next step follows.',
  properties: { parameters: anything('Any.') },
  wholeParameter: 'parameters',
  plain: ['parameters'],
  isUnsupported: true,
  failed: result === undefined ? {} : { [result]: 'failed' },
  run: async () => {
    throw new VerbFailed(codes.methodFailed, `The method ${name} is not supported.`)
  },
})

/** Methods that a script may contain, and that fail when they run. */
export const unsupportedMethods: Readonly<Record<string, Method>> = Object.fromEntries(
  Object.entries(names).map(([name, result]) => [name, absentMethod(name, result)]),
)
