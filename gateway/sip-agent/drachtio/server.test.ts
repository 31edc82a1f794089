import { connect, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SystemClock } from '../../clock.ts'
import { type SipAgent, startSipAgent } from '../index.ts'
import { Apps } from './apps.ts'
import { FrameError, FrameReader, makeFrame, maxFrame, splitPayload, timeOfDay } from './frames.ts'
import { AppServer } from './server.ts'

describe('frames', () => {
  const read = (reader: FrameReader, text: string) => [...reader.push(Buffer.from(text))].map(String)

  it('may come several at once, in pieces, and with the length cut in two', () => {
    const reader = new FrameReader()
    expect(read(reader, '1#a2#bc1')).toEqual(['a', 'bc'])
    expect(read(reader, '0#012345678')).toEqual([])
    expect(read(reader, '93#xyz')).toEqual(['0123456789', 'xyz'])
  })
  it('count bytes, not characters', () => {
    expect(makeFrame('a|é', Buffer.from('ß')).toString()).toBe('8#a|é\r\nß')
  })
  it.each(['x#', '#', '0#', '99999999', `${maxFrame + 1}#`])('%s ends the stream', (text) => {
    expect(() => read(new FrameReader(), text)).toThrow(FrameError)
  })
  it('split into fields and message', () => {
    const { fields, message } = splitPayload(Buffer.from('id|sip||d\r\nINFO x SIP/2.0\r\n\r\n'))
    expect([fields, message.toString()]).toEqual([['id', 'sip', '', 'd'], 'INFO x SIP/2.0\r\n\r\n'])
  })
  it('carry the time of day in UTC', () => {
    expect(timeOfDay(Date.UTC(2026, 0, 2, 3, 4, 5, 67))).toBe('03:04:05.067000')
  })
})

describe('the application port', () => {
  let agent: SipAgent
  let socket: Socket
  let text = ''
  beforeEach(async () => {
    agent = await startSipAgent({ listen: [{ transport: 'udp', address: '127.0.0.1', port: 0 }] })
    socket = connect(agent.port, agent.host)
    text = ''
    socket.on('data', (chunk) => {
      text += chunk.toString()
    })
  })
  afterEach(async () => {
    socket.destroy()
    await agent.close()
  })
  const say = (...payloads: string[]) => {
    for (const payload of payloads) socket.write(makeFrame(payload))
  }
  const closed = () => new Promise<void>((resolve) => socket.once('close', () => resolve()))
  const heard = async (part: string) => {
    while (!text.includes(part)) await new Promise((resolve) => socket.once('data', resolve))
  }
  const signIn = () => say(`a|authenticate|${agent.secret}|tag1,tag2`)

  it('answers nothing before the secret', async () => {
    say('1|route|invite')
    await closed()
    expect(text).toContain('|response|1|NO|')
  })
  it('refuses a wrong secret and closes', async () => {
    say('1|authenticate|wrong|')
    await closed()
    expect(text).toContain('|response|1|NO|incorrect secret')
  })
  it('tells its addresses and version, and answers pings and routes', async () => {
    signIn()
    say('p|ping', 'r|route|invite', 'q|remove_route|invite')
    await heard('|response|q|OK')
    const address = `udp/127.0.0.1:${agent.addresses[0]?.port}`
    expect(text).toContain(`|response|a|OK|${address}|v0.9.10-embedded|${address}`)
    expect(text).toContain('|response|p|OK|pong')
  })
  it('refuses what it does not know in the words of the original', async () => {
    signIn()
    say('1|sip||nosuch\r\nINFO sip:x SIP/2.0\r\n\r\n', '2|sip|nosuch|\r\nCANCEL sip:x SIP/2.0\r\n\r\n')
    say('3|sip|nosuch|\r\nSIP/2.0 200 OK\r\n\r\n', '4|proxy|x', '5|sip||\r\nDANCE sip:x@h SIP/2.0\r\n\r\n')
    say('6|sip||\r\nINVITE sip:x@@ SIP/2.0\r\n\r\n', '7|sip||\r\nSIP/2.0 200 OK\r\n\r\n')
    await closed()
    for (const part of [
      '1|NOK|Server error: unable to find dialog for dialog id provided',
      '2|NOK|unable to cancel unknown transaction id: nosuch',
      '3|NOK|Response not sent due to unknown transaction',
      '4|NOK|proxy not supported',
      '5|NOK|invalid method: DANCE',
      '6|NOK|invalid request-uri: INVITE sip:x@@ SIP/2.0',
      '7|NO|transaction id missing',
    ]) {
      expect(text).toContain(`|response|${part}`)
    }
  })
})

it('a fault within the agent costs one frame, not the connection', async () => {
  const faults: unknown[] = []
  const server = new AppServer({
    secret: 's',
    apps: new Apps(),
    clock: new SystemClock(),
    requests: {
      sip: () => {
        throw new RangeError('within')
      },
      lost: () => {},
    },
    fault: (error) => faults.push(error),
    hostports: () => ({ announced: '', bound: '' }),
  })
  const socket = connect(await server.listen(), '127.0.0.1')
  const answered = new Promise<string>((resolve) => {
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk.toString()
      if (text.includes('|response|3|')) resolve(text)
    })
    socket.on('close', () => resolve(text))
  })
  for (const payload of ['1|authenticate|s|', '2|sip||\r\nOPTIONS sip:x SIP/2.0\r\n\r\n', '3|ping'])
    socket.write(makeFrame(payload))
  expect(await answered).toContain('|response|2|NOK|Server error: internal fault')
  expect(await answered).toContain('|response|3|OK|pong')
  expect(faults).toHaveLength(1)
  socket.destroy()
  await server.close()
})
