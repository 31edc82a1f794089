import { describe, expect, it } from 'vitest'
import { formatOf, readCommand, StreamWriter } from './messages.ts'

const factsOf = (options: Parameters<typeof formatOf>[0]) => ({
  ...{ streamSid: 's', callSid: 'c', accountSid: 'p', tracks: ['inbound', 'outbound'] },
  parameters: { who: 'Ann' },
  format: formatOf(options),
})
const mulaw = factsOf({ url: '' })
const linear = factsOf({ url: '', codec: 'L16' })
const samples = Int16Array.from([0, 1000, -1000])

describe('messages of a stream', () => {
  it('are numbered, and chunks are by track', () => {
    const writer = new StreamWriter(mulaw)
    const lines = [
      writer.connected(),
      writer.start(),
      writer.media({ track: 'in', atMs: 0, samples }),
      writer.media({ track: 'out', atMs: 0, samples }),
      writer.media({ track: 'in', atMs: 20, samples }),
      writer.dtmf('#'),
      writer.mark('m'),
      writer.stop(),
    ].map((line) => JSON.parse(line))
    const payload = Buffer.from([0xff, 0xce, 0x4e]).toString('base64')
    const of = (event: string, number: number) => ({ event, sequenceNumber: String(number), streamSid: 's' })
    expect(lines).toEqual([
      { event: 'connected', protocol: 'Call', version: '0.2.0' },
      {
        ...of('start', 1),
        start: {
          ...{ streamSid: 's', accountSid: 'p', callSid: 'c', tracks: ['inbound', 'outbound'] },
          customParameters: { who: 'Ann' },
          mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 },
        },
      },
      { ...of('media', 2), media: { track: 'inbound', chunk: '1', timestamp: '0', payload } },
      { ...of('media', 3), media: { track: 'outbound', chunk: '1', timestamp: '0', payload } },
      { ...of('media', 4), media: { track: 'inbound', chunk: '2', timestamp: '20', payload } },
      { ...of('dtmf', 5), dtmf: { track: 'inbound_track', digit: '#' } },
      { ...of('mark', 6), mark: { name: 'm' } },
      { ...of('stop', 7), stop: { accountSid: 'p', callSid: 'c' } },
    ])
  })

  it('carry L16 little-endian, both ways', () => {
    const line = JSON.parse(new StreamWriter(linear).media({ track: 'in', atMs: 0, samples }))
    expect(Buffer.from(line.media.payload, 'base64').toString('hex')).toBe('0000e80318fc')
    expect(readCommand(JSON.stringify({ event: 'media', media: line.media }), linear)).toEqual({
      kind: 'media',
      samples,
    })
    expect(JSON.parse(new StreamWriter(linear).start()).start.mediaFormat).toEqual({
      ...{ encoding: 'audio/x-L16', sampleRate: 16_000, channels: 1 },
    })
  })

  it('are understood from the far side', () => {
    const read = (message: object) => readCommand(JSON.stringify(message), mulaw)
    const heard = read({ event: 'media', streamSid: 's', media: { payload: '/85O' } })
    expect(heard).toEqual({ kind: 'media', samples: Int16Array.from([0, 988, -988]) })
    expect(read({ event: 'mark', mark: { name: 'x'.repeat(300) } })).toEqual({
      kind: 'mark',
      name: 'x'.repeat(256),
    })
    expect(read({ event: 'clear', streamSid: 's' })).toEqual({ kind: 'clear' })
    expect(read({ event: 'dtmf', dtmf: { digit: '1w#' } })).toEqual({ kind: 'dtmf', digits: '1w#' })
    expect(read({ event: 'greeting' })).toEqual({ kind: 'other' })
  })

  it.each([
    ['', 'JSON object'],
    ['[]', 'JSON object'],
    ['{}', 'event: a text'],
    ['{"event":"clear","streamSid":"other"}', 'streamSid'],
    ['{"event":"media"}', 'media.payload: a text'],
    ['{"event":"media","media":{"payload":7}}', 'media.payload: a text'],
    ['{"event":"media","media":{"payload":"<>"}}', 'media.payload: base64'],
    ['{"event":"mark","mark":null}', 'mark.name'],
    ['{"event":"dtmf","dtmf":{"digit":"x"}}', 'dtmf.digit'],
  ])('are refused where they cannot be read: %s', (message, reason) => {
    expect(() => readCommand(message, mulaw)).toThrow(reason)
  })

  it('are refused with half a sample', () => {
    expect(() => readCommand('{"event":"media","media":{"payload":"AAAA"}}', linear)).toThrow('two octets')
  })
})
