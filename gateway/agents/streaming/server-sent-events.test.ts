import fc from 'fast-check'
import { expect, test } from 'vitest'
import { EngineError } from './engine-error.ts'
import { ServerSentEvents } from './server-sent-events.ts'

const read = (pieces: readonly Uint8Array[], maxLength = 1000) => {
  const events = new ServerSentEvents(maxLength)
  return [...pieces.flatMap((piece) => events.push(piece)), ...events.end()]
}

const bytes = (text: string) => new TextEncoder().encode(text)
const message = (data: string) => ({ event: 'message', data })

test.each([
  ['data: a\n\ndata: b\n\n', [message('a'), message('b')]],
  ['data:a\r\n\r\ndata:  b\r\n\r\n', [message('a'), message(' b')]],
  ['data: a\rdata: b\r\r', [message('a\nb')]],
  [': keep-alive\n\n: again\n\ndata: a\n\n', [message('a')]],
  ['id: 1\nretry: 10\nevent: error\ndata: a\n\n', [{ event: 'error', data: 'a' }]],
  ['\ufeffdata: a\n\n', [message('a')]],
  ['data\n\n', [message('')]],
  ['event: nothing\n\n', []],
  ['data: a', [message('a')]],
  ['data: [DONE]\n', [message('[DONE]')]],
  ['', []],
])('%j gives %j', (text, events) => {
  expect(read([bytes(text)])).toEqual(events)
})

test('any division of a stream gives the same events', () => {
  const line = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 12 }),
    fc.constantFrom('data: {"a":1}', 'data:', ': ping', 'event: x', '', '', 'data: ü𝄞', '\ufeff'),
  )
  const stream = fc.array(fc.tuple(line, fc.constantFrom('\n', '\r', '\r\n')), { maxLength: 20 })
  fc.assert(
    fc.property(stream, fc.array(fc.nat(40), { maxLength: 40 }), (lines, cuts) => {
      const all = bytes(lines.map((each) => each.join('')).join(''))
      const pieces: Uint8Array[] = []
      let at = 0
      for (const cut of cuts) {
        pieces.push(all.subarray(at, at + cut))
        at += cut
      }
      pieces.push(all.subarray(at))
      expect(read(pieces)).toEqual(read([all]))
    }),
  )
})

test('an event that is too long is refused before it is complete', () => {
  const events = new ServerSentEvents(1000)
  const piece = bytes(`data: ${'x'.repeat(400)}`)
  events.push(piece)
  events.push(piece)
  expect(() => events.push(piece)).toThrow(EngineError)
})

test('comments without end exceed no limit', () => {
  const events = new ServerSentEvents(100)
  for (let i = 0; i < 1000; i++) events.push(bytes(': still here\n'))
  expect(events.push(bytes('data: a\n\n'))).toEqual([message('a')])
})
