import { digitsPattern, isSipUri } from '../../common/destinations.ts'
import type { ReferResult } from '../../verbs.ts'
import { VerbFailed } from '../../verbs.ts'
import { codes } from '../codes.ts'
import type { Method } from '../method.ts'
import { anyObject, number, pattern, statusUrl, text } from '../schema-builders.ts'
import { lineFault } from '../value-check.ts'
import { badValue } from '../values.ts'

const oneDayMs = 86_400_000

const toFault = (to: string): string | undefined =>
  isSipUri(to) ? undefined : 'must be a SIP URI (sip:user@host)'

const wordOf = ({ kind }: ReferResult): string => (kind === 'completed' ? 'success' : kind.replace('-', '_'))

/** Methods that wait, and that signal to the caller's side. */
export const signalling: Readonly<Record<string, Method>> = {
  sleep: {
    description: 'Waits.',
    properties: { duration: number('Milliseconds; -1 waits until the call ends.', [-1, 86_400_000]) },
    required: ['duration'],
    shorthand: 'duration',
    run: async (values, { call }) => {
      const ms = values.number('duration') ?? 0
      if (ms >= 0) await call.sleep(ms)
      else for (;;) await call.sleep(oneDayMs)
      return undefined
    },
  },
  send_digits: {
    description: 'Sends DTMF digits to the caller.',
    properties: {
      digits: pattern(
        digitsPattern,
        'Digits to send; w waits 0.5 s, W waits 1 s.',
        'DTMF digits (0-9 * # A-D w W)',
      ),
    },
    required: ['digits'],
    failed: { send_digits_result: 'failed' },
    run: async (values, { call, variables }) => {
      await call.sendDigits(values.needed('digits'))
      variables.assign({ send_digits_result: 'success' })
      return undefined
    },
  },
  sip_refer: {
    description: 'Transfers the caller to another destination by REFER. A completed transfer ends the call.',
    properties: {
      to_uri: text('SIP URI of the transfer target.'),
      username: text('User for digest authentication.'),
      password: text('Password for digest authentication.'),
      status_url: statusUrl('calling.call.refer'),
    },
    required: ['to_uri'],
    texts: { to_uri: toFault, username: lineFault, password: lineFault },
    failed: { sip_refer_result: 'failed', return_value: 'failed' },
    run: async (values, script) => {
      const to = values.needed('to_uri')
      const username = values.text('username')
      const password = values.text('password')
      const fault = toFault(to)
      if (fault !== undefined) throw badValue('to_uri', fault)
      const send = script.events.sender(values.url('status_url'), 'calling.call.refer', { sip_refer_to: to })
      const credentials = { ...(username && { username }), ...(password && { password }) }
      const result = await script.call.refer({ to, ...credentials }).catch((error: unknown) => {
        send({ state: 'failed' })
        throw error
      })
      const { status, notifyStatus } = result
      send({ state: wordOf(result), sip_refer_response_code: status, sip_notify_response_code: notifyStatus })
      script.variables.assign({
        sip_refer_to: to,
        sip_refer_result: wordOf(result),
        return_value: wordOf(result),
        sip_refer_response_code: status,
        sip_refer_to_response_code: notifyStatus,
      })
      return undefined
    },
  },
  user_event: {
    description: "Sends an event user_event with this object to the caller's browser.",
    properties: { event: anyObject('At most 16 kB of JSON.') },
    required: ['event'],
    run: async (values, { call }) => {
      if (!call.sendUserEvent(values.object('event') ?? {}))
        throw new VerbFailed(codes.methodFailed, "The caller's side cannot receive events.")
      return undefined
    },
  },
}
