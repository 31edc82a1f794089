import { toWire } from './wire.ts'

/** SIP URI to call. */
export interface SipDevice {
  /** SIP URI of the caller, as shown to the callee. */
  readonly from: string
  /** SIP URI to call; may carry URI and header parameters. */
  readonly to: string
  /** Ring time in seconds; default: that of the gateway. */
  readonly timeout?: number
  readonly headers?: readonly { readonly name: string; readonly value: string }[]
  /** Codecs in the order of the offer: PCMU, PCMA, G722, OPUS. */
  readonly codecs?: readonly string[]
  /** Session timer in seconds, 90 or more (RFC 4028). */
  readonly sessionTimeout?: number
}

/** Number to call, through the gateway's default carrier. */
export interface PhoneDevice {
  readonly from: string
  readonly to: string
  /** Ring time in seconds; default: that of the gateway. */
  readonly timeout?: number
}

/** Destination of a call. */
export type Device = ({ readonly type: 'sip' } & SipDevice) | ({ readonly type: 'phone' } & PhoneDevice)

/** Destinations: the outer list is dialled in sequence, each inner list in parallel. */
export type DevicePlan = readonly (readonly Device[])[]

/** Converts a plan to the gateway's format. */
export const devicesToWire = (plan: DevicePlan): unknown[] => plan.map((step) => step.map(deviceToWire))

const deviceToWire = (device: Device): unknown => {
  if (device.type === 'phone') {
    const { from, to, timeout } = device
    return { type: 'phone', params: toWire({ fromNumber: from, toNumber: to, timeout }) }
  }
  const { type, ...params } = device
  return { type, params: toWire(params) }
}
