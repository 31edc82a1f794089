import type { CallInfo, CodecName, Destination } from '../../../handlers/verbs.ts'
import { Fields, listOf, type Refusal, repeatable, textOf } from '../../calling/operations/command-fields.ts'

/** Device in events. */
export interface WireDevice {
  readonly type: 'sip' | 'phone' | 'webrtc'
  readonly params: Readonly<Record<string, unknown>>
}

/** Device to call. */
export interface RequestedDevice {
  readonly device: WireDevice
  readonly destination: Destination
}

const maxSteps = 20
const maxTogether = 20
const maxDevices = 50
const maxHeaders = 50
/** Supported codecs by their names in requests. Others, and video, are ignored. */
const codecNames: Readonly<Record<string, CodecName>> = {
  PCMU: 'PCMU',
  PCMA: 'PCMA',
  G722: 'G722',
  OPUS: 'opus',
  L16: 'L16',
}

/** Reads `devices`: the steps of the outer list in series, the devices of each step in parallel. */
export const readDevices = (params: Fields): readonly (readonly RequestedDevice[])[] => {
  const steps = params.list('devices', maxSteps, (step, path) => listOf(step, path, maxTogether, readDevice))
  if (steps.length === 0 || steps.some((step) => step.length === 0))
    throw params.wrong('devices', 'a list of lists of devices')
  const devices = steps.flat().length
  if (devices > maxDevices) throw params.wrong('devices', `at most ${maxDevices} in all`, devices)
  return steps
}

const readDevice = (value: unknown, path: string): RequestedDevice => {
  const device = new Fields(repeatable(value, path), path)
  const params = device.fields('params')
  const type = device.oneOf('type', ['sip', 'phone'] as const)
  if (!params || !type) throw device.wrong('type', 'sip or phone, with params')
  const destination = type === 'sip' ? readSip(params) : readPhone(params)
  return { device: wireDevice(type, destination), destination }
}

/**
 * Returns the device of a `sip` or `phone` leg. Both are SIP legs; a `phone` is called through the default
 * carrier.
 */
const wireDevice = (type: 'sip' | 'phone', { to, from, headers }: Destination): WireDevice =>
  type === 'sip'
    ? { type, params: { from, to, headers: headers ?? [] } }
    : { type, params: { from_number: from, to_number: to } }

const readPhone = (params: Fields): Destination => ({
  to: params.needed('to_number'),
  ...fromOf(params.text('from_number')),
  ...readTimeout(params),
})

const fromOf = (from: string | undefined): Pick<Destination, 'from'> => (from === undefined ? {} : { from })

const readSip = (params: Fields): Destination => {
  const headers = params.list('headers', maxHeaders, readHeader)
  const codecs = readCodecs(params)
  const sessionTimerSeconds = params.integer('session_timeout', 90, 86_400)
  return {
    to: params.needed('to'),
    ...fromOf(params.text('from')),
    ...readTimeout(params),
    ...(headers.length > 0 && { headers }),
    ...(codecs && { codecs }),
    ...(sessionTimerSeconds !== undefined && { sessionTimerSeconds }),
  }
}

const readTimeout = (params: Fields): Pick<Destination, 'timeoutMs'> => {
  const timeoutMs = params.seconds('timeout')
  return timeoutMs ? { timeoutMs } : {}
}

const readHeader = (value: unknown, path: string) => {
  const header = new Fields(value, path)
  return { name: header.needed('name'), value: header.needed('value') }
}

const readCodecs = (params: Fields): CodecName[] | undefined => {
  const names = params.list('codecs', 20, textOf)
  const known = names.flatMap((name) => codecNames[name.toUpperCase()] ?? [])
  if (names.length > 0 && known.length === 0) throw noCodec(params)
  return known.length > 0 ? known : undefined
}

const noCodec = (params: Fields): Refusal =>
  params.wrong('codecs', `at least one of ${Object.keys(codecNames).join(', ')}`)

/** Returns the caller's device for events. */
export const deviceOf = ({ type, from, to, headers, userVariables }: CallInfo): WireDevice => ({
  type,
  params: { from, to, ...(type === 'sip' && { headers }), ...(userVariables && { userVariables }) },
})
