import { toWire } from './wire.ts'

/** A SIP URI to call. */
export interface SipDevice {
  /** SIP URI to show as the caller. */
  readonly from: string
  /** SIP URI to call; may carry URI and header parameters. */
  readonly to: string
  /** Ring time in seconds; default that of the gateway. */
  readonly timeout?: number
  readonly headers?: readonly { readonly name: string; readonly value: string }[]
  /** Offered in this order: PCMU, PCMA, G722, OPUS. */
  readonly codecs?: readonly string[]
  /** Session timer in seconds, 90 or more (RFC 4028). */
  readonly sessionTimeout?: number
}

/** A number to call, through the gateway's default carrier. */
export interface PhoneDevice {
  readonly from: string
  readonly to: string
  /** Ring time in seconds; default that of the gateway. */
  readonly timeout?: number
}

/** Somebody to call. */
export type Device = ({ readonly type: 'sip' } & SipDevice) | ({ readonly type: 'phone' } & PhoneDevice)

/** Who to call: the outer list one after the other, the inner ones together. */
export type DevicePlan = readonly (readonly Device[])[]

/** A plan as the gateway reads it. */
export const devicesToWire = (plan: DevicePlan): unknown[] => plan.map((step) => step.map(deviceToWire))

const deviceToWire = (device: Device): unknown => {
  if (device.type === 'phone') {
    const { from, to, timeout } = device
    return { type: 'phone', params: toWire({ fromNumber: from, toNumber: to, timeout }) }
  }
  const { type, ...params } = device
  return { type, params: toWire(params) }
}
