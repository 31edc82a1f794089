import { expect, it } from 'vitest'
import type { Config } from '../../config/types.ts'
import { sipStartError, webRtcStartError } from './listener-errors.ts'

const listen: Config['sip']['listen'] = [
  { transport: 'tcp', address: '0.0.0.0', port: 5060 },
  { transport: 'udp', address: '::', port: 1 },
]

it('of the SIP agent names the listener', () => {
  const error = new Error('SIP agent: cannot bind udp :::1: bind EADDRINUSE :::1')
  expect(String(sipStartError(error, listen))).toBe(
    'StartError: sip.listen[1]: cannot listen on udp [::]:1: the port is taken.',
  )
})

it('of the SIP agent stays as it is if no listener failed', () => {
  const error = new Error('SIP agent: the thread ended at start with code 1')
  expect(sipStartError(error, listen)).toBe(error)
  const other = new Error('SIP agent: cannot bind tls 0.0.0.0:5061: TLS: there is no certificate')
  expect(sipStartError(other, listen)).toBe(other)
})

it('of mediasoup names the port, and stays as it is for another reason', () => {
  const webrtc = { bind: '0.0.0.0', port: 1 } as Config['media']['webrtc']
  const text = "port bind failed due to address not available [protocol:udp, ip:'0.0.0.0', port:1]"
  expect(String(webRtcStartError(new Error(text), webrtc))).toBe(
    'StartError: media.webrtc.port: cannot listen on udp 0.0.0.0:1: this machine does not have the address.',
  )
  const other = new Error('worker process failed')
  expect(webRtcStartError(other, webrtc)).toBe(other)
})
