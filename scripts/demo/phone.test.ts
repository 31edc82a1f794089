import { createSocket, Socket } from 'node:dgram'
import dns from 'node:dns'
import { once } from 'node:events'
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { headerOf } from '../../test/support/sip-text.ts'
import { DemoPhone, localAddress, type PhoneEvent } from './phone.ts'
import { reasonText, refusalText } from './words.ts'

let gateway: Socket
let port: number
let received: string[]
let events: PhoneEvent[]

beforeEach(async () => {
  received = []
  events = []
  gateway = createSocket('udp4').bind(0, '127.0.0.1')
  await once(gateway, 'listening')
  port = gateway.address().port
})
afterEach(() => gateway.close())

const call = (more: { readonly maxRingMs?: number } = {}): Promise<DemoPhone> =>
  DemoPhone.call({ uri: 'sip:x@demo.test', host: '127.0.0.1', port, mediaPort: 4000, ...more }, (event) =>
    events.push(event),
  )

it('has the address of the interface that reaches the gateway', async () => {
  expect(await localAddress('127.0.0.1', port)).toBe('127.0.0.1')
})

it('closes its socket if the host is unknown', async () => {
  const lookup = vi
    .spyOn(dns, 'lookup')
    .mockImplementation(((host: string, _family: number, done: (error: Error) => void) =>
      process.nextTick(done, new Error(`${host} not found`))) as never)
  const close = vi.spyOn(Socket.prototype, 'close')
  onTestFinished(() => {
    lookup.mockRestore()
    close.mockRestore()
  })
  await expect(localAddress('host.invalid', port)).rejects.toThrow('host.invalid not found')
  expect(close).toHaveBeenCalledTimes(1)
})

/** Answers each INVITE with these responses. */
const answering = (
  ...responses: readonly (readonly [status: string, more?: string, body?: string])[]
): void => {
  gateway.on('message', (bytes, { port: to }) => {
    const request = bytes.toString()
    received.push(request.slice(0, request.indexOf(' ')))
    if (!request.startsWith('INVITE')) return
    const copied = ['Via', 'From', 'Call-ID', 'CSeq'].map((name) => `${name}: ${headerOf(request, name)}`)
    for (const [status, more = 'X: y', body = ''] of responses) {
      const head = [`SIP/2.0 ${status}`, ...copied, `To: ${headerOf(request, 'To')};tag=g`, more]
      gateway.send(
        `${[...head, `Content-Length: ${body.length}`].join('\r\n')}\r\n\r\n${body}`,
        to,
        '127.0.0.1',
      )
    }
    if (!responses.some(([status]) => status.startsWith('200'))) return
    const bye = [
      'BYE sip:demo SIP/2.0',
      ...copied.slice(0, 3),
      'To: x',
      'CSeq: 1 BYE',
      'Reason: Q.850;cause=17',
    ]
    gateway.send(`${bye.join('\r\n')}\r\n\r\n`, to, '127.0.0.1')
  })
}

const ended = () => events.find((event) => event.kind === 'ended')

it('ends in three seconds if nothing answers', async () => {
  gateway.on('message', (bytes) => received.push(bytes.toString()))
  await call()
  await expect.poll(ended, { timeout: 4_000 }).toMatchObject({ by: 'silence' })
  expect(received.length).toBe(3)
  expect(new Set(received).size).toBe(1)
})

it('ends at once if the port is closed', async () => {
  const free = createSocket('udp4').bind(0, '127.0.0.1')
  await once(free, 'listening')
  port = free.address().port
  await new Promise<void>((resolve) => free.close(() => resolve()))
  await call()
  await expect.poll(ended, { timeout: 1_000 }).toMatchObject({ by: 'silence' })
})

it('cancels a call without an answer, such as that of a gateway that has ended', async () => {
  answering(['100 Trying'], ['180 Ringing'])
  await call({ maxRingMs: 2_000 })
  await expect.poll(ended).toMatchObject({ by: 'no-answer' })
  await expect.poll(() => received).toEqual(['INVITE', 'CANCEL'])
})

it('says why a call was refused, and acknowledges the refusal', async () => {
  answering(['100 Trying'], ['404 Not Found', 'Reason: Q.850;cause=1;text="UNALLOCATED_NUMBER"'])
  await call()
  await expect.poll(ended).toMatchObject({ by: 'refusal' })
  await expect.poll(() => received).toEqual(['INVITE', 'ACK'])
  const event = ended()
  expect(event?.kind === 'ended' && refusalText(event.message)).toBe(
    'Refused with 404 Not Found. No domain, address or number of the gateway matches. ' +
      'Reason: the address or number is unknown; UNALLOCATED_NUMBER.',
  )
})

it('rings, is answered, learns the address of the audio, and is hung up', async () => {
  const sdp = 'v=0\r\nc=IN IP4 192.0.2.9\r\nm=audio 30000 RTP/AVP 0\r\n'
  answering(['180 Ringing'], ['200 OK', 'Contact: <sip:gw@127.0.0.1>', sdp])
  await call()
  await expect.poll(ended).toMatchObject({ by: 'far' })
  expect(events.map(({ kind }) => kind)).toEqual(['ringing', 'answered', 'media', 'ended'])
  expect(events[2]).toEqual({ kind: 'media', host: '192.0.2.9', port: 30_000 })
  await expect.poll(() => received).toEqual(['INVITE', 'ACK', 'SIP/2.0'])
})

it.each([
  ['Reason: Q.850;cause=17', 'Reason: busy.'],
  ['Reason: SIP;cause=486;text="Busy Here"', 'Reason: Busy Here.'],
  ['Reason: other', 'Reason: other.'],
  ['Subject: none', undefined],
])('reads %s', (line, words) => expect(reasonText(`BYE sip:x SIP/2.0\r\n${line}\r\n\r\n`)).toBe(words))
