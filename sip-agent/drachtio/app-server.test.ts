import { connect, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FakeClock } from '../clock.ts'
import { type SipAgent, startSipAgent } from '../index.ts'
import type { App } from './app.ts'
import { AppServer } from './app-server.ts'
import { type AppRequests, AppSessions } from './app-sessions.ts'
import { Apps } from './apps.ts'
import { FrameError, FrameReader, makeFrame, maxFrameBytes, splitPayload, timeOfDay } from './frames.ts'

describe('frames', () => {
  const read = (reader: FrameReader, text: string) => [...reader.push(Buffer.from(text))].map(String)

  it('can arrive several at once, in pieces, and with a split length', () => {
    const reader = new FrameReader()
    expect(read(reader, '1#a2#bc1')).toEqual(['a', 'bc'])
    expect(read(reader, '0#012345678')).toEqual([])
    expect(read(reader, '93#xyz')).toEqual(['0123456789', 'xyz'])
  })
  it('count bytes, not characters', () => {
    expect(makeFrame('a|é', Buffer.from('ß')).toString()).toBe('8#a|é\r\nß')
  })
  it.each(['x#', '#', '0#', '99999999', `${maxFrameBytes + 1}#`])('%s ends the stream', (text) => {
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

  it('answers nothing before the authentication', async () => {
    say('1|route|invite')
    await closed()
    expect(text).toContain('|response|1|NO|')
  })
  it('rejects a wrong secret and closes', async () => {
    say('1|authenticate|wrong|')
    await closed()
    expect(text).toContain('|response|1|NO|incorrect secret')
  })
  it('reports its addresses and version, and answers pings and routes', async () => {
    signIn()
    say('p|ping', 'r|route|invite', 'q|remove_route|invite')
    await heard('|response|q|OK')
    const address = `udp/127.0.0.1:${agent.addresses[0]?.port}`
    expect(text).toContain(`|response|a|OK|${address}|v0.9.10-embedded|${address}`)
    expect(text).toContain('|response|p|OK|pong')
  })
  it('rejects unknown frames with the texts of drachtio-server', async () => {
    signIn()
    say('1|sip||nosuch\r\nINFO sip:x SIP/2.0\r\n\r\n', '2|sip|nosuch|\r\nCANCEL sip:x SIP/2.0\r\n\r\n')
    say(
      '3|sip|nosuch|\r\nSIP/2.0 200 OK\r\n\r\n',
      '4|proxy|x\r\nINVITE sip:x SIP/2.0\r\n\r\n',
      '5|sip||\r\nDANCE sip:x@h SIP/2.0\r\n\r\n',
    )
    say('6|sip||\r\nINVITE sip:x@@ SIP/2.0\r\n\r\n', '7|sip||\r\nSIP/2.0 200 OK\r\n\r\n')
    await closed()
    for (const part of [
      '1|NOK|Server error: unable to find dialog for dialog id provided',
      '2|NOK|unable to cancel unknown transaction id: nosuch',
      '3|NOK|Response not sent due to unknown transaction',
      '4|NOK|Unknown transaction id: x',
      '5|NOK|invalid method: DANCE',
      '6|NOK|invalid request-uri: INVITE sip:x@@ SIP/2.0',
      '7|NO|transaction id missing',
    ]) {
      expect(text).toContain(`|response|${part}`)
    }
  })
})

describe('a connection', () => {
  const clock = new FakeClock()
  let faults: unknown[]
  let lost: App[]
  let apps: Apps
  let server: AppServer
  let port: number
  let serve: AppRequests['sip']
  beforeEach(async () => {
    faults = []
    const gone: App[] = []
    lost = gone
    serve = () => {}
    apps = new Apps()
    const sessions = new AppSessions({
      apps,
      clock,
      requests: { sip: (...args) => serve(...args), proxy: () => {}, lost: (app) => gone.push(app) },
      fault: (error) => faults.push(error),
      hostports: () => ({ announced: '', bound: '' }),
      maxBacklog: 1 << 20,
    })
    server = new AppServer(sessions, 's')
    port = await server.listen()
  })
  afterEach(() => server.close())

  /** Connects, sends a text and collects the response. */
  const connected = (...payloads: string[]) => {
    const socket = connect(port, '127.0.0.1')
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk.toString()
    })
    for (const payload of payloads) socket.write(makeFrame(payload))
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
    const heard = async (part: string) => {
      while (!text.includes(part)) await new Promise((resolve) => socket.once('data', resolve))
      return text
    }
    return { socket, closed, heard }
  }
  const sip = 'sip||\r\nOPTIONS sip:x SIP/2.0\r\n\r\n'

  it('survives an internal fault over one frame', async () => {
    serve = () => {
      throw new RangeError('within')
    }
    const { heard, socket } = connected('1|authenticate|s|', `2|${sip}`, '3|ping')
    expect(await heard('|response|3|OK|pong')).toContain('|response|2|NOK|Server error: internal fault')
    expect(faults).toHaveLength(1)
    socket.destroy()
  })
  it('that does not authenticate is closed after 2 s, one that does stays', async () => {
    const silent = connected()
    const known = connected('1|authenticate|s|')
    await known.heard('|response|1|OK|')
    clock.advance(2_000)
    await silent.closed
    expect(lost).toEqual([])
    known.socket.write(makeFrame('2|ping'))
    await known.heard('|response|2|OK|pong')
    known.socket.destroy()
  })
  it('with a frame that is too large is closed', async () => {
    const { socket, closed } = connected('1|authenticate|s|')
    socket.write(`${maxFrameBytes + 1}#`)
    await closed
    expect(lost).toHaveLength(1)
  })
  it('of an application that does not read is closed at a limit', async () => {
    let wanted: App | undefined
    serve = (app, msgId) => {
      wanted = app
      app.ok(msgId)
    }
    const { socket, heard } = connected('1|authenticate|s|', '1|route|invite', `2|${sip}`)
    await heard('|response|2|OK')
    expect(apps.forRequest('invite')).toBe(wanted)
    socket.pause()
    const message = Buffer.alloc(1 << 16)
    const from = { protocol: 'udp', address: '192.0.2.9', port: 5060 }
    let sent = 0
    let refused = false
    while (wanted?.isOpen && sent < 1_000) {
      wanted.deliver({ source: 'network', size: 0, from, txnId: 't', dialogId: '', message })
      sent++
      refused ||= wanted.isOpen && !apps.forRequest('invite') && apps.choose('invite') === wanted
      // The system's own buffers fill first.
      await new Promise((resolve) => setImmediate(resolve))
    }
    // Before that it is given no new requests.
    expect([wanted?.isOpen, sent < 1_000, refused]).toEqual([false, true, true])
    while (lost.length === 0) await new Promise((resolve) => setImmediate(resolve))
    expect([lost, apps.size]).toEqual([[wanted], 0])
    socket.destroy()
  })
  it('rotates the applications of a method, each registered once, and can remove one method', async () => {
    const first = connected('1|authenticate|s|')
    const second = connected('1|authenticate|s|')
    for (const { socket, heard } of [first, second]) {
      for (const payload of ['2|route|invite', '3|route|invite', '4|route|bye'])
        socket.write(makeFrame(payload))
      await heard('|response|4|OK')
    }
    const turns = [1, 2, 3, 4].map(() => apps.forRequest('invite'))
    expect(new Set(turns).size).toBe(2)
    expect([turns[0], turns[1]]).toEqual([turns[2], turns[3]])
    first.socket.write(makeFrame('5|remove_route|invite'))
    await first.heard('|response|5|OK')
    expect(new Set([1, 2].map(() => apps.forRequest('invite'))).size).toBe(1)
    expect(new Set([1, 2].map(() => apps.forRequest('bye'))).size).toBe(2)
    expect(apps.forRequest('options')).toBeUndefined()
    first.socket.destroy()
    second.socket.destroy()
  })
})
