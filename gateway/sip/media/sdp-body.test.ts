import { expect, it } from 'vitest'
import { TrunklineError } from '../../core/errors/catalogue.ts'
import { sdpOf } from './sdp-body.ts'

const message = (body: string, type?: string, encoding?: string) => ({
  body,
  get: (name: string) => ({ 'content-type': type, 'content-encoding': encoding })[name.toLowerCase()],
})
const refusal = (run: () => unknown) => {
  try {
    run()
  } catch (error) {
    return error instanceof TrunklineError ? error.code : error
  }
  return undefined
}

it('the SDP is the body, or undefined without a body', () => {
  expect(sdpOf(message('v=0\r\n', 'Application/SDP; charset=utf-8'))).toBe('v=0\r\n')
  expect(sdpOf(message(''))).toBeUndefined()
})

it.each([
  ['\r\n', 'multipart/mixed; boundary=abc'],
  ['\n', 'multipart/mixed;boundary="abc"'],
  ['\r\n', 'Multipart/Related; type=x; BOUNDARY=abc'],
])('the SDP is one part of several (line ends %j, %s)', (end, type) => {
  const body = [
    'preamble',
    '--abc',
    'Content-Type: application/isup',
    '',
    'v=1',
    '--abc',
    'Content-ID: <1>',
    'content-type: application/sdp',
    '',
    'v=0',
    's=-',
    '--abc--',
    'epilogue',
  ].join(end)
  expect(sdpOf(message(body, type))).toBe(`v=0${end}s=-\r\n`)
})

it.each([
  ['text/plain', undefined],
  [undefined, undefined],
  ['multipart/mixed', undefined],
  ['multipart/mixed; boundary=other', undefined],
  ['application/sdp', 'gzip'],
])('the SDP is rejected as %s, encoded %s', (type, encoding) => {
  const body = '--abc\r\nContent-Type: application/isup\r\n\r\nx\r\n--abc--\r\n'
  expect(refusal(() => sdpOf(message(body, type, encoding)))).toBe('unsupported_body')
})

it('text after the last boundary is ignored', () => {
  const body = '--abc--\r\n--abc\r\nContent-Type: application/sdp\r\n\r\nv=0\r\n--abc--\r\n'
  expect(refusal(() => sdpOf(message(body, 'multipart/mixed; boundary=abc')))).toBe('unsupported_body')
})
