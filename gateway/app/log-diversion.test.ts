import { expect, it, vi } from 'vitest'
import { logDiversion } from './log-diversion.ts'

const diversion = {
  callId: 'a\r\nb',
  method: 'BYE',
  nextHop: '<sip:user:secret@10.9.9.9;lr>',
  sentTo: '192.0.2.1',
}

it('logs a carrier’s route as a warning, and another peer’s as information, without passwords', () => {
  const log = { info: vi.fn(), warn: vi.fn() }
  logDiversion(log, { ...diversion, carrier: 'acme' })
  const facts = {
    event: 'sip.route-not-followed',
    sipCallId: 'a??b',
    method: 'BYE',
    nextHop: '<sip:user@10.9.9.9;lr>',
    sentTo: '192.0.2.1',
  }
  const text = 'request inside a dialog sent back to its peer'
  expect(log.warn).toHaveBeenCalledExactlyOnceWith({ ...facts, carrier: 'acme' }, text)
  logDiversion(log, diversion)
  expect(log.info).toHaveBeenCalledExactlyOnceWith(facts, text)
})
