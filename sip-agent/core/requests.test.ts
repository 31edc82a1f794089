import { expect, it } from 'vitest'
import { message } from '../testing/messages.ts'
import { makeLocalResponse, makeRequest } from './requests.ts'

it('a response of the agent has its reason in one line of plain text, whatever a peer’s certificate contains', () => {
  const made = makeRequest({
    method: 'OPTIONS',
    uri: 'sip:b@h',
    branch: 'z9hG4bK1',
    routes: [],
    from: '<sip:a@h>;tag=f',
    to: '<sip:b@h>',
    callId: 'c',
    seq: 1,
    own: { protocol: 'tls', host: '192.0.2.1', port: 5061 },
    headers: [],
  })
  const warning = (problem: string) =>
    message(makeLocalResponse(made, 503, 'Service Unavailable', 't', problem).toString()).headers.first(
      'warning',
    )
  expect(warning('for "a\\b"\r\nX: y\u001b[2J\u0000')).toBe("399 localhost \"for 'a'b'''X: y'[2J'\"")
  expect(warning('x'.repeat(9_000))).toHaveLength(516)
})
