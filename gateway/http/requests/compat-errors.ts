import type { Code } from '../../core/errors/catalogue.ts'
import { errorPagePath } from './error-pages.ts'
import { isDestinationFault, type LinkBase, type RequestFault } from './request-faults.ts'

/** Error numbers of parameters. `missing`: the parameter is absent; `wrong`: its value is invalid. */
const parameters: Readonly<Record<string, { readonly missing?: number; readonly wrong: number }>> = {
  To: { missing: 21201, wrong: 21211 },
  From: { missing: 21213, wrong: 21212 },
  CallerId: { wrong: 21212 },
  Url: { missing: 21205, wrong: 21402 },
  ApplicationSid: { wrong: 21218 },
  Twiml: { wrong: 20422 },
  Contents: { wrong: 20422 },
  Timeout: { wrong: 21208 },
  StatusCallbackEvent: { wrong: 21626 },
  ...Object.fromEntries(
    ['Method', 'FallbackMethod', 'StatusCallbackMethod', 'RecordingStatusCallbackMethod', 'VoiceMethod']
      .concat('VoiceFallbackMethod', 'HoldMethod', 'AnnounceMethod', 'AsyncAmdStatusCallbackMethod')
      .map((name) => [name, { wrong: 21209 }]),
  ),
  ...Object.fromEntries(
    ['FallbackUrl', 'StatusCallback', 'RecordingStatusCallback', 'VoiceUrl', 'VoiceFallbackUrl']
      .concat('HoldUrl', 'AnnounceUrl', 'AsyncAmdStatusCallback')
      .map((name) => [name, { wrong: 21402 }]),
  ),
}

/** Error numbers of catalogue codes. Default: 20500 for internal errors, otherwise 10000. */
const numbers: Readonly<Partial<Record<Code, number>>> = {
  unauthorized: 20003,
  insufficient_scope: 20003,
  not_found: 20404,
  unknown_resource: 20404,
  unknown_call: 20404,
  unknown_recording: 20404,
  method_not_allowed: 20004,
  too_many_requests: 20429,
  over_call_limit: 20429,
  over_call_rate: 20429,
  document_invalid: 20422,
  call_in_progress: 20009,
  recording_in_progress: 20009,
  call_not_in_progress: 21220,
  unknown_address: 21217,
  not_permitted: 21211,
  not_online: 32009,
  unsupported_uri: 32110,
  no_common_codec: 53404,
  bad_stream: 31922,
  invalid_digits: 13222,
}

/** Returns the error number of a fault. */
export const numberOf = ({
  code,
  attribute,
  status,
}: Pick<RequestFault, 'code' | 'attribute' | 'status'>): number => {
  // A fault in one value of a list is reported for the whole parameter.
  const name = attribute?.replace(/\.\d+$/, '') ?? ''
  const parameter = Object.hasOwn(parameters, name) ? parameters[name] : undefined
  if (code === 'missing_required_parameter') return parameter?.missing ?? 10000
  if (code === 'invalid_field') return parameter?.wrong ?? 10000
  if (parameter && isDestinationFault(code)) return parameter.wrong
  return numbers[code] ?? (status >= 500 ? 20500 : 10000)
}

/** Returns the error body of the `compat` family. The published client reads it as a RestException. */
export const compatBody = (fault: RequestFault & LinkBase) => ({
  code: numberOf(fault),
  message: fault.message,
  more_info: `${fault.base}${errorPagePath(fault.code)}`,
  status: fault.status,
})
