import { describe, expect, it } from 'vitest'
import { formatOf } from './stream-format.ts'
import { readCommand, StreamWriter } from './stream-messages.ts'

const factsOf = (options: Parameters<typeof formatOf>[0]) => ({
  streamSid: 's',
  callSid: 'c',
  accountSid: 'p',
  tracks: ['inbound', 'outbound'],
  parameters: { who: 'Ann' },
  format: formatOf(options),
})
const mulaw = factsOf({ url: '' })
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
    ].map((line) => JSON.parse(line ?? ''))
    const payload = Buffer.from([0xff, 0xce, 0x4e]).toString('base64')
    const of = (event: string, number: number) => ({ event, sequenceNumber: String(number), streamSid: 's' })
    expect(lines).toEqual([
      { event: 'connected', protocol: 'Call', version: '0.2.0' },
      {
        ...of('start', 1),
        start: {
          streamSid: 's',
          accountSid: 'p',
          callSid: 'c',
          tracks: ['inbound', 'outbound'],
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

  it.each([
    [{}, 'audio/x-mulaw', 8000],
    [{ codec: 'PCMA' }, 'audio/x-alaw', 8000],
    [{ codec: 'G722' }, 'audio/G722', 16_000],
    [{ codec: 'L16' }, 'audio/x-L16', 16_000],
    [{ codec: 'L16', sampleRate: 24_000 }, 'audio/x-L16', 24_000],
  ] as const)('say how %j is written', (options, encoding, sampleRate) => {
    const { start } = JSON.parse(new StreamWriter(factsOf({ url: '', ...options })).start())
    expect(start.mediaFormat).toEqual({ encoding, sampleRate, channels: 1 })
  })

  it('hold as much of each track as they are to', () => {
    const writer = new StreamWriter(factsOf({ url: '', packetMs: 40 }))
    const frame = (track: 'in' | 'out', atMs: number) => ({ track, atMs, samples: new Int16Array(160) })
    const lines = [0, 20, 40, 60].flatMap((atMs) =>
      (['in', 'out'] as const).map((track) => writer.media(frame(track, atMs))),
    )
    expect(lines.map((line) => line && JSON.parse(line).media)).toMatchObject([
      undefined,
      undefined,
      { track: 'inbound', timestamp: '0' },
      { track: 'outbound', chunk: '1' },
      undefined,
      undefined,
      { chunk: '2', timestamp: '40' },
      { track: 'outbound', timestamp: '40' },
    ])
    expect(Buffer.from(JSON.parse(lines[2] ?? '').media.payload, 'base64').length).toBe(320)
  })

  it('are understood from the far side', () => {
    const read = (message: object) => readCommand(JSON.stringify(message), mulaw)
    const heard = read({ event: 'media', streamSid: 's', media: { payload: '/85O' } })
    expect(heard).toEqual({ kind: 'media', payload: '/85O' })
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
    ['{"event":"mark","mark":null}', 'mark.name'],
    ['{"event":"dtmf","dtmf":{"digit":"x"}}', 'dtmf.digit'],
  ])('are refused where they cannot be read: %s', (message, reason) => {
    expect(() => readCommand(message, mulaw)).toThrow(reason)
  })
})
